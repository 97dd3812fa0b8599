import { once } from 'node:events'
import type { Client } from '../../clients/contract/client.ts'
import { loadPrograms } from '../../clients/list.ts'
import { compact } from '../../compact.ts'
import { UserError } from '../../errors.ts'
import { usualBaseUrls } from '../../gateway/base-urls.ts'
import { readCatalog } from '../../gateway/catalog.ts'
import { maxKeyBytes } from '../../gateway/input/key.ts'
import { isLoopback } from '../../gateway/input/local-host.ts'
import type { Catalog } from '../../gateway/types.ts'
import type { Platform } from '../../platform/platform.ts'
import { InvalidData } from '../../schema.ts'
import { isUsableKey } from '../../serve/auth.ts'
import { parseFault } from '../../serve/faults/fault-schema.ts'
import {
  builtInCatalog,
  type CatalogEntry,
  type Fault,
  type Gateway,
  type GatewayOptions,
  type LoggedRequest,
  startGateway,
  type Upstream,
} from '../../serve/index.ts'
import { readCatalogFile } from '../../serve/settings/models-file.ts'
import { printable } from '../../text.ts'
import { installedVersions } from '../client-state/program/program.ts'
import { newFolder, withFiles } from '../client-state/program/temp-folder.ts'
import { accessTo } from '../find-gateway/access.ts'
import { clientsCalled, exitStatusOf, pointProgram } from '../run/launch.ts'
import type { Session } from '../screen/session.ts'
import type { ServeFlags } from './flags.ts'

/** How long the local gateway may take to forward the upstream's catalog, in ms. */
const catalogTimeoutMs = 20_000

/**
 * Runs the local gateway until the user interrupts it, or as long as a command runs with it.
 *
 * @param words the command; empty: no command
 * @returns 0, or the exit status of the command
 */
export async function runLocalGateway(
  session: Session,
  words: readonly string[],
  flags: ServeFlags,
): Promise<number> {
  const { platform, isJson } = session
  // Reading `interrupt` starts to listen for signals. None may be lost after the first line is printed.
  const { terminal, interrupt } = platform
  const { port, host } = flags
  const requestedKey = keyFromFlags(platform, flags)
  const upstream = upstreamOf(platform, flags)
  const models = await readModelsFile(platform, flags.models)
  const logRequest = (request: LoggedRequest) => terminal.err(`${logLine(request)}\n`)

  const called =
    words[0] === undefined ? [] : clientsCalled(session, await loadPrograms(), words[0])
  const gateway = await listen(
    compact({
      port,
      host,
      key: requestedKey,
      faults: flags.fault.map(readFaultFlag),
      models,
      scenario: flags.scenario,
      strict: flags.strict,
      families: flags.families ?? familiesFor(called),
      fragment: flags.fragment,
      recordFile: flags.record,
      upstream,
      onRequest: flags.log && logRequest,
    }),
  )

  try {
    const { url, key } = gateway
    if (isJson) terminal.out(`${JSON.stringify({ url, key })}\n`)
    else if (words.length === 0)
      session.print(greeting(gateway, requestedKey === undefined, upstream, host))

    if (words.length > 0) {
      const catalog = upstream === undefined ? { models: models ?? builtInCatalog } : undefined
      return await runWithGateway(session, gateway, { catalogIfKnown: catalog, called }, words)
    }
    if (!interrupt.aborted) await once(interrupt, 'abort')
    return 0
  } finally {
    await gateway.close()
  }
}

/** @param isNew whether the gateway generated its key */
function greeting(
  { url, key }: Gateway,
  isNew: boolean,
  upstream: Upstream | undefined,
  host: string,
): string {
  const lines = [
    `The local gateway listens at ${url} (chat and responses clients: ${url}/v1).`,
    isNew ? `Key, printed this once: ${key}` : 'The gateway accepts the key that you gave.',
    `${url}/ shows every request. Ctrl-C stops the gateway.`,
  ]

  if (!isLoopback(host))
    lines.push(`Careful: on ${host}, other machines can use the gateway and read its log.`)
  if (upstream !== undefined) lines.push(`The gateway forwards requests to ${upstream.url}.`)

  return `${lines.join('\n')}\n`
}

function keyFromFlags(
  { files, machine }: Platform,
  { keyFile, keyEnv }: ServeFlags,
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

async function listen(options: GatewayOptions): Promise<Gateway> {
  try {
    return await startGateway(options)
  } catch (error) {
    const { code, message, syscall } = error as NodeJS.ErrnoException
    if (syscall !== 'listen' && syscall !== 'getaddrinfo') throw error
    throw new UserError({
      code: 'usage',
      message: `Cannot listen on ${options.host}, port ${options.port}: ${message}`,
      hint:
        code === 'EADDRINUSE'
          ? 'Something listens there already: choose another --port, or 0 for any free one.'
          : 'Check --host and --port.',
      cause: error,
    })
  }
}

function readFaultFlag(text: string): Fault {
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

async function readModelsFile(
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

function upstreamOf({ machine }: Platform, flags: ServeFlags): Upstream | undefined {
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

/**
 * Runs the command with the gateway in all variables that programs usually read. A client that reads its
 * files instead gets its settings for this process.
 *
 * @param served the catalog; undefined: only the gateway itself knows it
 * @param called the clients that the command starts
 */
async function runWithGateway(
  session: Session,
  { url, key }: Gateway,
  {
    catalogIfKnown,
    called,
  }: { readonly catalogIfKnown: Catalog | undefined; readonly called: readonly Client[] },
  [command = '', ...args]: readonly string[],
): Promise<number> {
  const { platform } = session
  const { machine, interrupt } = platform
  // REPOINT_UPSTREAM_KEY is only for the upstream.
  const env = { ...machine.env, REPOINT_UPSTREAM_KEY: undefined }
  const baseUrls = usualBaseUrls(url)
  const access = accessTo(session, { address: url, baseUrls, key, timeoutMs: catalogTimeoutMs })

  const catalog = called.length > 0 ? (catalogIfKnown ?? (await readCatalog(access))) : undefined
  const process = { args, env, tempFolder: newFolder(platform) }
  const versions = await installedVersions(session, called)

  const launch = await pointProgram(session, called, { access, catalog, process, versions })
  session.showFindings()
  const result = await withFiles(platform, process.tempFolder, launch.files, () =>
    platform.runInForeground(command, launch.args, { signal: interrupt, env: launch.env }),
  )

  return exitStatusOf(result, command, 'Check the command after `--`.')
}

/**
 * OpenAI rejects tools over chat for gpt-5.6. For a client that uses chat only, the gateway accepts them,
 * like gateways that rewrite these requests.
 */
function familiesFor(called: readonly Client[]): 'rewritten' | undefined {
  return called.some(({ protocols }) => protocols.every((protocol) => protocol === 'chat'))
    ? 'rewritten'
    : undefined
}

/** One request in one line. The key is already masked. */
export function logLine(request: LoggedRequest): string {
  const { method, path, protocol, modelAsked, modelServed, client, fault } = request
  const { firstByteMs, inputTokens, outputTokens } = request
  const isOtherModel = modelServed !== undefined && modelServed !== modelAsked
  const model = isOtherModel ? `${modelAsked} -> ${modelServed}` : modelAsked

  const parts = [
    request.at.toISOString(),
    request.status ?? '-',
    protocol ?? `${method} ${path}`,
    model ?? '-',
    client.split(' ')[0] || '-',
    keyText(request),
    firstByteMs === undefined ? '-' : `${firstByteMs.toFixed(1)} ms`,
    inputTokens === undefined ? '-' : `${inputTokens}+${outputTokens}`,
  ]

  if (request.state === 'cut') parts.push('cut')
  if (fault !== undefined) parts.push(`fault: ${fault}`)
  else if (request.reason !== undefined) parts.push(request.reason)
  return printable(parts.join('  ')).replaceAll('\n', ' ')
}

function keyText({ key, keyMatches }: LoggedRequest): string {
  if (key === '') return 'no key'
  return keyMatches ? key : `${key} (wrong)`
}
