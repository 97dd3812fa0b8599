import type { FirstRequest } from '../../gateway/types.ts'
import type { LoadedFiles } from '../contract/files.ts'
import type { FirstRequestInput, Recordings } from '../contract/program.ts'
import { fileOf } from '../files/parse-file.ts'
import { numberIn, tableIn } from '../files/tables.ts'
import { recordedRequest } from '../program/recorded-request.ts'
import { readProviders, usualOutputTokens } from './providers.ts'

/** In tokens: what Cline sends before the first question (instructions, tools), and what it never uses. */
const ownTokens = 8_000

const windowCure =
  'Name a smaller context window, so that the limit is lower: --context-window TOKENS. If the gateway rejects the name of the limit, name another model: --model ID'

/** What the model and the settings change in the recorded request. Without a window, Cline sends no limit. */
export function firstRequest(
  recordings: Recordings,
  files: LoadedFiles,
  { model, protocol, version }: FirstRequestInput,
): FirstRequest {
  const { settings } = readProviders(fileOf(files, 'providers'))
  const { enabled, effort } = tableIn(settings, ['reasoning'])
  const left = (numberIn(settings, ['contextWindow']) ?? 0) - ownTokens

  // Which models edit files by patches (read in 3.0.65, 2026-11-26), and which have the newer limit.
  const kind = /codex|gpt/i.test(model) ? 'gpt' : 'other'
  const isOpenAiModel = /(?<![a-z0-9])(?:o[134]|gpt-?5)(?![a-z0-9])/i.test(model)
  const { headers, body } = recordedRequest(recordings, { kind, protocol, version })
  const { max_tokens: _, max_completion_tokens: __, ...usual } = body
  return {
    headers,
    body: {
      ...usual,
      [isOpenAiModel ? 'max_completion_tokens' : 'max_tokens']:
        left > 0 ? Math.min(left, usualOutputTokens) : undefined,
      reasoning_effort: enabled === true && effort !== 'none' ? effort : undefined,
    },
    hints: { max_tokens: windowCure, max_completion_tokens: windowCure },
  }
}
