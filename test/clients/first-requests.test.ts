import { dirname } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
// @ts-expect-error plain JavaScript, shared with the script
import { modulesOf } from '../../scripts/install.js'
// @ts-expect-error plain JavaScript, shared with the script
import { clients } from '../../scripts/real-clients.js'
import type { CatalogEntry, LoggedRequest } from '../../src/serve/index.ts'
import { runCli } from '../support/cli.ts'
import { withGateway } from '../support/gateway.ts'
import { aHome } from '../support/home.ts'
import { installedClient, installedVersions, putInBin } from './support/install.ts'
import { inferences } from './support/prompt.ts'
import { runClient } from './support/run-client.ts'

const copilotProgram = `${modulesOf('copilot')}/copilot/copilot`

/** The probe sends what the newest version of each client sends first, with the same set-up. */

const key = 'sk-first-4f7a1c9e2b8d6035'
const prompt = 'In one word: which type does this JavaScript have? const total = 1 + 1'

interface Row {
  readonly client: string
  /** The setup command of repoint. Absent: the client's name. */
  readonly command?: string
  /** More arguments of its setup. */
  readonly setup: readonly string[]
  /** The models that the gateway lists. Absent: the built-in ones. */
  readonly models?: readonly (string | CatalogEntry)[]
  /** The client's files before the setup. */
  readonly files?: Readonly<Record<string, string>>
}

const rows: readonly Row[] = [
  { client: 'codex', setup: ['--model', 'gpt-5.6-sol'] },
  { client: 'codex', setup: ['--model', 'gpt-5.6-sol', '--catalog'] },
  {
    client: 'codex',
    setup: ['--model', 'gpt-5.5', '--reasoning-effort', 'high'],
    models: ['gpt-5.5'],
  },
  { client: 'codex', setup: ['--model', 'glm-5'], models: ['glm-5'] },
  { client: 'codex', setup: ['--model', 'glm-5', '--catalog'], models: ['glm-5'] },
  {
    client: 'codex',
    setup: ['--model', 'glm-5'],
    models: ['glm-5'],
    files: { '.codex/config.toml': 'web_search = "disabled"\n' },
  },
  { client: 'claude', setup: [] },
  { client: 'claude', setup: ['--slot', 'haiku', '--haiku-model', 'claude-haiku-4-5-20251001'] },
  { client: 'claude', setup: ['--slot', 'opus', '--reasoning-effort', 'low'] },
  {
    client: 'claude',
    setup: [],
    files: claudeEnv({ CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS: '1' }),
  },
  {
    client: 'claude',
    setup: [],
    files: claudeEnv({ CLAUDE_CODE_MAX_OUTPUT_TOKENS: '9000' }),
  },
  { client: 'claude', command: 'claude-gpt', setup: [] },
  ...over('opencode', 'chat', ['gpt-5.6-sol', 'glm-5']),
  ...over('opencode', 'responses', ['gpt-5.6-sol', 'glm-5']),
  ...over('opencode', 'messages', ['claude-sonnet-5-5', 'claude-haiku-4-5', 'glm-5']),
  ...over('droid', 'chat', ['glm-5']),
  ...over('droid', 'responses', ['gpt-5.6-sol']),
  ...over('droid', 'messages', ['claude-sonnet-5-5', 'glm-5']),
  ...over('pi', 'chat', ['gpt-5.6-sol', 'devstral-2512']),
  ...over('pi', 'responses', ['gpt-5.6-sol', 'devstral-2512']),
  ...over('pi', 'messages', ['claude-sonnet-5-5', 'devstral-2512']),
  ...over('kilo', 'chat', ['gpt-5.6-sol']),
  ...over('kilo', 'responses', ['gpt-5.6-sol']),
  ...over('kilo', 'messages', ['claude-haiku-4-5']),
  ...over('openclaw', 'chat', ['gpt-5.6-sol']),
  ...over('openclaw', 'responses', ['devstral-2512']),
  ...over('openclaw', 'messages', ['claude-sonnet-5-5', 'claude-haiku-4-5']),
  ...over('qwen', 'chat', ['gpt-5.6-sol', 'devstral-2512']),
  ...over('qwen', 'responses', ['gpt-5.6-sol']),
  ...over('qwen', 'messages', ['claude-sonnet-5-5', 'claude-haiku-4-5']),
  { client: 'qwen', setup: ['--model', 'gpt-5.6-sol', '--context-window', '30000'] },
  ...over('kimi', 'chat', ['gpt-5.6-sol', 'glm-5', 'claude-haiku-4-5']),
  ...over('kimi', 'responses', ['gpt-5.6-sol', 'claude-sonnet-5-5']),
  ...over('kimi', 'messages', ['claude-sonnet-5-5', 'claude-haiku-4-5', 'glm-5']),
  ...over('grok', 'chat', ['glm-5', 'grok-4.6']),
  ...over('grok', 'responses', ['glm-5']),
  ...over('grok', 'messages', ['claude-haiku-4-5', 'grok-4.6']),
  { client: 'cline', setup: ['--model', 'gpt-5.6-sol'] },
  { client: 'cline', setup: ['--model', 'glm-5'], models: ['glm-5'] },
  ...ofCopilot('openai', ['claude-sonnet-5', 'glm-5']),
  ...ofCopilot('openai-response', ['gpt-5.6-sol', 'glm-5']),
]

/** Copilot has no file, so that each of its runs chooses the protocol from the catalog. */
function ofCopilot(endpointType: string, models: readonly string[]): readonly Row[] {
  return models.map((id) => ({
    client: 'copilot',
    setup: ['--model', id, '--name', 'work'],
    models: [{ id, ownedBy: 'x', endpointTypes: [endpointType] }],
  }))
}

function over(client: string, protocol: string, models: readonly string[]): readonly Row[] {
  return models.map((model) => ({
    client,
    setup: ['--model', model, '--protocol', protocol],
    models: [model],
  }))
}

function claudeEnv(env: Readonly<Record<string, string>>) {
  return { '.claude/settings.json': JSON.stringify({ env }) }
}

test.each(rows)(
  '$client, $setup',
  { timeout: 300_000 },
  async ({ client, command = client, setup, models, files = {} }) => {
    const gateway = await withGateway(
      {
        key,
        ...(models && { models: [...models] }),
      },
      onTestFinished,
    )
    const version = installedVersions[client]?.at(-1)
    const home = aHome({ ...files, 'work/.keep': '' })
    putInBin(home, client, version ? installedClient(client, version) : [copilotProgram])
    const env = {
      REPOINT_API_KEY: key,
      REPOINT_BASE_URL: gateway.url,
      PATH: `${home.at('bin')}:${dirname(process.execPath)}:/usr/bin:/bin`,
      ...(version ? clients[client].env : { COPILOT_OFFLINE: 'true' }),
    }

    // Copilot has no files to change.
    const consent = version ? ['--yes', '--json'] : []
    const { status, stdout } = await runCli(home, [command, ...setup, ...consent], { env })
    expect({ status, stdout }).toMatchObject({ status: 0 })
    const probes = inferences(gateway.requests())
    gateway.clearRequests()
    if (version) await runClient(client, version, { home: home.path, cwd: home.at('work'), prompt })
    else
      await runCli(home, ['run', 'work', '--', client, '-p', prompt], { env, timeoutMs: 150_000 })
    const sent = inferences(gateway.requests()).find(({ json }) => hasTools(json))

    const model = sent!.modelAsked
    const probe = probes.find(({ modelAsked }) => modelAsked === model)
    expect(shapeOf(probe!)).toEqual(shapeOf(sent!))
  },
)

/** Grok Build requests a title first, with one tool that the model must call. */
function hasTools({
  tools = [],
  input = [],
  tool_choice: choice,
}: Readonly<Record<string, readonly object[]>>) {
  const isForced = ['function', 'tool'].includes(
    (choice as { type?: string } | undefined)?.type ?? '',
  )
  if (isForced) return false
  return tools.length > 0 || input.some((item) => 'tools' in item)
}

/** Only a probe limits the answer, and only Claude Code's terminal UI sends `safeguards`. */
const isOurs = (name: string, value: unknown) =>
  /^(?:max_output_tokens|safeguards)$/.test(name) || (name === 'max_tokens' && value === 16)
const ofTerminal = 'dangerous-tool-use-2026-09-03'
/** Headers of the connection and the key. */
const ofConnection =
  /^(?:accept(?:-.*)?|authorization|x-api-key|connection|content-length|host|user-agent|sec-fetch-.*)$/

function shapeOf({ path, headers, json }: LoggedRequest) {
  return {
    path,
    headers: Object.keys(headers)
      .filter((name) => !ofConnection.test(name))
      .sort(),
    betas: headers['anthropic-beta']
      ?.split(',')
      .filter((beta) => beta !== ofTerminal)
      .sort(),
    // pi names the version of the kernel, which differs between machines.
    agent: headers['user-agent']?.replace(/ repoint$/, '').replace(/linux [\w.-]+/, 'linux'),
    body: bodyShape(json),
  }
}

/** The members whose text matters to the gateway. */
const meaningful = new Set([
  ...['model', 'role', 'type', 'name', 'effort', 'summary', 'verbosity', 'reasoning_effort'],
  ...['tool_choice', 'context', 'display', 'keep', 'include', 'ttl'],
])

/** Names and types of all members, the values except texts, and the type and name of each tool. */
function bodyShape(value: unknown, name = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => bodyShape(item, name))
  if (typeof value === 'string') return meaningful.has(name) ? value : 'text'
  // pi reserves room for its prompt in the window, and its token count depends on the length of paths.
  if (typeof value === 'number' && value > 100_000) return Math.round(value / 100)
  if (value === null || typeof value !== 'object') return value
  if (name === 'tools') {
    const { function: { name: named = undefined } = {}, ...tool } = value as Record<string, never>
    const schemas = ['description', 'parameters', 'input_schema', 'format', 'output_schema']
    const members = Object.keys(tool).filter((member) => !schemas.includes(member))
    return { named, members: members.sort(), ...shapeIn(tool, ['type', 'name', 'tools']) }
  }
  return shapeIn(value as Record<string, unknown>)
}

function shapeIn(value: Record<string, unknown>, only?: readonly string[]) {
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, inner]) => !isOurs(name, inner) && (only?.includes(name) ?? true))
      .map(([name, inner]) => [name, bodyShape(inner, name)]),
  )
}
