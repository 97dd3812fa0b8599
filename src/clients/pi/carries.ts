import type { Carried } from '../../gateway/types.ts'
import type { Carrying, FileTexts } from '../client.ts'
import { outputLimitCure } from '../flags.ts'
import { numberIn, type Table, tableIn, textIn } from '../texts.ts'
import { providers, readModels, readSettings, startingModel } from './config.ts'
import { modelOf, providerOf } from './providers.ts'

/** In tokens: what it asks of a model without a limit, and before 0.87.1 of every model at most. */
const usualOutputTokens = 16_384
const mostOutputTokens = 32_000

/** Of these hosts pi knows what they do not take (`detectCompat` of 0.73.1): nothing is said of them. */
const knownHosts =
  /api\.z\.ai|api\.moonshot\.|cloudflare\.com|cerebras\.ai|api\.x\.ai|chutes\.ai|deepseek\.com|opencode\.ai|openrouter\.ai/

/**
 * As 0.73.1 and 0.87.1 ask, which were run against a gateway that refuses one of these, and with each
 * of the cures (2026-11-23).
 */
export function carries(texts: FileTexts, { protocol, model, version }: Carrying): Carried {
  const models = readModels(texts)
  const { providerId = '' } = startingModel(readSettings(texts))
  const provider = providerOf(providers, models, providerId)
  const { table, url = '' } = provider
  if (knownHosts.test(url)) return { body: {} }

  const entry = modelOf(provider, model) ?? {}
  const compat = { ...tableIn(table, ['compat']), ...tableIn(entry, ['compat']) }
  const isNew = version === undefined || !/^0\.(?:\d|[0-7]\d|8[0-6])\./.test(version)
  const most = numberIn(entry, ['maxTokens']) ?? usualOutputTokens
  const limit = isNew ? most : Math.min(most, mostOutputTokens)
  const level = textIn(readSettings(texts).root, ['defaultThinkingLevel']) ?? 'medium'
  const effort = entry['reasoning'] === true && level === 'medium' ? level : undefined
  // Older ones go by the ids that they know, and which began with this member was not looked for.
  const isUnclear = !isNew && compat['forceAdaptiveThinking'] === true && !/^0\.73\./.test(version)
  return {
    ...bodies[protocol](
      limit,
      isUnclear ? undefined : effort,
      isNew ? compat : { ...compat, forceAdaptiveThinking: false },
    ),
    cures,
  }
}

type Effort = string | undefined
type BodyOf = (limit: number, effort: Effort, compat: Table) => Omit<Carried, 'cures'>

const bodies: Readonly<Record<Carrying['protocol'], BodyOf>> = {
  chat: (limit, effort, compat) => ({
    body: {
      [textIn(compat, ['maxTokensField']) ?? 'max_completion_tokens']: limit,
      stream_options:
        compat['supportsUsageInStreaming'] === false ? undefined : { include_usage: true },
      store: compat['supportsStore'] === false ? undefined : false,
      reasoning_effort: compat['supportsReasoningEffort'] === false ? undefined : effort,
    },
  }),
  responses: (limit, effort) => ({
    body: {
      max_output_tokens: limit,
      prompt_cache_key: 'repoint',
      reasoning: effort && { effort, summary: 'auto' },
      include: effort && ['reasoning.encrypted_content'],
    },
  }),
  messages: (limit, effort, compat) => {
    const isAdaptive = compat['forceAdaptiveThinking'] === true
    const thinking = isAdaptive
      ? { type: 'adaptive', display: 'summarized' }
      : { type: 'enabled', budget_tokens: 8192, display: 'summarized' }
    return {
      body: { max_tokens: limit, thinking: effort && thinking },
      headers: {
        'anthropic-dangerous-direct-browser-access': 'true',
        ...(isAdaptive ? {} : { 'anthropic-beta': 'interleaved-thinking-2025-05-14' }),
      },
    }
  },
}

/** Where a model of pi's says what its gateway does not take. */
function compatCure(member: string): string {
  return `Add "compat": {${member}} to the provider in models.json, then run the command again: pi leaves it out then.`
}

const noReasoning = 'Say that the model does not reason: --no-reasoning.'
const cures = {
  max_completion_tokens: `${outputLimitCure.split('. ')[0]}. Or add "compat": {"maxTokensField": "max_tokens"} to the provider in models.json, then run the command again.`,
  max_output_tokens: outputLimitCure,
  max_tokens: outputLimitCure,
  stream_options: compatCure('"supportsUsageInStreaming": false'),
  store: compatCure('"supportsStore": false'),
  reasoning_effort: noReasoning,
  reasoning: noReasoning,
  include: noReasoning,
  thinking: noReasoning,
}
