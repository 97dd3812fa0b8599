import type { FirstRequest } from '../../gateway/types.ts'
import type { FirstRequestInput, LoadedFiles } from '../client.ts'
import { outputLimitCures } from '../flags.ts'
import { fileOf, numberIn, tableIn } from '../loaded-files.ts'
import { defaultOutputTokens, readSettings } from './settings.ts'

/**
 * Over chat: 0.215.0 and 0.225.2, of which the newest was run against rejections of each member
 * (2026-11-23). Over responses with three GPT models and over messages with three Claude models: both
 * versions (2026-11-26).
 */
export function firstRequest(
  files: LoadedFiles,
  { model, protocol }: FirstRequestInput,
): FirstRequest {
  const { models } = readSettings(fileOf(files, 'settings'))
  const entry = models.find((one) => one.entry['model'] === model)?.entry
  const limit = numberIn(entry, ['maxOutputTokens']) ?? defaultOutputTokens
  // droid adds them over every protocol.
  const extra = tableIn(entry, ['extraArgs'])

  if (protocol === 'responses')
    return {
      body: {
        store: false,
        tool_choice: 'auto',
        parallel_tool_calls: true,
        include: ['reasoning.encrypted_content'],
        reasoning: { effort: 'high', summary: 'auto' },
        text: { verbosity: 'low' },
        prompt_cache_key: 'repoint',
        safety_identifier: 'repoint',
        ...extra,
      },
    }

  if (protocol === 'messages') {
    const thinks = /claude-(?:opus|sonnet)-5/.test(model)
    return {
      body: {
        max_tokens: limit,
        thinking: thinks ? { type: 'adaptive', display: 'summarized' } : undefined,
        output_config: thinks ? { effort: 'high' } : undefined,
        ...extra,
      },
      hints: outputLimitCures,
    }
  }

  return {
    body: {
      max_tokens: limit,
      stream_options: { include_usage: true },
      temperature: 1,
      ...extra,
    },
    hints: outputLimitCures,
  }
}
