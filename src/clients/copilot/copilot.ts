import { catalogEntry } from '../../gateway/models/rules.ts'
import type { FirstRequest } from '../../gateway/types.ts'
import type { ClientModule } from '../contract/client.ts'
import { type FirstRequestInput, launchKeyVariable } from '../contract/program.ts'
import { catalogIn } from '../contract/setup.ts'
import { emptyState } from '../contract/state.ts'
import { everyWindowKnown } from '../models/context-window.ts'
import { resolveOneModel } from '../models/resolve.ts'
import { recordedRequest } from '../program/recorded-request.ts'
import { ofNode } from '../program/tested.ts'
import responses from './responses.json' with { type: 'json' }

/** A backslash and an `n`: Copilot reads them as a line break. */
const headerSeparator = '\\n'

/** The variables of the provider. Each would override the settings of a run, or be sent along. */
const names = {
  baseUrl: 'COPILOT_PROVIDER_BASE_URL',
  key: 'COPILOT_PROVIDER_API_KEY',
  type: 'COPILOT_PROVIDER_TYPE',
  wireApi: 'COPILOT_PROVIDER_WIRE_API',
  headers: 'COPILOT_PROVIDER_HEADERS',
  model: 'COPILOT_MODEL',
  promptTokens: 'COPILOT_PROVIDER_MAX_PROMPT_TOKENS',
  outputTokens: 'COPILOT_PROVIDER_MAX_OUTPUT_TOKENS',
  others: [
    'COPILOT_PROVIDER_API_KEY_COMMAND',
    'COPILOT_PROVIDER_BEARER_TOKEN',
    'COPILOT_PROVIDER_TRANSPORT',
    'COPILOT_PROVIDER_MODEL_ID',
    'COPILOT_PROVIDER_WIRE_MODEL',
  ],
} as const

const protocols = ['chat', 'responses'] as const

/**
 * GitHub's agent for the terminal. It reads a gateway from its environment only, and needs no login for one.
 * After a rejected key it exits with status 1, after three requests. Facts: 1.0.102, run and from its
 * `copilot help providers`, 2026-11-22.
 */
export const copilot: ClientModule = {
  program: {
    command: 'copilot',
    packages: ['@github/copilot', '@github/copilot-*'],
    // `COPILOT_AUTO_UPDATE` disables updates (read in 1.0.102, 2026-11-24).
    updatesItself: true,
    testedVersions: ['1.0.102'],
    // 1.0.2 requires a login to GitHub (2026-11-23).
    minVersion: '1.0.20',
    pingArgs: (prompt) => ['-p', prompt],
    caFileVariables: ['NODE_EXTRA_CA_CERTS'],
    // A Node program; not yet run with a private certificate authority.
    certificateStores: ofNode,
    accepts: responses.protocols,
    tokens: { firstRequest: 15_400, oneWord: 15_400 },
    pingEnv: {},
    restartAdvice: '',
  },
  protocols,
  sends: { headers: true },
  config: {
    // Not run in a folder that has such files.
    sensitiveSettings: { codeWord: 'settings', rows: [] },
    folderFiles: [
      {
        patterns: ['.mcp.json', '.github/mcp.json', '.github/hooks/**', '.github/copilot/**'],
        reach: 'repository',
        source: 'docs.github.com, 2026-11-24',
      },
    ],
    interpolation: { names: null, values: /\\n/ },
    gatewayVariables: {
      addresses: [names.baseUrl],
      others: [names.key, names.type, names.wireApi, names.headers, names.model, ...names.others],
    },
    // A launch sets or unsets each of those above.
    variables: { families: ['COPILOT_PROVIDER_'], harmful: [], harmless: [] },
  },

  files: () => [],
  read: () => emptyState,
  checkNow: () => [],

  // It knows the windows of many models, and assumes a small one for the others.
  resolve(input) {
    const resolved = resolveOneModel(input, protocols, everyWindowKnown)
    const listed = catalogEntry(catalogIn(input.gatewayInfo), resolved.model)
    const offered = listed === undefined ? [] : [{ ...listed, protocol: resolved.protocol }]
    return { ...resolved, offered }
  },

  plan: () => [],
  checkSetup: () => [],
  firstRequest,

  launchSettings(_, target, { args, env }) {
    const headers = (target.headers ?? []).map(({ name, value }) => `${name}: ${value}`)
    const { contextWindow: window, offered } = target.resolved
    const output = offered[0]?.outputLimit
    // The window holds the answer too. Some lists give both the same size.
    const prompt = window && output && output < window ? window - output : window

    return {
      args,
      env: {
        ...env,
        [names.baseUrl]: target.baseUrl,
        [names.key]: env[launchKeyVariable],
        [names.type]: 'openai',
        [names.wireApi]: target.resolved.protocol === 'responses' ? 'responses' : 'completions',
        [names.model]: target.resolved.model,
        // What the user has set wins: it may be smaller than what the gateway's list says.
        [names.promptTokens]: env[names.promptTokens] ?? prompt?.toString(),
        [names.outputTokens]: env[names.outputTokens] ?? output?.toString(),
        [names.headers]: headers.length === 0 ? undefined : headers.join(headerSeparator),
        ...Object.fromEntries(names.others.map((name) => [name, undefined])),
      },
    }
  },

  gatewaySettings: () => ({}),
}

/** Models to which it sends no effort, although it sends one to the other models of these vendors. */
const withoutEffort = /^(?:gpt-4\.1|claude-sonnet-4|claude-(?:sonnet|opus|haiku)-4\.5)$/

/** The limit that it sends for models that it knows, in tokens. For any other model it sends no limit. */
const outputTokens: readonly (readonly [RegExp, number])[] = [
  [/^gpt-(?:5\.[2-6]|6-sol)/, 128_000],
  [
    /^gpt-5(?:\.1|-mini)$|^claude-(?:haiku-4\.5|(?:sonnet|opus)-4\.[6-8]|(?:sonnet|fable)-5)$/,
    64_000,
  ],
  [/^claude-(?:sonnet|opus)-4\.5$/, 32_000],
  [/^gpt-4\.1$/, 16_384],
]

/** GPT models that edit files by patches: 5.4 to 5.7, 6 and oss, but not 4.1, 5 and 5-mini (1.0.102, 2026-11-26). */
const patching = /^gpt-(?!4|5(?:\.1|-mini)?$)/

/** Over responses, their prompt has breakpoints for the cache: 5.6 and 6-sol, but not 5.5 and 5.7 (2026-11-26). */
const withBreakpoints = /^gpt-(?:5\.6|6-sol)/

/** What the model and the environment change in the recorded request: 1.0.102, run with 50 model IDs (2026-11-23). */
export async function firstRequest(
  _: unknown,
  { protocol, model, version, env, outputLimit }: FirstRequestInput,
): Promise<FirstRequest> {
  const { default: recordings } = await import('./first-requests.json', {
    with: { type: 'json' },
  })
  const isReasoning = /^(?:gpt|claude|gemini|grok)-/.test(model) && !withoutEffort.test(model)
  const named = Number(env[names.outputTokens]) || undefined
  const limit = named ?? outputLimit ?? outputTokens.find(([ids]) => ids.test(model))?.[1]
  const recorded = (kind: string) => recordedRequest(recordings, { kind, protocol, version })
  const ofGpt = recorded('gpt')
  const ofOthers = recorded(isReasoning ? 'reasoning' : 'plain')
  const { headers, body } = withBreakpoints.test(model) ? ofGpt : ofOthers
  const { tools } = (patching.test(model) ? ofGpt : ofOthers).body
  const limitName = protocol === 'responses' ? 'max_output_tokens' : 'max_tokens'
  return {
    headers,
    body: {
      ...body,
      tools,
      [limitName]: limit,
      ...(model.startsWith('gemini-') && { tool_choice: 'validated' }),
    },
    hints: { [limitName]: `Set ${names.outputTokens} to a limit that the gateway accepts.` },
  }
}
