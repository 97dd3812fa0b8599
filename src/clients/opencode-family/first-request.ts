import { asObject } from '../../gateway/foreign-text.ts'
import type { FirstRequest, Protocol } from '../../gateway/types.ts'
import type { LoadedFiles } from '../contract/files.ts'
import type { FirstRequestInput, Recordings } from '../contract/program.ts'
import { numberIn, textIn } from '../files/tables.ts'
import { effortCure, noReasoningCure, outputLimitCures } from '../options/flags.ts'
import { recordedRequest } from '../program/recorded-request.ts'
import { mergedConfig, providerIdInUse, providerOf } from './config.ts'
import { effortPath } from './flags.ts'
import type { Fork } from './fork.ts'
import { defaultOutputTokens } from './plan.ts'

/** What the model's entry in the config changes in the recorded request. */
export function firstRequest(
  { id, asksForNoLimit }: Fork,
  recordings: Recordings,
  files: LoadedFiles,
  { model, protocol, version }: FirstRequestInput,
): FirstRequest {
  const { value } = mergedConfig(files)
  const { table } = providerOf(value, providerIdInUse(value))
  const largest = numberIn(table, ['models', model, 'limit', 'output']) || defaultOutputTokens
  const limit = Math.min(largest, defaultOutputTokens)
  const effort = textIn(table, ['models', model, ...effortPath(protocol)])

  const kind = kindOf(protocol, model)
  const { headers, body } = recordedRequest(recordings, { kind, protocol, version })
  const isReasoning = kind === 'gpt' && !/gpt-5-(?:chat|pro)/i.test(model)
  const usual = kind === 'gpt' && !isReasoning ? withoutReasoning(body) : body

  if (protocol === 'responses') {
    const ofGpt = recordedRequest(recordings, { kind: 'gpt', protocol, version }).body['reasoning']
    const reasoning = effort ? { ...asObject(ofGpt), effort } : usual['reasoning']
    return {
      headers,
      body: { ...usual, max_output_tokens: limit, reasoning },
      hints: { ...outputLimitCures, reasoning: noReasoningCure },
    }
  }

  if (protocol === 'messages')
    return {
      headers,
      body: {
        ...usual,
        max_tokens: limit,
        ...(effort && { output_config: { effort } }),
      },
      hints: {
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
      ...usual,
      max_tokens: isUnlimited ? undefined : limit,
      reasoning_effort: effort ?? usual['reasoning_effort'],
    },
    hints: { ...outputLimitCures, ...(effort && { reasoning_effort: effortCure }) },
  }
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
