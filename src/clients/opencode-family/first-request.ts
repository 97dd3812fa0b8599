import type { FirstRequest } from '../../gateway/types.ts'
import type { FirstRequestInput, LoadedFiles } from '../client.ts'
import { noReasoningCure, outputLimitCures } from '../flags.ts'
import { numberIn, textIn } from '../loaded-files.ts'
import { isBefore } from '../tested.ts'
import { chosenProvider, mergedConfig, providerOf } from './config.ts'
import type { Layout } from './layout.ts'
import { defaultOutputTokens, effortPath } from './plan.ts'

/**
 * The first request over chat: opencode 1.2.27 and 1.18.34, Kilo 7.0.33 and 7.7.9, of which the newest
 * were run against rejections of each member (2026-11-23). Over the other protocols: opencode 1.2.27,
 * 1.14.41, 1.18.3 and 1.18.34, Kilo 7.0.33 and 7.7.9 (2026-11-26).
 */
export function firstRequest(
  { id, asksForNoLimit }: Layout,
  files: LoadedFiles,
  { model, protocol, version }: FirstRequestInput,
): FirstRequest {
  const { value } = mergedConfig(files)
  const { table } = providerOf(value, chosenProvider(value))
  const largest = numberIn(table, ['models', model, 'limit', 'output']) || defaultOutputTokens
  const limit = Math.min(largest, defaultOutputTokens)
  const isReasoning = /gpt-5(?!-chat|-pro)/i.test(model)
  const named = textIn(table, ['models', model, ...effortPath(protocol)])
  const effort = named ?? (isReasoning ? 'medium' : undefined)
  const isSince = (since: string) => version === undefined || !isBefore(version, since)

  if (protocol === 'responses')
    return {
      body: {
        max_output_tokens: limit,
        store: false,
        include: ['reasoning.encrypted_content'],
        tool_choice: 'auto',
        text: isReasoning ? { verbosity: 'low' } : undefined,
        reasoning: effort && { effort, summary: isDetailed(id, isSince) ? 'detailed' : 'auto' },
        prompt_cache_key: id === 'kilo' || isSince('1.18.3') ? 'repoint' : undefined,
      },
      hints: { ...outputLimitCures, reasoning: noReasoningCure },
    }

  if (protocol === 'messages') {
    // For the versions between 1.18.3 and 1.18.34 it is unknown.
    const thinks = id === 'opencode' && isSince('1.18.34') && /claude-[a-z]+-5/.test(model)
    return {
      keyHeader: 'x-api-key',
      body: {
        max_tokens: limit,
        tool_choice: { type: 'auto' },
        thinking: thinks ? adaptiveThinking : undefined,
        output_config: named && { effort: named },
      },
      ...(thinks && { headers: { 'anthropic-beta': bindingBetas } }),
      hints: {
        ...outputLimitCures,
        thinking: `Add "options": {"thinking": {"type": "disabled"}} to the model in the config of ${id}, then run the command again.`,
      },
    }
  }

  return {
    body: {
      max_tokens: asksForNoLimit?.test(model) ? undefined : limit,
      stream_options: { include_usage: true },
      tool_choice: 'auto',
      reasoning_effort: effort,
    },
    hints: outputLimitCures,
  }
}

function isDetailed(id: string, isSince: (version: string) => boolean): boolean {
  return id === 'kilo' && isSince('7.7.9')
}

const adaptiveThinking = {
  type: 'adaptive',
  block_binding: { prefix_mismatch_behavior: 'drop_block' },
}

const bindingBetas = 'thinking-binding-controls-2026-08-01,structured-outputs-2025-11-13'
