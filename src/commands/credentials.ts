import type { Notice } from '../clients/client.ts'
import { UserError } from '../errors.ts'
import { normaliseBaseUrl } from '../gateway/input/base-url.ts'
import { cleanKey } from '../gateway/input/key.ts'
import type { GatewayAccess } from '../gateway/types.ts'
import type { GatewayFlags } from './command.ts'
import type { ConfiguredGateway } from './configured-gateway.ts'
import type { Session } from './screen/session.ts'

/** A key is a line; whatever is larger is not one. */
const maxKeyBytes = 64 * 1024

/** What is known before anything is looked for: from an earlier run, or from a first try. */
export interface Known {
  /** Offered as the default answer. */
  readonly lastBaseUrl?: string | undefined
  readonly baseUrl?: string | undefined
  readonly key?: string | undefined
  /** Setups in force. Who is asked for a key need not type again the one for the same address. */
  readonly configured?: readonly ConfiguredGateway[]
}

export interface FoundGateway {
  readonly access: GatewayAccess
  readonly notices: readonly Notice[]
  /** What a person has typed, and could type again. */
  readonly asked: { readonly baseUrl: boolean; readonly key: boolean }
  /** The key is that of a client, for this address: it must not go to another. */
  readonly isKeyInUse: boolean
}

interface Found {
  readonly value: string
  readonly notices: readonly Notice[]
  readonly isAsked: boolean
  readonly isInUse?: boolean
}

/**
 * The gateway of this command: from flags, then the environment, then a person.
 *
 * @throws UserError `usage` or `key-missing` naming the flags where nobody can be asked
 */
export async function findGateway(
  session: Session,
  options: GatewayFlags,
  known: Known = {},
): Promise<FoundGateway> {
  const address = await findBaseUrl(session, options, known)
  const key = await findKey(session, options, known, address.value)
  session.hide(key.value)
  return {
    access: {
      baseUrl: address.value,
      key: key.value,
      timeoutMs: options.timeout * 1000,
      caFile: options.caFile,
      env: session.platform.machine.env,
      signal: session.platform.interrupt,
    },
    notices: [...address.notices, ...key.notices],
    asked: { baseUrl: address.isAsked, key: key.isAsked },
    isKeyInUse: key.isInUse === true,
  }
}

async function findBaseUrl(session: Session, options: GatewayFlags, known: Known): Promise<Found> {
  const { ask, machine } = session.platform
  const clean = (text: string, isAsked = false): Found => {
    const { baseUrl, notices } = normaliseBaseUrl(text, { allowHttp: options.allowHttp === true })
    return { value: baseUrl, notices, isAsked }
  }
  if (known.baseUrl !== undefined) return { value: known.baseUrl, notices: [], isAsked: false }
  if (options.baseUrl !== undefined) return clean(options.baseUrl)
  const preset = machine.env['REPOINT_BASE_URL']
  if (!session.canAsk) {
    if (preset) return clean(preset)
    throw new UserError({
      code: 'usage',
      message: 'No base URL was given',
      hint: 'Add --base-url URL, or set REPOINT_BASE_URL.',
    })
  }
  const answer = await ask.input({
    message: 'Base URL of the gateway:',
    default: preset || known.lastBaseUrl,
    validate: (text) => problemOf(() => clean(text)),
  })
  return clean(answer, true)
}

async function findKey(
  session: Session,
  options: GatewayFlags,
  known: Known,
  baseUrl: string,
): Promise<Found> {
  const { ask, machine } = session.platform
  const clean = (text: string, isAsked = false): Found => {
    const { key, notices } = cleanKey(text)
    return { value: key, notices, isAsked }
  }
  if (known.key !== undefined) return { value: known.key, notices: [], isAsked: false }
  const sources = [options.keyStdin, options.keyFile, options.keyEnv].filter(Boolean)
  if (sources.length > 1)
    throw new UserError({
      code: 'usage',
      message: 'The key is given more than once',
      hint: 'Keep one of --key-stdin, --key-file and --key-env.',
    })
  if (options.keyStdin) {
    ask.release()
    return clean(decode(await readStdin(session)))
  }
  if (options.keyFile !== undefined) return clean(readKeyFile(session, options.keyFile))
  if (options.keyEnv !== undefined) {
    if (!/^[A-Za-z_]\w{0,63}$/.test(options.keyEnv))
      throw new UserError({
        code: 'usage',
        message: '--key-env takes the name of an environment variable, and this is none',
        hint: 'For a key itself use --key-stdin or --key-file.',
      })
    const value = machine.env[options.keyEnv]
    if (value === undefined)
      throw new UserError({
        code: 'key-missing',
        message: `The environment variable ${options.keyEnv} (--key-env) is not set`,
        hint: `Set it, or give the key with --key-stdin or --key-file.`,
      })
    return clean(value)
  }
  const preset = machine.env['REPOINT_API_KEY']
  if (preset) return clean(preset)
  if (!session.canAsk)
    throw new UserError({
      code: 'key-missing',
      message: 'No key was given, and there is no terminal to ask on',
      hint: 'Give it with --key-stdin, --key-file PATH or --key-env NAME, or set REPOINT_API_KEY.',
    })
  const isSound = (text: string) => problemOf(() => clean(text))
  const inUse = known.configured?.find(
    (one) => one.baseUrl === baseUrl && isSound(one.key) === true,
  )
  const answer = await ask.secret({
    message: inUse === undefined ? 'API key:' : `API key (Enter: the one that ${inUse.label} has):`,
    validate: (text) => (text === '' && inUse !== undefined) || isSound(text),
  })
  if (answer === '' && inUse !== undefined) return { ...clean(inUse.key, true), isInUse: true }
  return clean(answer, true)
}

async function readStdin(session: Session): Promise<Uint8Array> {
  try {
    return await session.platform.terminal.readStdin(maxKeyBytes)
  } catch (error) {
    throw new UserError({
      code: 'key-missing',
      message: 'The key could not be read from standard input',
      hint: `Pipe one line, for example: repoint codex --key-stdin < key.txt`,
      cause: error,
    })
  }
}

function readKeyFile(session: Session, path: string): string {
  try {
    return decode(session.platform.files.read(path, maxKeyBytes))
  } catch (error) {
    throw new UserError({
      code: 'key-missing',
      message: `The key file ${session.showPath(path)} cannot be read`,
      hint: 'Check the path of --key-file and its permissions.',
      cause: error,
    })
  }
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder('utf-8').decode(bytes)
}

function problemOf(check: () => unknown): true | string {
  try {
    check()
    return true
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    const { message, hintAtPrompt } = error
    return hintAtPrompt === undefined ? message : `${message}. ${hintAtPrompt}`
  }
}
