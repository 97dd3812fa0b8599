import { compact } from '../../compact.ts'
import type { FirstRequest } from '../../gateway/types.ts'
import type { LoadedFiles } from '../contract/files.ts'
import type { FirstRequestInput, Recordings } from '../contract/program.ts'
import type { StrictFile } from '../files/strict-json.ts'
import { numberIn, type Table, tableIn, textIn } from '../files/tables.ts'
import { noReasoningCure, outputLimitCures } from '../options/flags.ts'
import { headersOfModel, modelOf, type PiProvider, providerOf } from '../pi-family/providers.ts'
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
  input: FirstRequestInput,
): FirstRequest {
  const settings = readSettings(files)
  const { providerId = '' } = startingModel(settings)
  const provider = providerOf(providerFormat, readModels(files), providerId)
  const addedHeaders = headersOfModel(provider, input.model)
  return { ...requestOf(recordings, settings, provider, input), addedHeaders }
}

function requestOf(
  recordings: Recordings,
  settings: StrictFile,
  provider: PiProvider,
  { protocol, model, version }: FirstRequestInput,
): FirstRequest {
  const recorded = (kind: 'plain' | 'reasoning') =>
    recordedRequest(recordings, { kind, protocol, version })

  if (knownHosts.test(provider.url ?? '')) {
    const { messages, input, system, tools, stream } = recorded('plain').body
    return { body: compact({ messages, input, system, tools, stream }) }
  }

  const entry = modelOf(provider, model) ?? {}
  const compat = { ...tableIn(provider.table, ['compat']), ...tableIn(entry, ['compat']) }
  const limit = tokenLimit(entry, version)
  // The recordings have only the usual level.
  const level = textIn(settings.root, ['defaultThinkingLevel']) ?? 'medium'
  const isReasoning = entry['reasoning'] === true && level === 'medium'

  if (protocol === 'messages') {
    const isAdaptive = compat['forceAdaptiveThinking'] === true
    const thinking = isAdaptive ? thinkingOfAdaptive(model, version) : 'budget'
    const { body, ...usual } = recorded(
      isReasoning && thinking === 'adaptive' ? 'reasoning' : 'plain',
    )
    const request = { ...usual, body: { ...body, max_tokens: limit }, hints }
    return isReasoning && thinking === 'budget' ? withThinkingBudget(request) : request
  }

  const { headers, body } = recorded(isReasoning ? 'reasoning' : 'plain')
  if (protocol === 'responses')
    return { headers, body: { ...body, max_output_tokens: limit }, hints }
  return { headers, body: chatBody(body, compat, limit), hints }
}

/** The limit that pi sends, in tokens. */
function tokenLimit(entry: Table, version: string | undefined): number {
  const ofModel = numberIn(entry, ['maxTokens']) ?? usualOutputTokens
  const window = numberIn(entry, ['contextWindow']) ?? Number.POSITIVE_INFINITY
  return Math.min(ofModel, leavesRoomForPrompt(version) ? window - promptTokens : mostOutputTokens)
}

/** The recorded body, with the changes that `compat` of the entries makes. */
function chatBody(recorded: FirstRequest['body'], compat: Table, limit: number) {
  const { max_completion_tokens: _, ...usual } = recorded
  const lacks = (member: string) => compat[member] === false
  return {
    ...usual,
    [textIn(compat, ['maxTokensField']) ?? 'max_completion_tokens']: limit,
    ...(lacks('supportsUsageInStreaming') && { stream_options: undefined }),
    ...(lacks('supportsStore') && { store: undefined }),
    ...(lacks('supportsReasoningEffort') && { reasoning_effort: undefined }),
  }
}

/**
 * How a model thinks whose entry says that it must choose itself. `unclear`: the probe sends a request without
 * thinking.
 */
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

function withThinkingBudget(request: FirstRequest): FirstRequest {
  return {
    ...request,
    headers: { ...request.headers, 'anthropic-beta': 'interleaved-thinking-2025-05-14' },
    body: {
      ...request.body,
      thinking: { type: 'enabled', budget_tokens: 8192, display: 'summarized' },
    },
  }
}

/** The hint to configure what the gateway rejects, in the entry of the provider. */
function compatCure(member: string): string {
  return `Add "compat": {${member}} to the provider in models.json, then run the command again.`
}

const hints = {
  ...outputLimitCures,
  max_completion_tokens:
    'Name a limit that the gateway accepts: {--output-limit TOKENS}. If the gateway rejects the name of the limit, add "compat": {"maxTokensField": "max_tokens"} to the provider in models.json.',
  stream_options: compatCure('"supportsUsageInStreaming": false'),
  store: compatCure('"supportsStore": false'),
  reasoning_effort: noReasoningCure,
  reasoning: noReasoningCure,
  include: noReasoningCure,
  thinking: noReasoningCure,
}
