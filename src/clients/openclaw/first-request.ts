import type { FirstRequest } from '../../gateway/types.ts'
import type { LoadedFiles } from '../contract/files.ts'
import type { FirstRequestInput, Recordings } from '../contract/program.ts'
import type { StrictFile } from '../files/strict-json.ts'
import { numberIn, tableIn, textIn, valueIn } from '../files/tables.ts'
import { noReasoningCure, outputLimitCures } from '../options/flags.ts'
import { headersOfModel, modelOf, type PiProvider, providerOf } from '../pi-family/providers.ts'
import { recordedRequest } from '../program/recorded-request.ts'
import { providerFormat, readConfig, startingModel } from './config.ts'

/** In tokens: the limit that OpenClaw sends for a model without one. */
const usualOutputTokens = 8192

/** OpenClaw lets these models choose how much they reason, even if the file does not say that they reason. */
const adaptive = /claude-(?:opus|sonnet)-5/

/**
 * What the entries of the model and its provider change in the recorded request. OpenClaw does not retry without a
 * member that the gateway rejects.
 */
export function firstRequest(
  recordings: Recordings,
  files: LoadedFiles,
  input: FirstRequestInput,
): FirstRequest {
  const file = readConfig(files)
  const { providerId = '' } = startingModel(file)
  const provider = providerOf(providerFormat, file, providerId)
  const addedHeaders = headersOfModel(provider, input.model)
  return { ...requestOf(recordings, file, provider, input), addedHeaders }
}

function requestOf(
  recordings: Recordings,
  file: StrictFile,
  provider: PiProvider,
  { model, protocol, version }: FirstRequestInput,
): FirstRequest {
  const entry = modelOf(provider, model) ?? {}
  const compat = tableIn(entry, ['compat'])
  const limit =
    numberIn(entry, ['maxTokens']) ?? numberIn(provider.table, ['maxTokens']) ?? usualOutputTokens
  // A setting for all agents may choose how much the model reasons.
  const isUsual = valueIn(file.root, ['agents', 'defaults', 'thinkingDefault']) === undefined
  const isReasoning = isUsual && entry['reasoning'] === true
  const isAdaptive = isUsual && adaptive.test(model)
  // How its other models reason was not run.
  const isBudgeted = isReasoning && (!model.includes('claude') || model.includes('haiku'))

  const recorded = (kind: string) => recordedRequest(recordings, { kind, protocol, version })
  const seeing = protocol === 'messages' ? 'adaptive' : 'reasoning'
  // It offers a tool for pictures to the models that accept them.
  const input = valueIn(entry, ['input'])
  const isSeeing = Array.isArray(input) && input.includes('image')
  const { tools } = recorded(isSeeing ? seeing : 'plain').body

  if (protocol === 'chat') {
    const { headers, body } = recorded(isReasoning ? 'reasoning' : 'plain')
    const { max_completion_tokens: _, ...usual } = body
    return {
      headers,
      body: {
        ...usual,
        tools,
        [textIn(compat, ['maxTokensField']) ?? 'max_completion_tokens']: limit,
        ...(compat['supportsUsageInStreaming'] === false && { stream_options: undefined }),
      },
      hints: {
        ...outputLimitCures,
        max_completion_tokens: compatCure('"maxTokensField": "max_tokens"'),
        stream_options: compatCure('"supportsUsageInStreaming": false'),
      },
    }
  }

  if (protocol === 'responses') {
    const { headers, body } = recorded(isReasoning ? 'reasoning' : 'plain')
    return {
      headers,
      body: { ...body, tools, max_output_tokens: limit },
      hints: { ...outputLimitCures, reasoning: noReasoningCure, include: noReasoningCure },
    }
  }

  const hasBudget = isBudgeted && limit > 2048
  const { headers, body } = recorded(isAdaptive ? 'adaptive' : hasBudget ? 'budget' : 'plain')
  const budget = { type: 'enabled', budget_tokens: Math.min(8192, limit - 1024) }
  return {
    headers,
    body: {
      ...body,
      tools,
      max_tokens: limit,
      ...(hasBudget && !isAdaptive && { thinking: budget }),
    },
    hints: { ...outputLimitCures, ...(!isAdaptive && { thinking: noReasoningCure }) },
  }
}

/** The hint to configure what the gateway rejects, in the entry of the model. Each was run. */
function compatCure(member: string): string {
  return `Add "compat": {${member}} to the model in openclaw.json, then run the command again.`
}
