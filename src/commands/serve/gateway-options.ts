/** What the flags of `repoint serve` say about its gateway. */
import { UserError } from '../../errors.ts'
import { maxKeyBytes } from '../../gateway/input/key.ts'
import { isLoopback } from '../../gateway/input/local-host.ts'
import type { Platform } from '../../platform/platform.ts'
import { InvalidData } from '../../schema.ts'
import { isUsableKey } from '../../serve/auth.ts'
import { parseFault } from '../../serve/faults/fault-members.ts'
import type { CatalogEntry, Fault, Upstream } from '../../serve/index.ts'
import { readCatalogFile } from '../../serve/settings/catalog-file.ts'

/** The key that the gateway should accept. Undefined: a new one. */
export function keyFromFlags(
  { files, machine }: Platform,
  { keyFile, keyEnv }: { readonly keyFile?: string; readonly keyEnv?: string },
): string | undefined {
  if (keyFile !== undefined && keyEnv !== undefined)
    throw new UserError({
      code: 'usage',
      message: 'The command names more than one key',
      hint: 'Keep one of --key-file and --key-env.',
    })

  const name = keyEnv ?? 'REPOINT_API_KEY'
  const text =
    keyFile === undefined
      ? machine.env[name]
      : readText(() => files.read(keyFile, maxKeyBytes), `the key file ${keyFile}`)
  const key = text?.trim()
  if (!key && keyFile === undefined && keyEnv === undefined) return undefined
  if (!key || !isUsableKey(key))
    throw new UserError({
      code: 'key-missing',
      message: `There is no usable key in ${keyFile ?? name}`,
      hint: keyHint,
    })
  return key
}

const keyHint = 'A key is one word of visible ASCII characters, at least 8 after `sk-`.'

export function readFaultFlag(text: string): Fault {
  try {
    return parseFault(text)
  } catch (error) {
    if (!(error instanceof InvalidData)) throw error
    throw new UserError({
      code: 'usage',
      message: `--fault ${text}: ${error.message}`,
      hint: 'Examples: --fault quota, --fault status=502,every=3, --fault delay=500,route=messages',
      cause: error,
    })
  }
}

export async function readModelsFile(
  { files }: Platform,
  path: string | undefined,
): Promise<readonly CatalogEntry[] | undefined> {
  if (path === undefined) return undefined
  // Loaded only if there is a file to read.
  const { maxYamlBytes, readYaml } = await import('../../serve/settings/yaml.ts')
  const text = readText(() => files.read(path, maxYamlBytes), `the catalog ${path}`)
  return readYaml(text, path, readCatalogFile)
}

function readText(read: () => Uint8Array, what: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(read())
  } catch (error) {
    throw new UserError({
      code: 'config-invalid',
      message: `Cannot read ${what}: ${(error as Error).message}`,
      hint: 'Check the path and its permissions; it must be UTF-8 text.',
      cause: error,
    })
  }
}

export function upstreamOf(
  { machine }: Platform,
  flags: { readonly upstream?: string; readonly allowHttp?: true },
): Upstream | undefined {
  if (flags.upstream === undefined) return undefined
  const key = machine.env['REPOINT_UPSTREAM_KEY']?.trim()
  if (!key)
    throw new UserError({
      code: 'key-missing',
      message: 'REPOINT_UPSTREAM_KEY is not set: --upstream needs the key of that gateway',
      hint: 'Set it in the environment of this command.',
    })

  const url = URL.canParse(flags.upstream) ? new URL(flags.upstream) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username + url.password !== '')
    throw new UserError({
      code: 'usage',
      // The text before an @ may be a password, even without a scheme.
      message: `--upstream ${flags.upstream.replace(/^.*@/s, '…@')} is not an http address`,
      hint: 'Give the address of the gateway, for example https://gw.example',
    })
  if (url.protocol === 'http:' && !isLoopback(url.hostname) && !flags.allowHttp)
    throw new UserError({
      code: 'usage',
      message: `--upstream ${url.origin} would send the key unencrypted`,
      hint: 'Use https, or add --allow-http if you mean it.',
    })
  if (!isUsableKey(key))
    throw new UserError({
      code: 'key-missing',
      message: 'The key in REPOINT_UPSTREAM_KEY is not usable',
      hint: keyHint,
    })

  return { url: (url.origin + url.pathname).replace(/\/+$/, '').replace(/\/v1$/, ''), key }
}
