import { withoutVendor } from '../../gateway/models/rules.ts'
import type { Carried } from '../../gateway/types.ts'
import type { Carrying, FileTexts } from '../client.ts'
import { isBefore } from '../tested.ts'
import { fileOf, readFile, textAt } from '../texts.ts'

/** From this version on it asks every model to reason; before, those of its own alone. */
const reasonsWithAll = '0.149.1'

/**
 * 0.105.0, 0.130.0, 0.149.1 and 0.169.0 were run, the first and the last against a gateway that refuses
 * one of these. None can be left out: without summaries of its reasoning Codex wants `include` all the
 * same. It names no limit of tokens (2026-11-23).
 */
export function carries(texts: FileTexts, { version, model }: Carrying): Carried {
  const config = readFile(fileOf(texts, 'config'))
  const isOwn = withoutVendor(model).startsWith('gpt-5')
  const effort = textAt(config, ['model_reasoning_effort']) ?? (isOwn ? 'medium' : undefined)
  const reasoning = effort === undefined ? { summary: 'auto' } : { effort }
  const reasons = isOwn || version === undefined || !isBefore(version, reasonsWithAll)

  return {
    body: {
      tool_choice: 'auto',
      parallel_tool_calls: false,
      prompt_cache_key: 'repoint',
      reasoning: reasons ? reasoning : undefined,
      include: reasons ? ['reasoning.encrypted_content'] : undefined,
    },
  }
}
