import { compact } from '../../compact.ts'
import { UserError } from '../../errors.ts'
import type { Machine, RunResult } from '../../platform/platform.ts'
import { printable } from '../../text.ts'
import type { SavedGateway } from '../../transaction/gateways.ts'
import type { Session } from '../screen/session.ts'

/** What a key lies under: with the address, so that it never goes to another one. */
type KeychainEntry = Pick<SavedGateway, 'name' | 'baseUrl'>

/** One run of the program. */
interface Call {
  readonly args: readonly string[]
  readonly input?: string
}

/** The program of a system that keeps secrets. Arguments are seen by every user of the machine: no key is among them. */
interface Keychain {
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

const secretTool: Keychain = {
  program: 'secret-tool',
  missingHint: 'Install it (Debian, Ubuntu: libsecret-tools; Fedora: libsecret).',
  lookUp: (entry) => ({ args: ['lookup', ...attributesOf(entry)] }),
  store: (entry, key) => ({
    args: ['store', `--label=repoint: ${entry.name}`, ...attributesOf(entry)],
    input: key,
  }),
  remove: (entry) => ({ args: ['clear', ...attributesOf(entry)] }),
  find: (entry) => ({ args: ['search', ...attributesOf(entry)] }),
  // libsecret-tools 0.20.5: status 0 and not a word. Without a bus it is status 1.
  isAbsent: ({ exitStatus, stdout }) => exitStatus === 0 && stdout === '',
}

function attributesOf({ name, baseUrl }: KeychainEntry): readonly string[] {
  return ['service', 'repoint', 'gateway', name, 'address', baseUrl]
}

/** Longest line that `security -i` reads, in characters (zalando/go-keyring, keyring_darwin.go). */
const maxSecurityLine = 4096

const security: Keychain = {
  program: 'security',
  missingHint: 'It is a part of macOS, in /usr/bin.',
  lookUp: (entry) => ({ args: ['find-generic-password', ...accountOf(entry), '-w'] }),
  store(entry, key) {
    const hex = Buffer.from(key).toString('hex')
    const line = `add-generic-password -U -a "${entry.name}" -s "${serviceOf(entry)}" -X ${hex}\n`
    if (line.length > maxSecurityLine) throw failed('The key is too long for `security -i`')
    return { args: ['-i'], input: line }
  },
  remove: (entry) => ({ args: ['delete-generic-password', ...accountOf(entry)] }),
  find: (entry) => ({ args: ['find-generic-password', ...accountOf(entry)] }),
  // The last byte of errSecItemNotFound, -25300.
  isAbsent: ({ exitStatus }) => exitStatus === 44,
}

function accountOf(entry: KeychainEntry): readonly string[] {
  return ['-a', entry.name, '-s', serviceOf(entry)]
}

function serviceOf({ baseUrl }: KeychainEntry): string {
  return `repoint ${baseUrl}`
}

/** Undefined: no program of such a system is known. */
export function keychainOf(os: Machine['os']): Keychain | undefined {
  return os === 'linux' ? secretTool : os === 'darwin' ? security : undefined
}

/**
 * The program that keeps keys. Whether it can is seen once it is asked.
 *
 * @throws UserError `keychain-failed` where there is none
 */
export function keychainProgram({ platform }: Session): { keychain: Keychain; path: string } {
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

/**
 * The key of one gateway in the keychain. All of it throws UserError `keychain-failed`.
 *
 * @param timeoutMs a person may have to unlock it within this time
 */
export function keyInKeychain(session: Session, entry: KeychainEntry, timeoutMs: number) {
  const { keychain, path } = keychainProgram(session)
  const { program } = keychain

  const call = async ({ args, input }: Call): Promise<RunResult> => {
    const options = { timeoutMs, ...compact({ input }) }
    const asked = session.platform.processes.run(path, args, options)
    const result = await session.step(`Asking the keychain (${program})`, asked)
    if (result.reason === 'timed-out')
      throw failed(`The keychain has not answered within ${timeoutMs / 1000} s`)
    return result
  }

  const isAbsent = async (): Promise<boolean> => {
    const found = await call(keychain.find(entry))
    if (keychain.isAbsent(found)) return true
    if (found.exitStatus !== 0) throw failure(program, found)
    return false
  }

  /** Undefined: it has none. */
  const lookUp = async (): Promise<string | undefined> => {
    const found = await call(keychain.lookUp(entry))
    const key = found.stdout.replace(/\r?\n$/, '')
    if (found.exitStatus === 0 && key !== '') {
      session.hide(key)
      return key
    }
    if (await isAbsent()) return undefined
    throw failure(program, found)
  }

  return {
    /** @throws UserError `key-missing` where it has none */
    async read(): Promise<string> {
      const key = await lookUp()
      if (key !== undefined) return key
      throw new UserError({
        code: 'key-missing',
        message: `The keychain no longer has the key of the gateway ${entry.name}`,
        hint: `Give it anew: repoint key --base-url ${entry.baseUrl}, or set a client up there again.`,
      })
    },

    /** Puts a key there, in the place of an earlier one, and reads it back. Returns the earlier one. */
    async store(key: string): Promise<string | undefined> {
      const earlier = await lookUp()
      if (earlier === key) return earlier
      const stored = await call(keychain.store(entry, key))
      if (stored.exitStatus !== 0) throw failure(program, stored)
      // In its interactive form `security` ends with status 0 whatever has come of a line.
      if ((await lookUp()) !== key)
        throw failed(`${program} does not give back the key that it was given`)
      return earlier
    },

    /** Takes the key out, where there is one. */
    async remove(): Promise<void> {
      const removed = await call(keychain.remove(entry))
      if (removed.exitStatus !== 0 && !(await isAbsent())) throw failure(program, removed)
    },
  }
}

/** What the program says last, or that the keychain is locked: then it may say nothing. */
function failure(program: string, { stderr, reason }: RunResult): UserError {
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
