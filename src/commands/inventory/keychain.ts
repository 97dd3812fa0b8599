import { UserError } from '../../errors.ts'
import type { Machine, RunResult } from '../../platform/platform.ts'
import { printable } from '../../text.ts'
import type { SavedGateway } from '../../transaction/gateways.ts'
import type { Session } from '../screen/session.ts'

/** What a key lies under: with the address, so that it never goes to another one. */
export type KeychainEntry = Pick<SavedGateway, 'name' | 'baseUrl'>

/** One run of the program. */
interface Call {
  readonly args: readonly string[]
  readonly input?: string
}

/** The program of a system that keeps secrets. Arguments are seen by every user of the machine: no key is among them. */
export interface Keychain {
  readonly program: string
  readonly missingHint: string
  /** Prints the key alone. */
  readonly lookUp: (entry: KeychainEntry) => Call
  readonly store: (entry: KeychainEntry, key: string) => Call
  readonly remove: (entry: KeychainEntry) => Call
  /** Asks for no password: tells an entry that is locked from one that is not there. */
  readonly find: (entry: KeychainEntry) => Call
  readonly isAbsent: (found: RunResult) => boolean
}

function secretTool(): Keychain {
  const under = ({ name, baseUrl }: KeychainEntry) =>
    ['service', 'repoint', 'gateway', name, 'address', baseUrl] as const
  return {
    program: 'secret-tool',
    missingHint: 'Install it (Debian, Ubuntu: libsecret-tools; Fedora: libsecret).',
    lookUp: (entry) => ({ args: ['lookup', ...under(entry)] }),
    store: (entry, key) => ({
      args: ['store', `--label=repoint: ${entry.name}`, ...under(entry)],
      input: key,
    }),
    remove: (entry) => ({ args: ['clear', ...under(entry)] }),
    find: (entry) => ({ args: ['search', ...under(entry)] }),
    // libsecret-tools 0.20.5: status 0 and not a word. Without a bus it is status 1.
    isAbsent: ({ exitStatus, stdout }) => exitStatus === 0 && stdout === '',
  }
}

/** Longest line that `security -i` reads, in characters (zalando/go-keyring, keyring_darwin.go). */
const maxSecurityLine = 4096

function security(): Keychain {
  const service = ({ baseUrl }: KeychainEntry) => `repoint ${baseUrl}`
  const under = (entry: KeychainEntry) => ['-a', entry.name, '-s', service(entry)] as const
  return {
    program: 'security',
    missingHint: 'It is a part of macOS, in /usr/bin.',
    lookUp: (entry) => ({ args: ['find-generic-password', ...under(entry), '-w'] }),
    store(entry, key) {
      const hex = Buffer.from(key).toString('hex')
      const line = `add-generic-password -U -a "${entry.name}" -s "${service(entry)}" -X ${hex}\n`
      if (line.length > maxSecurityLine) throw failed('The key is too long for `security -i`')
      return { args: ['-i'], input: line }
    },
    remove: (entry) => ({ args: ['delete-generic-password', ...under(entry)] }),
    find: (entry) => ({ args: ['find-generic-password', ...under(entry)] }),
    // The last byte of errSecItemNotFound, -25300.
    isAbsent: ({ exitStatus }) => exitStatus === 44,
  }
}

/** Undefined: no program of such a system is known. */
export function keychainOf(os: Machine['os']): Keychain | undefined {
  return os === 'linux' ? secretTool() : os === 'darwin' ? security() : undefined
}

/**
 * Whether there is a program that keeps keys. Whether it can is seen once it is asked.
 *
 * @throws UserError `keychain-failed`
 */
export function expectKeychain(session: Session): void {
  programOf(session)
}

/**
 * @param timeoutMs a person may have to unlock it within this time
 * @throws UserError `keychain-failed`, or `key-missing` where it has none
 */
export async function keyInKeychain(
  session: Session,
  entry: KeychainEntry,
  timeoutMs: number,
): Promise<string> {
  const key = await lookUp(session, entry, timeoutMs)
  if (key !== undefined) return key
  const { name, baseUrl } = entry
  throw new UserError({
    code: 'key-missing',
    message: `The keychain no longer has the key of the gateway ${name}`,
    hint: `Give it anew: repoint key --base-url ${baseUrl}, or set a client up there again.`,
  })
}

/**
 * Puts a key there, in the place of an earlier one, and reads it back. Returns the earlier one.
 *
 * @throws UserError `keychain-failed`
 */
export async function storeInKeychain(
  session: Session,
  entry: KeychainEntry,
  key: string,
  timeoutMs: number,
): Promise<string | undefined> {
  const earlier = await lookUp(session, entry, timeoutMs)
  if (earlier === key) return earlier
  const { keychain } = programOf(session)
  const stored = await call(session, keychain.store(entry, key), timeoutMs)
  if (stored.exitStatus !== 0) throw failure(keychain, stored)
  // In its interactive form `security` ends with status 0 whatever has come of a line.
  if ((await lookUp(session, entry, timeoutMs)) !== key)
    throw failed(`${keychain.program} does not give back the key that it was given`)
  return earlier
}

/**
 * Takes the key out, where there is one.
 *
 * @throws UserError `keychain-failed`
 */
export async function removeFromKeychain(
  session: Session,
  entry: KeychainEntry,
  timeoutMs: number,
): Promise<void> {
  const { keychain } = programOf(session)
  const removed = await call(session, keychain.remove(entry), timeoutMs)
  if (removed.exitStatus === 0) return
  if (!(await isAbsent(session, entry, timeoutMs))) throw failure(keychain, removed)
}

/** Undefined: it has none. */
async function lookUp(
  session: Session,
  entry: KeychainEntry,
  timeoutMs: number,
): Promise<string | undefined> {
  const { keychain } = programOf(session)
  const found = await call(session, keychain.lookUp(entry), timeoutMs)
  const key = found.stdout.replace(/\r?\n$/, '')
  if (found.exitStatus === 0 && key !== '') {
    session.hide(key)
    return key
  }
  if (await isAbsent(session, entry, timeoutMs)) return undefined
  throw failure(keychain, found)
}

/** @throws UserError `keychain-failed` where it cannot be told */
async function isAbsent(
  session: Session,
  entry: KeychainEntry,
  timeoutMs: number,
): Promise<boolean> {
  const { keychain } = programOf(session)
  const found = await call(session, keychain.find(entry), timeoutMs)
  if (keychain.isAbsent(found)) return true
  if (found.exitStatus !== 0) throw failure(keychain, found)
  return false
}

function programOf({ platform }: Session): { keychain: Keychain; path: string } {
  const keychain = keychainOf(platform.machine.os)
  if (keychain === undefined)
    throw failed(
      'repoint knows no program of the keychain of Windows',
      'Without --keychain the key is kept in a file that others cannot read.',
    )
  const path = platform.processes.which(keychain.program)
  if (path !== undefined) return { keychain, path }
  throw failed(
    `The program of the keychain, ${keychain.program}, is not in PATH`,
    keychain.missingHint,
  )
}

async function call(
  session: Session,
  { args, input }: Call,
  timeoutMs: number,
): Promise<RunResult> {
  const { keychain, path } = programOf(session)
  const { processes } = session.platform
  const asked = processes.run(path, args, { timeoutMs, ...(input === undefined ? {} : { input }) })
  const result = await session.step(`Asking the keychain (${keychain.program})`, asked)
  if (result.reason === 'timed-out')
    throw failed(`The keychain has not answered within ${timeoutMs / 1000} s`)
  return result
}

/** What the program says last, or that the keychain is locked: then it may say nothing. */
function failure({ program }: Keychain, { stderr, reason }: RunResult): UserError {
  const said = printable(stderr.trim().split('\n').at(-1) ?? '').replace(/\.$/, '')
  const isLocked = (said === '' && reason === 'exited') || /\blocked\b/i.test(said)
  if (isLocked) return failed('The keychain is locked')
  return failed(`The keychain cannot be used: ${said || `${program} was ended`}`)
}

function failed(
  message: string,
  hint = 'It needs a login session with an unlocked keychain: unlock it, and run this again.',
): UserError {
  return new UserError({ code: 'keychain-failed', message, hint })
}
