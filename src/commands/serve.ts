import { once } from 'node:events'
import { Command, InvalidArgumentError, Option } from '@commander-js/extra-typings'
import type { Client } from '../clients/contract/client.ts'
import { loadAllClients } from '../clients/list.ts'
import { UserError } from '../errors.ts'
import { usualBaseUrls } from '../gateway/base-urls.ts'
import { readCatalog } from '../gateway/catalog.ts'
import { GatewayRequester } from '../gateway/gateway-requester.ts'
import { isLoopback } from '../gateway/input/local-host.ts'
import type { Catalog, CatalogInfo } from '../gateway/types.ts'
import {
  builtInCatalog,
  type Gateway,
  type GatewayOptions,
  type LoggedRequest,
  startGateway,
  type Upstream,
} from '../serve/index.ts'
import { printable } from '../text.ts'
import { installedVersions } from './client-state/program/installed-program.ts'
import { newTempPath, withTempFiles } from './client-state/program/temp-folder.ts'
import { ForeignArgument } from './command-line/arguments.ts'
import { commandOf, examples, type FlagsOf } from './command-line/command.ts'
import { accessTo } from './find-gateway/access.ts'
import { clientsCalled, exitStatusOf, pointProgram } from './run/launch.ts'
import type { Session } from './screen/session.ts'
import { keyFromFlags, readFaultFlag, readModelsFile, upstreamOf } from './serve/gateway-options.ts'

export function define() {
  return new Command('serve')
    .description('run a gateway on this machine, or a command that uses it')
    .addArgument(
      new ForeignArgument(
        '[command...]',
        'after --: runs it with the gateway and exits with its status',
      ),
    )
    .addOption(
      new Option('--port <number>', 'port to listen on; 0 takes any free one')
        .default(0)
        .argParser(portNumber),
    )
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--key-file <path>', 'accept the key in this file')
    .option(
      '--key-env <name>',
      'accept the key in this variable (default: REPOINT_API_KEY, else a new key)',
    )
    .option('--models <file>', 'serve this catalog (JSON or YAML)')
    .option('--scenario <file>', 'give the answers in this file (JSON or YAML)')
    .option('--strict', 'reject requests without a written answer')
    .addOption(
      new Option('--fault <fault>', 'cause a fault: rate-limited,every=3 (repeatable)')
        .default<string[]>([], 'none')
        .argParser((fault: string, earlier: string[]) => [...earlier, fault]),
    )
    .addOption(
      new Option(
        '--families <word>',
        'reject what a family of models rejects (vendor), or accept it (rewritten)',
      ).choices(['vendor', 'rewritten'] as const),
    )
    .addOption(
      new Option('--fragment <word>', 'off: write each stream at once').choices([
        'on',
        'off',
      ] as const),
    )
    .option('--log', 'print a line for each request, on standard error')
    .option(
      '--upstream <url>',
      'forward what has no answer here to this gateway, with the key in REPOINT_UPSTREAM_KEY',
    )
    .option(
      '--record <file>',
      'replay the answers in this scenario file, and add those of the upstream',
    )
    .option('--allow-http', 'allow plain http to another machine')
    .option('--json', 'print one line of JSON as soon as it listens')
    .addHelpText(
      'after',
      examples([
        'repoint serve --port 8787 --log',
        'repoint serve --scenario answers.yaml --fault overloaded,every=5',
        'repoint serve -- npm test',
      ]),
    )
}

export type ServeFlags = FlagsOf<typeof define>

export const command = commandOf(define, serve)

/**
 * Runs the local gateway until the user interrupts it, or as long as a command runs with it.
 *
 * @param words the command; empty: no command
 * @returns 0, or the exit status of the command
 */
export async function serve(
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
    words[0] === undefined ? [] : clientsCalled(session, await loadAllClients(), words[0])
  const gateway = await listen({
    port,
    host,
    key: requestedKey,
    faults: flags.fault.map(readFaultFlag),
    models,
    scenario: flags.scenario,
    strict: flags.strict,
    families: flags.families ?? familiesFor(called),
    fragment: flags.fragment,
    record: flags.record,
    upstream,
    onRequest: flags.log && logRequest,
  })

  try {
    const { url, key } = gateway
    if (isJson) terminal.out(`${JSON.stringify({ url, key })}\n`)
    else if (words.length === 0)
      session.print(greeting(gateway, { isKeyNew: requestedKey === undefined, upstream, host }))

    if (words.length > 0) {
      const catalog = upstream === undefined ? { models: models ?? builtInCatalog } : undefined
      return await launchWithGateway(session, gateway, { catalogIfKnown: catalog, called }, words)
    }
    if (!interrupt.aborted) await once(interrupt, 'abort')
    return 0
  } finally {
    await gateway.close()
  }
}

function greeting(
  { url, key }: Gateway,
  {
    isKeyNew,
    upstream,
    host,
  }: {
    readonly isKeyNew: boolean
    readonly upstream: Upstream | undefined
    readonly host: string
  },
): string {
  const lines = [
    `The local gateway listens at ${url} (chat and responses clients: ${url}/v1).`,
    isKeyNew ? `Key, printed this once: ${key}` : 'The gateway accepts the key that you gave.',
    `${url}/ shows every request. Ctrl-C stops the gateway.`,
  ]

  if (!isLoopback(host))
    lines.push(`Careful: on ${host}, other machines can use the gateway and read its log.`)
  if (upstream !== undefined) lines.push(`The gateway forwards requests to ${upstream.url}.`)

  return `${lines.join('\n')}\n`
}

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

/** How long the local gateway may take to forward the upstream's catalog, in ms. */
const catalogTimeoutMs = 20_000

/**
 * Launches the command with the gateway in all variables that programs usually read. A client that reads its
 * files instead gets its settings for this process.
 *
 * @param catalogIfKnown undefined: only the gateway itself knows it
 * @param called the clients that the command starts
 */
async function launchWithGateway(
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
  const access = accessTo(session, {
    address: url,
    baseUrls,
    key,
    keyHeader: 'authorization',
    timeoutMs: catalogTimeoutMs,
  })

  const list: CatalogInfo =
    called.length === 0
      ? { kind: 'not-requested' }
      : { kind: 'received', catalog: catalogIfKnown ?? (await readCatalog(access)) }
  const process = { args, env, tempFolder: newTempPath(platform) }
  const versions = await installedVersions(session, called)

  const launch = await pointProgram(session, called, {
    requester: new GatewayRequester(access),
    list,
    process,
    versions,
  })
  session.showFindings()
  const result = await withTempFiles(platform, process.tempFolder, launch.files, () =>
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

function portNumber(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535)
    throw new InvalidArgumentError('It takes a port number, 0 to 65535.')
  return Number(text)
}
