import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** `CLIENT/CASE/{before,after}` have the files of a home. `setup.json` has the options that are not the defaults. */
export const clientFixtures = fileURLToPath(new URL('../fixtures/clients', import.meta.url))

/** The texts of the files below a folder, by their relative paths. Empty if the folder does not exist. */
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

/** Whether a client's first requests are recorded. Until then, a probe sends a minimal one without tools. */
export function isRecorded(family: string): boolean {
  const file = new URL(`../../src/clients/${family}/first-requests.json`, import.meta.url)
  return JSON.parse(readFileSync(file, 'utf8')).requests.length > 0
}

/** A used home of a family: with comments if the client accepts them, and with other tools' keys. */
export function livedInHome(family: string): Readonly<Record<string, string>> {
  return readHome(join(clientFixtures, family, 'lived-in/before'))
}
