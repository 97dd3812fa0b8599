import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach } from 'vitest'

const homes: string[] = []

afterEach(() => {
  for (const home of homes.splice(0)) rmSync(home, { recursive: true, force: true })
})

/** A temporary home with these files. Their names are relative to it. */
export function aClientHome(files: Readonly<Record<string, string>>): string {
  const home = mkdtempSync(join(tmpdir(), 'repoint-client-'))
  homes.push(home)
  for (const [name, text] of Object.entries(files)) {
    const path = join(home, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text, { mode: 0o600 })
  }
  return home
}
