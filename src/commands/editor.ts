import { Option } from '@commander-js/extra-typings'
import type { GatewayInfo, ResolvedOptions } from '../clients/contract/setup.ts'
import { nameFindings, pickModel } from '../clients/models/resolve.ts'
import { sendingFindings } from '../clients/plan/headers.ts'
import { refuseBlocked, UserError } from '../errors.ts'
import type { Finding } from '../finding.ts'
import { isLoopback, isPrivate } from '../gateway/input/local-host.ts'
import { nativeProtocol } from '../gateway/models/rules.ts'
import { maskSecret } from '../text.ts'
import { commandOf, examples } from './command-line/command.ts'
import { gatewayCommand, modelId, newestGateway } from './command-line/flags.ts'
import { openNamedGateway, proveOne } from './prove/prove-one.ts'
import type { Session } from './screen/session.ts'

/** An editor that the user sets up by hand, with the names of its fields. */
interface Editor {
  readonly label: string
  /** Absent: chat. */
  readonly protocol?: 'messages'
  readonly limits: readonly string[]
  readonly fields: (typed: FieldValues) => readonly (readonly [field: string, value: string])[]
}

interface FieldValues {
  readonly key: string
  readonly baseUrl: string
  readonly model: string
}

const editors: Readonly<Record<string, Editor>> = {
  // From the service's description.
  cursor: {
    label: 'Cursor',
    limits: [
      "Cursor's servers send the requests, so the gateway must be on the internet.",
      'Choose the model by name. "Auto" does not use the gateway.',
      'Cursor never sends claude-* models to a gateway.',
      'Cursor needs a paid plan to use your own key.',
    ],
    fields: ({ key, baseUrl, model }) => [
      ['Settings > Models > OpenAI API Key', key],
      ['Settings > Models > Override OpenAI Base URL', baseUrl],
      ['Settings > Models > Add custom model', model],
    ],
  },
  // chatLanguageModels.json of VS Code 1.122 (read 2026-11-23).
  vscode: {
    label: 'VS Code',
    limits: [
      '"Custom Endpoint" exists since 1.122. You need no GitHub login.',
      // Its documentation and issues (claude-code #8522 #20271 #72261, read 2026-11-28).
      'The extension of Claude Code reads the settings that `repoint claude` writes. Then `repoint doctor claude --fix` asks, sets "claudeCode.disableLoginPrompt" to true in settings.json of VS Code, and removes another gateway from "claudeCode.environmentVariables".',
    ],
    fields: ({ key, baseUrl, model }) => [
      ['Chat: Manage Language Models > Add Models', 'Custom Endpoint'],
      ['API key', key],
      ['API type', 'chat-completions'],
      ['models > id, and name', model],
      ['models > url', `${baseUrl}/chat/completions`],
      ['models > toolCalling', 'true'],
    ],
  },
  // `language_models.openai_compatible` in Zed's settings.json (read 2026-11-23).
  zed: {
    label: 'Zed',
    limits: ['The same settings in settings.json: language_models.openai_compatible.'],
    fields: ({ key, baseUrl, model }) => [
      ['Agent Panel > Settings > Add Provider', 'OpenAI'],
      ['API URL (api_url)', baseUrl],
      ['API Key (or the variable <NAME>_API_KEY)', key],
      ['Model Name (available_models > name)', model],
      ['Capabilities (tools)', 'on'],
    ],
  },
  // A profile in Claude-3p/configLibrary (manuals of LiteLLM and TrueFoundry, read 2026-11-28; not run).
  'claude-desktop': {
    label: 'Claude Desktop',
    protocol: 'messages',
    limits: [
      'The names of its models must begin with claude-. The Chat tab is off.',
      'On a managed machine, the administrator sets these fields.',
    ],
    fields: ({ key, baseUrl, model }) => [
      ['inferenceProvider', 'gateway'],
      ['inferenceGatewayBaseUrl', baseUrl],
      ['inferenceGatewayApiKey', key],
      ['inferenceGatewayAuthScheme', 'bearer'],
      ['Model', model],
    ],
  },
}

function define() {
  return gatewayCommand('editor')
    .description('check the key and print what to enter in Cursor, VS Code or Zed')
    .addOption(
      new Option('--for <editor>', 'which editor (default: asked for, else cursor)').choices(
        Object.keys(editors),
      ),
    )
    .option('--model <id>', 'the model to enter', modelId)
    .option('--json', 'print one JSON document')
    .addHelpText('after', newestGateway)
    .addHelpText(
      'after',
      examples(['repoint editor --for vscode', 'repoint editor --json --key-stdin < key']),
    )
}

/** Checks the key for an editor and prints what to enter. Returns the exit status. */
export const command = commandOf(define, async (session, flags) => {
  const id = flags.for ?? (session.canAsk ? await askEditor(session) : 'cursor')
  const { label, limits, fields: fieldsFor, protocol = 'chat' } = editors[id]!
  const requester = await openNamedGateway(session, undefined, flags)
  const { access, choice } = await proveOne(session, {
    requester,
    model: flags.model,
    choose: (known) => chooseModel(id, known, flags.model),
  })
  // The editor has one field for the key.
  const client = { label, protocols: [protocol], sends: { headers: false } } as const
  refuseBlocked([...sendingFindings(client, access)])
  session.addFindings(...choice.findings)
  const { address, baseUrls } = access
  if (id === 'cursor') session.addFindings(...outOfReachFinding(address))

  const key = `your key (${maskSecret(access.key)})`
  const rows = fieldsFor({ key, baseUrl: baseUrls[protocol], model: choice.probeModel })
  session.showFindings()
  session.say(`The key, the address and the model work. Enter in ${label}:`)
  const width = Math.max(...rows.map(([field]) => field.length))
  for (const [field, value] of rows) session.say(`  ${field.padEnd(width)}  ${value}`)
  session.say('')
  for (const limit of limits) session.say(`  note: ${limit}`)

  session.document({
    command: 'editor',
    changed: false,
    baseUrl: address,
    model: choice.probeModel,
    fields: rows.map(([field, value]) => ({ field, value })),
    limits,
    verified: { before: true, after: false },
    warnings: session.findingsAsJson,
  })
  return 0
})

function askEditor({ platform }: Session): Promise<string> {
  const choices = Object.entries(editors).map(([value, { label }]) => ({ value, name: label }))
  return platform.ask.search({ message: 'Which editor?', choices })
}

/**
 * Cursor's own servers ask the gateway, not this machine, and answer `ssrf_blocked: connection to
 * private IP is blocked` (forum.cursor.com/t/160995; github.com/automazeio/vibeproxy/issues/168,
 * both read 2026-11-22).
 */
function* outOfReachFinding(address: string): Generator<Finding> {
  const { hostname } = new URL(address)
  if (isPrivate(hostname))
    yield {
      code: 'editor-out-of-reach',
      severity: 'warning',
      message: `Cursor cannot reach ${address}: Cursor's servers send the requests, and only this ${isLoopback(hostname) ? 'machine' : 'network'} can reach ${hostname}`,
      hint: 'VS Code and Zed send requests from this machine: repoint editor --for vscode. For Cursor, name a gateway on the internet: --base-url URL',
    }
}

/** @throws UserError `protocol-unsupported` for a model that the editor cannot route */
function chooseModel(
  editor: string,
  gatewayInfo: GatewayInfo,
  model: string | undefined,
): Pick<ResolvedOptions, 'probeModel' | 'protocol' | 'findings'> {
  const { protocol = 'chat' } = editors[editor]!
  const usable = editor === 'cursor' ? withoutClaude(gatewayInfo) : gatewayInfo
  const input = { requested: { model }, gatewayInfo: model === undefined ? usable : gatewayInfo }
  const id = pickModel(input, [protocol])
  // Only Claude's models are native to messages.
  if (editor === 'cursor' && nativeProtocol(id) === 'messages')
    throw new UserError({
      code: 'protocol-unsupported',
      message: `Cursor never sends ${id} to a gateway`,
      hint: 'Name another model: --model ID',
    })
  if (editor === 'claude-desktop' && !id.startsWith('claude-'))
    throw new UserError({
      code: 'protocol-unsupported',
      message: `Claude Desktop accepts only models whose name begins with claude-, not ${id}`,
      hint: 'Name another model: --model ID',
    })
  return { probeModel: id, protocol, findings: nameFindings(input, [model]) }
}

/** What is known of the gateway, without the models that Cursor never sends there, unless it has no others. */
function withoutClaude(gatewayInfo: GatewayInfo): GatewayInfo {
  const { catalogAnswer } = gatewayInfo
  if (catalogAnswer.kind !== 'received') return gatewayInfo
  const { catalog } = catalogAnswer
  const models = catalog.models.filter(({ id }) => nativeProtocol(id) !== 'messages')
  if (models.length === 0) return gatewayInfo
  return { ...gatewayInfo, catalogAnswer: { kind: 'received', catalog: { ...catalog, models } } }
}
