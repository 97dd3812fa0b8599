import { removeVendor } from '../../gateway/models/rules.ts'
import { emptyTools, input } from '../../gateway/question.ts'
import type { FirstRequest } from '../../gateway/types.ts'
import type { FirstRequestInput, LoadedFiles } from '../client.ts'
import { readKind } from '../loaded-files.ts'
import { isBefore } from '../tested.ts'
import { isAskedLite } from './catalog.ts'
import { namesCatalog } from './catalog-file.ts'

/**
 * From this version on Codex requests reasoning from every model; older versions, only from its own models.
 */
const reasonsWithAll = '0.149.1'

/**
 * The tools of a request in the format of Responses Lite: they are in `input` instead of `tools`. 0.146.0 to
 * 0.169.0 send it (2026-11-23).
 */
const lite = {
  tools: undefined,
  input: [
    {
      type: 'additional_tools',
      role: 'developer',
      tools: [
        {
          type: 'namespace',
          name: 'functions',
          description: 'Tools.',
          tools: [emptyTools.responses],
        },
      ],
    },
    ...input,
  ],
}

const liteHeader = 'x-openai-internal-codex-responses-lite'
const liteCure =
  'Give Codex a catalog of models, with which it asks in the usual shape: repoint codex --catalog (with --base-url URL, where Codex is at another gateway now).'

/**
 * Follows 0.105.0, 0.130.0, 0.149.1 and 0.169.0; the first and the last were run with a gateway that rejects
 * one of these members. No setting removes one: Codex sends `include` even without summaries of its
 * reasoning. It sends no token limit (2026-11-23).
 */
export function firstRequest(
  files: LoadedFiles,
  { version, model, modelTable }: FirstRequestInput,
): FirstRequest {
  const config = readKind(files, 'config')
  const isOwn = removeVendor(model).startsWith('gpt-5')
  const effort = config.text(['model_reasoning_effort']) ?? (isOwn ? 'medium' : undefined)
  const reasoning = effort === undefined ? { summary: 'auto' } : { effort }
  const reasons = isOwn || version === undefined || !isBefore(version, reasonsWithAll)
  const isLite = !namesCatalog(files, config) && isAskedLite(modelTable, model)

  return {
    ...(isLite && { headers: { [liteHeader]: 'true' } }),
    hints: { input: liteCure, [liteHeader]: liteCure },
    body: {
      ...(isLite && lite),
      tool_choice: 'auto',
      parallel_tool_calls: false,
      prompt_cache_key: 'repoint',
      reasoning: reasons ? reasoning : undefined,
      include: reasons ? ['reasoning.encrypted_content'] : undefined,
    },
  }
}
