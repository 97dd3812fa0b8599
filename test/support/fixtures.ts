import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** `CLIENT/CASE/{before,after}` hold a home's files; `setup.json` what is chosen, where it is not all default. */
export const clientFixtures = fileURLToPath(new URL('../fixtures/clients', import.meta.url))

/** The texts of the files below a folder, by their paths in it; none where there is no such folder. */
export function readHome(folder: string): Readonly<Record<string, string>> {
  if (!existsSync(folder)) return {}
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  return Object.fromEntries(
    entries
      .filter((entry) => entry.isFile())
      .map((entry) => {
        const path = join(entry.parentPath, entry.name)
        return [path.slice(folder.length + 1), readFileSync(path, 'utf8')]
      }),
  )
}

/** A home of a family that was in use: with comments if the client accepts them, and with other tools' keys. */
export function livedInHome(family: string): Readonly<Record<string, string>> {
  return readHome(join(clientFixtures, family, 'lived-in/before'))
}
