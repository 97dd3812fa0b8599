/** What pi and OpenClaw, which uses pi's library, send in addition to messages and tools. */
import { type Table, textIn } from '../loaded-files.ts'

/** @param limit in tokens. @param compat `compat` of the model */
export function chatBody(limit: number, compat: Table) {
  const isCounting = compat['supportsUsageInStreaming'] !== false
  return {
    [textIn(compat, ['maxTokensField']) ?? 'max_completion_tokens']: limit,
    stream_options: isCounting ? { include_usage: true } : undefined,
  }
}

/** @param limit in tokens */
export function responsesBody(limit: number, effort: string | undefined) {
  return {
    max_output_tokens: limit,
    reasoning: effort && { effort, summary: 'auto' },
    include: effort && ['reasoning.encrypted_content'],
  }
}
