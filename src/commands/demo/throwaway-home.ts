import { dirname, join } from 'node:path'
import type { Client } from '../../clients/client.ts'
import type { Platform } from '../../platform/platform.ts'
import { createDurably, makeFolders, missingFolders, randomName } from '../../transaction/files.ts'

/** Makes a home of mode 0700 in the temporary folder, with the configurations that clients give it. */
export function makeThrowawayHome(
  { files, machine }: Pick<Platform, 'files' | 'machine'>,
  clients: readonly Client[],
): string {
  const parent =
    machine.env['TMPDIR'] ?? machine.env['TEMP'] ?? (machine.os === 'win32' ? machine.home : '/tmp')
  const home = join(parent, `repoint-demo-${randomName()}`)
  files.mkdir(home, 0o700)
  const given = clients.flatMap(({ demoFiles = {} }) => Object.entries(demoFiles))
  for (const [name, text] of given) {
    const path = join(home, name)
    makeFolders(files, missingFolders(files, dirname(path)))
    createDurably(files, path, new TextEncoder().encode(text), { mode: 0o644 })
  }
  return home
}
