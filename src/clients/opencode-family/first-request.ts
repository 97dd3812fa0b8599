import type { ConfigValue, SettingChange, SettingPath } from '../../edits/types.ts'
import { asObject } from '../../gateway/foreign-text.ts'
import type { FirstRequest, Protocol } from '../../gateway/types.ts'
import type { LoadedFiles } from '../contract/files.ts'
import type { FirstRequestInput, Recordings } from '../contract/program.ts'
import { isTable, numberIn, overlaid, type Table, tableIn, textIn } from '../files/tables.ts'
import { effortCure, noReasoningCure, outputLimitCures } from '../options/flags.ts'
import { readHeaders } from '../plan/headers.ts'
import { recordedRequest, withBetas } from '../program/recorded-request.ts'
import { mergedConfig, providerIdInUse, providerOf } from './config.ts'
import { effortPath } from './flags.ts'
import type { Fork } from './fork.ts'
import { defaultOutputTokens } from './plan.ts'

/** What the model's entry in the config changes in the recorded request. */
export function firstRequest(
  fork: Fork,
  recordings: Recordings,
  files: LoadedFiles,
  input: FirstRequestInput,
): FirstRequest {
  const { value } = mergedConfig(files)
  const { table } = providerOf(value, providerIdInUse(value))
  const addedHeaders = readHeaders(tableIn(table, ['models', input.model, 'headers'])).headers
  return { ...requestOf(fork, recordings, table, input), addedHeaders }
}

function requestOf(
  { id, asksForNoLimit }: Fork,
  recordings: Recordings,
  table: Table,
  { model, protocol, version }: FirstRequestInput,
): FirstRequest {
  const largest = numberIn(table, ['models', model, 'limit', 'output']) || defaultOutputTokens
  const limit = Math.min(largest, defaultOutputTokens)
  const effort = textIn(table, ['models', model, ...effortPath(protocol)])

  const kind = kindOf(protocol, model)
  const { headers, body } = recordedRequest(recordings, { kind, protocol, version })
  const isReasoning = kind === 'gpt' && !/gpt-5-(?:chat|pro)/i.test(model)
  const usual = kind === 'gpt' && !isReasoning ? withoutReasoning(body) : body

  const options = tableIn(table, ['models', model, 'options'])
  const { added, removalCures } = addedByOptions(id, options, protocol)

  if (protocol === 'responses') {
    const ofGpt = recordedRequest(recordings, { kind: 'gpt', protocol, version }).body['reasoning']
    const reasoning = effort ? { ...asObject(ofGpt), effort } : usual['reasoning']
    return {
      headers,
      body: withMembers({ ...usual, max_output_tokens: limit, reasoning }, added),
      hints: { ...removalCures, ...outputLimitCures, reasoning: noReasoningCure },
    }
  }

  if (protocol === 'messages')
    return {
      headers: options['speed'] === 'fast' ? withBetas(headers, fastMode) : headers,
      body: withMembers(
        { ...usual, max_tokens: limit, ...(effort && { output_config: { effort } }) },
        added,
      ),
      hints: {
        ...removalCures,
        ...outputLimitCures,
        ...(effort && { output_config: effortCure }),
        thinking: `Add "options": {"thinking": {"type": "disabled"}} to the model in the config of ${id}, then run the command again.`,
      },
    }

  // The older Kilo sends a limit to every model.
  const isUnlimited = asksForNoLimit?.test(model) && usual['max_tokens'] === undefined
  return {
    headers,
    body: {
      ...withMembers(usual, added),
      max_tokens: isUnlimited ? undefined : limit,
      reasoning_effort: effort ?? usual['reasoning_effort'],
    },
    hints: {
      ...removalCures,
      ...outputLimitCures,
      ...(effort && { reasoning_effort: effortCure }),
    },
  }
}

/**
 * The members of the body that the options of a model become (1.18.34, 2026-11-28). Over chat, every other option is
 * sent under its own name, and over the other protocols it is ignored. The effort of a reasoning model is not here.
 */
const membersOfOptions: Readonly<Record<Protocol, Readonly<Record<string, SettingPath>>>> = {
  chat: { textVerbosity: ['verbosity'] },
  responses: {
    maxToolCalls: ['max_tool_calls'],
    metadata: ['metadata'],
    parallelToolCalls: ['parallel_tool_calls'],
    promptCacheKey: ['prompt_cache_key'],
    promptCacheRetention: ['prompt_cache_retention'],
    reasoningSummary: ['reasoning', 'summary'],
    safetyIdentifier: ['safety_identifier'],
    serviceTier: ['service_tier'],
    store: ['store'],
    textVerbosity: ['text', 'verbosity'],
    truncation: ['truncation'],
    user: ['user'],
  },
  messages: {
    cacheControl: ['cache_control'],
    speed: ['speed'],
    thinking: ['thinking'],
  },
}

/** What `"speed": "fast"` adds to the header. */
const fastMode = 'fast-mode-2026-02-01'

/** What the user's own options of a model add to the body, and the cure if the gateway rejects one. */
function addedByOptions(id: string, options: Table, protocol: Protocol) {
  const known = membersOfOptions[protocol]
  const added = Object.entries(options).flatMap(([name, value]): readonly SettingChange[] => {
    if (name === 'reasoningEffort') return []
    const path = known[name] ?? (protocol === 'chat' ? [name] : undefined)
    return path === undefined ? [] : [{ path, value: inSnakeCase(value, protocol) }]
  })
  const cureFor = (name: string) =>
    `Remove the option for ${name} from the model in the config of ${id}, then run the command again.`
  const names = added.map(({ path: [name] }) => String(name))
  return {
    added,
    removalCures: Object.fromEntries(names.map((name) => [name, cureFor(name)])),
  }
}

/** The budget of `thinking` has another name in the request. */
function inSnakeCase(value: ConfigValue, protocol: Protocol): ConfigValue {
  if (protocol !== 'messages' || !isTable(value)) return value
  const { budgetTokens, ...others } = value
  return budgetTokens === undefined ? value : { ...others, budget_tokens: budgetTokens }
}

function withMembers(
  body: FirstRequest['body'],
  added: readonly SettingChange[],
): FirstRequest['body'] {
  return overlaid(body as Table, added)
}

/** opencode chooses tools and reasoning by the vendor of the model (1.2.27 to 1.18.34, 2026-11-26). */
function kindOf(protocol: Protocol, model: string): string {
  if (protocol === 'messages') {
    if (/claude-[a-z]+-5/.test(model)) return 'thinking'
    return model.includes('claude') ? 'claude' : 'other'
  }

  return /gpt-(?!4)/i.test(model) && !/oss/i.test(model) ? 'gpt' : 'other'
}

function withoutReasoning(body: FirstRequest['body']): FirstRequest['body'] {
  const { reasoning, reasoning_effort, reasoningSummary, verbosity, text, ...others } = body
  return others
}
