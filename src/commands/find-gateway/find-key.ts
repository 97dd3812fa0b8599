import { compact } from '../../compact.ts'
import { UserError } from '../../errors.ts'
import type { Finding } from '../../finding.ts'
import { cleanKey, maxKeyBytes } from '../../gateway/input/key.ts'
import { type ImportLink, readImportLink } from '../../gateway/input/link.ts'
import { isImportLink } from '../../text.ts'
import type { GatewayFlags } from '../command-line/flags.ts'
import type { Session } from '../screen/session.ts'
import type { FindFlags, FoundAddress } from './find-address.ts'
import type { KeySource, Preset } from './preset.ts'

/** The key of the gateway, and where it came from. */
export interface FoundKey {
  readonly value: string
  readonly findings?: readonly Finding[]
  readonly source: KeySource
  /** The import link that contained the key. */
  readonly link?: ImportLink
}

/**
 * The key from the preset, a flag or the environment, or else from a prompt.
 *
 * @param given the key from a flag or the environment, and the address that the key is for
 * @throws UserError `key-missing` if repoint cannot ask
 */
export async function findKey(
  session: Session,
  flags: GatewayFlags,
  { gateway, keySource = 'given', inUse = [] }: Preset,
  given: { readonly key: string | undefined; readonly address: FoundAddress },
): Promise<FoundKey> {
  if (gateway?.key !== undefined) return { value: gateway.key, source: keySource }
  if (given.key !== undefined) return { ...cleanedKey(given.key, flags), source: 'given' }
  if (!session.canAsk)
    throw new UserError({
      code: 'key-missing',
      message: 'The key is missing',
      hint: 'Use --key-env NAME, --key-file PATH or --key-stdin, or set REPOINT_API_KEY.',
    })

  session.platform.ask.discardTyping()
  const { value: address, isFromPrompt: isAddressTyped } = given.address
  const validate = (text: string) => session.problemAtPrompt(() => cleanedKey(text, flags))
  const reusable = inUse.find((setup) => setup.address === address && validate(setup.key) === true)
  // The user just typed the address, so the question does not repeat it.
  const forAddress = isAddressTyped ? '' : ` for ${address}`
  const offer = reusable === undefined ? '' : ` (Enter: the key of ${reusable.label})`
  const answer = await session.platform.ask.secret({
    message: `API key${forAddress}${offer}:`,
    validate: (text) => (text === '' && reusable !== undefined) || validate(text),
  })

  if (answer === '' && reusable !== undefined)
    return { ...cleanedKey(reusable.key, flags), source: 'reused' }
  return { ...cleanedKey(answer, flags), source: 'typed' }
}

/** The key without spaces and prefixes that people copy with it. An import link contains a key too. */
function cleanedKey(text: string, flags: FindFlags): Omit<FoundKey, 'source'> {
  const link = linkIn(text, flags)
  if (link !== undefined) return { value: link.key, link }
  const { key, findings } = cleanKey(text)
  return { value: key, findings }
}

/** The import link that a flag or the environment contains instead of a key. */
export async function importLinkFor(
  session: Session,
  flags: FindFlags,
): Promise<ImportLink | undefined> {
  return linkIn(await readGivenKey(session, flags), flags)
}

export function linkIn(text: string | undefined, flags: FindFlags): ImportLink | undefined {
  return text !== undefined && isImportLink(text) ? readImportLink(text, flags) : undefined
}

/** The key from a flag or the environment. */
export async function readGivenKey(
  session: Session,
  flags: GatewayFlags,
): Promise<string | undefined> {
  const { env } = session.platform.machine
  const { keyStdin, keyFile, keyEnv } = flags
  if (Object.keys(compact({ keyStdin, keyFile, keyEnv })).length > 1)
    throw new UserError({
      code: 'usage',
      message: 'The command names more than one key',
      hint: 'Keep one of --key-stdin, --key-file and --key-env.',
    })

  if (keyStdin) return asText(await keyFromStdin(session))
  if (keyFile !== undefined) return secretFile(session, keyFile, '--key-file')

  if (keyEnv === undefined) return env['REPOINT_API_KEY'] || undefined
  if (!/^[A-Za-z_]\w{0,63}$/.test(keyEnv))
    throw new UserError({
      code: 'usage',
      message: '--key-env needs the name of an environment variable',
      hint: 'Example: --key-env MY_KEY. To pass the key itself: --key-stdin or --key-file PATH',
    })

  const value = env[keyEnv]
  if (value === undefined)
    throw new UserError({
      code: 'key-missing',
      message: `The environment variable ${keyEnv} (--key-env) is not set`,
      hint: 'Set the variable, or pass the key with --key-stdin or --key-file PATH.',
    })
  return value
}

async function keyFromStdin({ platform }: Session): Promise<Uint8Array> {
  // The user may type the key itself there.
  platform.ask.acceptTyping()
  try {
    return await platform.terminal.readStdin(maxKeyBytes)
  } catch (error) {
    throw new UserError({
      code: 'key-missing',
      message: 'Cannot read the key from standard input',
      hint: 'Pipe one line into the command: --key-stdin < key.txt',
      cause: error,
    })
  }
}

/** The text of a file with a secret. @throws UserError `key-missing` if it cannot be read */
export function secretFile(
  session: Session,
  path: string,
  flag: '--key-file' | '--header',
): string {
  const what = flag === '--key-file' ? 'key file' : 'file'
  try {
    return asText(session.platform.files.read(path, maxKeyBytes))
  } catch (error) {
    throw new UserError({
      code: 'key-missing',
      message: `Cannot read the ${what} ${session.showPath(path)}`,
      hint: `Check the path of ${flag} and its permissions.`,
      cause: error,
    })
  }
}

function asText(bytes: Uint8Array): string {
  return new TextDecoder('utf-8').decode(bytes)
}
