import type { FirstRequest } from '../../gateway/types.ts'
import type { FirstRequestInput, LoadedFiles } from '../client.ts'
import { noReasoningCure, outputLimitCures } from '../flags.ts'
import { numberIn, tableIn, textIn } from '../loaded-files.ts'
import { modelOf, providerOf } from '../pi-family/providers.ts'
import { chatBody, responsesBody } from '../pi-family/request-bodies.ts'
import { isBefore } from '../tested.ts'
import { providers, readModels, readSettings, startingModel } from './config.ts'

/**
 * In tokens: the limit that pi sends for a model without one, and before 0.87.1 the most that it sends for
 * any model.
 */
const usualOutputTokens = 16_384
const mostOutputTokens = 32_000

/**
 * pi knows what these hosts do not accept (`detectCompat` of 0.73.1), so repoint predicts nothing for them.
 */
const knownHosts =
  /api\.z\.ai|api\.moonshot\.|cloudflare\.com|cerebras\.ai|api\.x\.ai|chutes\.ai|deepseek\.com|opencode\.ai|openrouter\.ai/

/**
 * Follows 0.73.1 and 0.87.1, which were run with a gateway that rejects one of these members, and with each
 * of the fixes (2026-11-23).
 */
export function firstRequest(
  files: LoadedFiles,
  { protocol, model, version }: FirstRequestInput,
): FirstRequest {
  const models = readModels(files)
  const { providerId = '' } = startingModel(readSettings(files))
  const provider = providerOf(providers, models, providerId)
  const { table, url = '' } = provider
  if (knownHosts.test(url)) return { body: {} }

  const entry = modelOf(provider, model) ?? {}
  const compat = { ...tableIn(table, ['compat']), ...tableIn(entry, ['compat']) }
  const isNew = version === undefined || !isBefore(version, '0.87.1')
  const most = numberIn(entry, ['maxTokens']) ?? usualOutputTokens
  const limit = isNew ? most : Math.min(most, mostOutputTokens)

  const level = textIn(readSettings(files).root, ['defaultThinkingLevel']) ?? 'medium'
  const effort = entry['reasoning'] === true && level === 'medium' ? level : undefined

  if (protocol === 'chat') {
    const unless = (member: string, value: string | false | undefined) =>
      compat[member] === false ? undefined : value
    const own = {
      store: unless('supportsStore', false),
      reasoning_effort: unless('supportsReasoningEffort', effort),
    }
    return { body: { ...chatBody(limit, compat), ...own }, hints }
  }
  if (protocol === 'responses')
    return { body: { ...responsesBody(limit, effort), prompt_cache_key: 'repoint' }, hints }

  const isAdaptive = compat['forceAdaptiveThinking'] === true
  const isAsked = isAdaptive && isNew
  // Up to 0.73.1 pi ignores that member, and decides by IDs that it knows; which version began to read it was
  // not tested.
  const isOld = version !== undefined && isBefore(version, '0.74.0') && /-5/.test(model)
  const isUnclear = isAdaptive && !isNew && !isOld
  const thinking = isAsked ? { type: 'adaptive' } : { type: 'enabled', budget_tokens: 8192 }
  return {
    body: {
      max_tokens: limit,
      thinking: effort && !isUnclear ? { ...thinking, display: 'summarized' } : undefined,
    },
    headers: {
      'anthropic-dangerous-direct-browser-access': 'true',
      ...(!isAsked && { 'anthropic-beta': 'interleaved-thinking-2025-05-14' }),
    },
    hints,
  }
}

/** The hint to configure what the gateway rejects, in the entry of the provider. */
function compatCure(member: string): string {
  return `Add "compat": {${member}} to the provider in models.json, then run the command again: pi leaves it out then.`
}

const hints = {
  ...outputLimitCures,
  max_completion_tokens:
    'Name a limit that the gateway takes: --output-limit TOKENS. Where it wants another name for the limit, add "compat": {"maxTokensField": "max_tokens"} to the provider in models.json, then run the command again.',
  stream_options: compatCure('"supportsUsageInStreaming": false'),
  store: compatCure('"supportsStore": false'),
  reasoning_effort: noReasoningCure,
  reasoning: noReasoningCure,
  include: noReasoningCure,
  thinking: noReasoningCure,
}
