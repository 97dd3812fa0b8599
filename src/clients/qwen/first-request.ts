import type { FirstRequest, Protocol } from '../../gateway/types.ts'
import type { FirstRequestInput, LoadedFiles } from '../client.ts'
import { outputLimitCures } from '../flags.ts'
import { numberIn, valueIn } from '../loaded-files.ts'
import {
  isAdaptive,
  isLargeOpus,
  knowsWindow,
  oldOutputTokens,
  opusOutputTokens,
  rejectsTemperature,
  thinkingBudget,
  usualOutputTokens,
} from './models.ts'
import { mergedSettings, ownEntries, paths } from './settings.ts'

/**
 * Over chat: 0.15.10 and 0.24.4; the newest was run with rejections of each member (2026-11-23). Over
 * responses and messages: run with 0.24.4, and read in its program (2026-11-26).
 */
export function firstRequest(
  files: LoadedFiles,
  { model, protocol, version }: FirstRequestInput,
): FirstRequest {
  const own = ownEntries(mergedSettings(files).value).find(({ id }) => id === model)
  const limit = numberIn(own?.entry, ['generationConfig', 'samplingParams', 'max_tokens'])
  // Models of other families were not run.
  const isOlder = version?.startsWith('0.15.') || !knowsWindow(model)
  const usual = isOlder ? oldOutputTokens : usualOutputTokens

  const bodies: Readonly<Record<Protocol, Readonly<Record<string, unknown>>>> = {
    chat: { max_tokens: limit ?? usual, stream_options: { include_usage: true } },
    responses: {
      max_output_tokens: limit ?? usual,
      store: false,
      tool_choice: 'auto',
      parallel_tool_calls: true,
      prompt_cache_key: 'repoint',
    },
    messages: {
      max_tokens: limit ?? (isLargeOpus(model) ? opusOutputTokens : usualOutputTokens),
      temperature: rejectsTemperature(model) ? undefined : 1,
      thinking: valueIn(own?.entry, paths.reasoning) === false ? undefined : thinkingOf(model),
    },
  }
  return { body: bodies[protocol], hints: outputLimitCures }
}

function thinkingOf(model: string) {
  return isAdaptive(model)
    ? { type: 'adaptive', display: 'summarized' }
    : { type: 'enabled', budget_tokens: thinkingBudget }
}
