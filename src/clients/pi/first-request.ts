import { compact } from '../../compact.ts'
import type { FirstRequest } from '../../gateway/types.ts'
import type { LoadedFiles } from '../contract/files.ts'
import type { FirstRequestInput, Recordings } from '../contract/program.ts'
import { numberIn, tableIn, textIn } from '../files/tables.ts'
import { noReasoningCure, outputLimitCures } from '../options/flags.ts'
import { modelOf, providerOf } from '../pi-family/providers.ts'
import { recordedRequest } from '../program/recorded-request.ts'
import { providerFormat, readModels, readSettings, startingModel } from './config.ts'
import { leavesRoomForPrompt, readsAdaptiveThinking } from './versions.ts'

/** In tokens: the limit that pi sends for a model without one. */
const usualOutputTokens = 16_384
/** In tokens: the most that an older version sends, which leaves no room for the prompt. */
const mostOutputTokens = 32_000
/** In tokens: about the size of its first prompt. */
const promptTokens = 5_498

/**
 * pi knows what these hosts do not accept (`detectCompat` of 0.73.1), so repoint predicts nothing for them.
 */
const knownHosts =
  /api\.z\.ai|api\.moonshot\.|cloudflare\.com|cerebras\.ai|api\.x\.ai|chutes\.ai|deepseek\.com|opencode\.ai|openrouter\.ai/

/**
 * What the entries of the model and its provider change in the recorded request. 0.73.1 and 0.87.1 were run with
 * each of the fixes (2026-11-23).
 */
export function firstRequest(
  recordings: Recordings,
  files: LoadedFiles,
  { protocol, model, version }: FirstRequestInput,
): FirstRequest {
  const models = readModels(files)
  const { providerId = '' } = startingModel(readSettings(files))
  const provider = providerOf(providerFormat, models, providerId)
  const { table, url = '' } = provider
  const recorded = (kind: string) => recordedRequest(recordings, { kind, protocol, version })
  if (knownHosts.test(url)) {
    const { messages, input, system, tools, stream } = recorded('plain').body
    return { body: compact({ messages, input, system, tools, stream }) }
  }

  const entry = modelOf(provider, model) ?? {}
  const compat = { ...tableIn(table, ['compat']), ...tableIn(entry, ['compat']) }
  const most = numberIn(entry, ['maxTokens']) ?? usualOutputTokens
  const window = numberIn(entry, ['contextWindow']) ?? Number.POSITIVE_INFINITY
  const limit = Math.min(
    most,
    leavesRoomForPrompt(version) ? window - promptTokens : mostOutputTokens,
  )

  const level = textIn(readSettings(files).root, ['defaultThinkingLevel']) ?? 'medium'
  const effort = entry['reasoning'] === true && level === 'medium' ? level : undefined

  const first = recorded(effort ? 'reasoning' : 'plain')
  const { headers, body } = first

  if (protocol === 'chat') {
    const { max_completion_tokens: _, ...usual } = body
    const lacks = (member: string) => compat[member] === false
    return {
      headers,
      body: {
        ...usual,
        [textIn(compat, ['maxTokensField']) ?? 'max_completion_tokens']: limit,
        ...(lacks('supportsUsageInStreaming') && { stream_options: undefined }),
        ...(lacks('supportsStore') && { store: undefined }),
        ...(lacks('supportsReasoningEffort') && { reasoning_effort: undefined }),
      },
      hints,
    }
  }
  if (protocol === 'responses')
    return { headers, body: { ...body, max_output_tokens: limit }, hints }

  const isAdaptive = compat['forceAdaptiveThinking'] === true
  const thinking = isAdaptive ? thinkingOfAdaptive(model, version) : 'budget'
  const { query, ...usual } = thinking === 'adaptive' ? first : recorded('plain')
  const isBudgeted = effort !== undefined && thinking === 'budget'
  return {
    ...(query !== undefined && { query }),
    headers: {
      ...usual.headers,
      ...(isBudgeted && { 'anthropic-beta': 'interleaved-thinking-2025-05-14' }),
    },
    body: {
      ...usual.body,
      max_tokens: limit,
      ...(isBudgeted && {
        thinking: { type: 'enabled', budget_tokens: 8192, display: 'summarized' },
      }),
    },
    hints,
  }
}

/** How a model thinks whose entry says that it must choose itself. */
function thinkingOfAdaptive(
  model: string,
  version: string | undefined,
): 'adaptive' | 'budget' | 'unclear' {
  switch (readsAdaptiveThinking(version)) {
    case 'yes':
      return 'adaptive'
    case 'no':
      // Such a version does not know Claude 5. It may know the older models.
      return /-5/.test(model) ? 'budget' : 'unclear'
    case 'unknown':
      return 'unclear'
  }
}

/** The hint to configure what the gateway rejects, in the entry of the provider. */
function compatCure(member: string): string {
  return `Add "compat": {${member}} to the provider in models.json, then run the command again.`
}

const hints = {
  ...outputLimitCures,
  max_completion_tokens:
    'Name a limit that the gateway accepts: --output-limit TOKENS. If the gateway rejects the name of the limit, add "compat": {"maxTokensField": "max_tokens"} to the provider in models.json.',
  stream_options: compatCure('"supportsUsageInStreaming": false'),
  store: compatCure('"supportsStore": false'),
  reasoning_effort: noReasoningCure,
  reasoning: noReasoningCure,
  include: noReasoningCure,
  thinking: noReasoningCure,
}
