import { join } from 'node:path'
import { ifPossible } from '../errors.ts'
import { normaliseAddress } from '../gateway/input/address.ts'
import type { Platform } from '../platform/platform.ts'
import { looksLikeKey } from '../text.ts'
import { createDurably, ignoreFileErrors, ignoreMissing } from '../transaction/files.ts'
import { openState, stateFolder } from '../transaction/records/state-folder.ts'

/** The address that the user typed last, until a setup succeeds. Never a key. */
const fileName = 'address.txt'

/** The longest address that is written or read, in bytes. */
const maxBytes = 2_000

/** Saves a typed address, so that the next start offers it. Best effort. */
export function saveLastAddress(platform: Platform, address: string): void {
  const { files, machine, processes } = platform
  const bytes = new TextEncoder().encode(`${address}\n`)
  const hasKey = new URL(address).pathname.split('/').some(looksLikeKey)
  if (bytes.length > maxBytes || hasKey) return

  ifPossible(() => {
    openState(platform)
    const path = join(stateFolder(machine), fileName)
    const temporary = `${path}.${processes.pid}`
    createDurably(files, temporary, bytes, { mode: 0o600 })
    files.rename(temporary, path)
  })
}

/** The address of the last start, unless its setup succeeded. */
export function readLastAddress({
  files,
  machine,
}: Pick<Platform, 'files' | 'machine'>): string | undefined {
  const bytes = ifPossible(() => files.read(join(stateFolder(machine), fileName), maxBytes))
  const text = new TextDecoder().decode(bytes).trim()
  // The user may have edited the file.
  return ifPossible(() => normaliseAddress(text, { allowHttp: true }))?.address
}

export function removeLastAddress({ files, machine }: Pick<Platform, 'files' | 'machine'>): void {
  ignoreFileErrors(() => ignoreMissing(() => files.unlink(join(stateFolder(machine), fileName))))
}
