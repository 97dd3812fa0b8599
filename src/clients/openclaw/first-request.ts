import type { FirstRequest } from '../../gateway/types.ts'
import type { FirstRequestInput, LoadedFiles } from '../client.ts'
import { noReasoningCure, outputLimitCures } from '../flags.ts'
import { numberIn, type Table, tableIn, textIn, valueIn } from '../loaded-files.ts'
import { modelOf, providerOf } from '../pi-family/providers.ts'
import { providers, readConfig, startingModel } from './config.ts'

/** In tokens: the limit that OpenClaw sends for a model without one. */
const usualOutputTokens = 8192

/** OpenClaw lets these models choose how much they reason, even if the file does not say that they reason. */
const adaptive = /claude-(?:opus|sonnet)-5/

/**
 * Follows 2026.9.5 and 2026.9.6, which were run over each protocol, and with a gateway that rejects one of
 * these members: they do not retry without it (2026-11-23).
 */
export function firstRequest(
  files: LoadedFiles,
  { model, protocol }: FirstRequestInput,
): FirstRequest {
  const file = readConfig(files)
  const { providerId = '' } = startingModel(file)
  const provider = providerOf(providers, file, providerId)
  const entry = modelOf(provider, model) ?? {}
  const limit =
    numberIn(entry, ['maxTokens']) ?? numberIn(provider.table, ['maxTokens']) ?? usualOutputTokens
  // A setting for all agents may choose how much the model reasons.
  const isUsual = valueIn(file.root, ['agents', 'defaults', 'thinkingDefault']) === undefined
  const thinks = isUsual && entry['reasoning'] === true

  if (protocol === 'chat')
    return {
      body: { ...chatBody(limit, tableIn(entry, ['compat'])), tool_choice: 'auto' },
      hints: {
        ...outputLimitCures,
        max_completion_tokens: compatCure('"maxTokensField": "max_tokens"'),
        stream_options: compatCure('"supportsUsageInStreaming": false'),
      },
    }
  if (protocol === 'responses')
    return {
      body: responsesBody(limit, thinks ? 'medium' : undefined),
      hints: { ...outputLimitCures, reasoning: noReasoningCure, include: noReasoningCure },
    }

  const isAdaptive = isUsual && adaptive.test(model)
  // How its other models reason was not run.
  const budgets = thinks && (!model.includes('claude') || model.includes('haiku')) && limit > 2048
  const budget = { type: 'enabled', budget_tokens: Math.min(8192, limit - 1024) }
  const ownWay = { type: 'adaptive', display: 'summarized' }
  return {
    body: {
      max_tokens: limit,
      thinking: isAdaptive ? ownWay : budgets ? budget : undefined,
      output_config: isAdaptive ? { effort: 'high' } : undefined,
    },
    headers: { 'anthropic-dangerous-direct-browser-access': 'true' },
    hints: { ...outputLimitCures, ...(!isAdaptive && { thinking: noReasoningCure }) },
  }
}

/** The hint to configure what the gateway rejects, in the entry of the model. Each was run. */
function compatCure(member: string): string {
  return `Add "compat": {${member}} to the model in openclaw.json, then run the command again.`
}

/** @param limit in tokens. @param compat of the model */
function chatBody(limit: number, compat: Table) {
  const isCounting = compat['supportsUsageInStreaming'] !== false
  return {
    [textIn(compat, ['maxTokensField']) ?? 'max_completion_tokens']: limit,
    stream_options: isCounting ? { include_usage: true } : undefined,
  }
}

/** @param limit in tokens */
function responsesBody(limit: number, effort: string | undefined) {
  return {
    max_output_tokens: limit,
    reasoning: effort && { effort, summary: 'auto' },
    include: effort && ['reasoning.encrypted_content'],
  }
}
