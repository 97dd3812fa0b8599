/**
 * What repoint remembers between commands so that the user types less: the address that they typed last, and
 * the model IDs of the last catalog. Both are texts in the state folder that no command depends on, so a
 * failure to write or read one is ignored.
 */
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { ifPossible } from '../errors.ts'
import { normaliseAddress } from '../gateway/input/address.ts'
import type { Catalog, Gateway, ModelAndProtocol } from '../gateway/types.ts'
import type { Platform } from '../platform/platform.ts'
import { looksLikeKey } from '../text.ts'
import { createDurably } from '../transaction/files.ts'
import { openState, stateFolder } from '../transaction/records/state-folder.ts'

type FilesAndMachine = Pick<Platform, 'files' | 'machine'>

interface RememberedText {
  readonly fileName: string
  /** The longest text that is written or read, in bytes. */
  readonly maxBytes: number
}

/** Never a key. */
const lastAddress: RememberedText = { fileName: 'address.txt', maxBytes: 2_000 }

/** One ID per line. */
const models: RememberedText = { fileName: 'models.txt', maxBytes: 256 * 1024 }

/** One line for each client that a gateway has served: what served it, as a hash with the protocol, and when. */
const served: RememberedText = { fileName: 'served.txt', maxBytes: 16 * 1024 }

/** How long an answer of a gateway counts, in ms. */
const servedForMs = 24 * 60 * 60_000

/** What a gateway has served: `repoint run` asks again if any of it is different. */
export interface ServedClient extends ModelAndProtocol {
  readonly clientId: string
  readonly version: string | undefined
  readonly gateway: Pick<Gateway, 'address' | 'key' | 'keyHeader' | 'baseUrls'>
}

export function rememberServed(platform: Platform, client: ServedClient): void {
  const id = servedId(client)
  const others = servedLines(platform).filter((line) => !line.startsWith(id))
  const line = `${id} ${platform.clock.now().toISOString()}`
  write(platform, served, `${[line, ...others].slice(0, 100).join('\n')}\n`)
}

/** Whether a gateway has served the client within a day. */
export function wasServed(platform: Platform, client: ServedClient): boolean {
  const line = servedLines(platform).find((each) => each.startsWith(servedId(client)))
  const age = platform.clock.now().getTime() - Date.parse(line?.split(' ')[1] ?? '')
  return age >= 0 && age < servedForMs
}

export function forgetServed(world: FilesAndMachine): void {
  remove(world, served)
}

function servedLines(world: FilesAndMachine): readonly string[] {
  return read(world, served).split('\n').filter(Boolean)
}

function servedId({ clientId, version, gateway, model, protocol }: ServedClient): string {
  const { address, key, keyHeader, baseUrls } = gateway
  const parts = [clientId, version, address, key, keyHeader, baseUrls, model, protocol]
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 40)
}

/** Remembers a typed address until a setup succeeds, so that the next start offers it. */
export function rememberAddress(platform: Platform, address: string): void {
  const hasKey = new URL(address).pathname.split('/').some(looksLikeKey)
  if (!hasKey) write(platform, lastAddress, `${address}\n`)
}

/** The address of the last start, unless its setup succeeded. */
export function rememberedAddress(world: FilesAndMachine): string | undefined {
  const text = read(world, lastAddress).trim()
  // The user may have edited the file.
  return ifPossible(() => normaliseAddress(text, { allowHttp: true }))?.address
}

export function forgetAddress(world: FilesAndMachine): void {
  remove(world, lastAddress)
}

/** Remembers the IDs of a catalog, with which the shell completes `--model`. */
export function rememberModels(platform: Platform, catalog: Catalog): void {
  const ids = catalog.models.map(({ id }) => id).filter((id) => /^[\w./:@+-]+$/.test(id))
  write(platform, models, `${ids.join('\n')}\n`)
}

/** The IDs of the last catalog that a command read, or [] if there is none. */
export function rememberedModels(world: FilesAndMachine): string[] {
  return read(world, models).split('\n').filter(Boolean)
}

export function forgetModels(world: FilesAndMachine): void {
  remove(world, models)
}

function write(platform: Platform, { fileName, maxBytes }: RememberedText, text: string): void {
  const { files, machine, processes } = platform
  const bytes = new TextEncoder().encode(text)
  if (bytes.length > maxBytes) return

  ifPossible(() => {
    openState(platform)
    const path = join(stateFolder(machine), fileName)
    const temporary = `${path}.${processes.pid}`
    createDurably(files, temporary, bytes, { mode: 0o600 })
    files.rename(temporary, path)
  })
}

function read({ files, machine }: FilesAndMachine, { fileName, maxBytes }: RememberedText): string {
  const bytes = ifPossible(() => files.read(join(stateFolder(machine), fileName), maxBytes))
  return new TextDecoder().decode(bytes)
}

function remove({ files, machine }: FilesAndMachine, { fileName }: RememberedText): void {
  ifPossible(() => files.unlink(join(stateFolder(machine), fileName)))
}
