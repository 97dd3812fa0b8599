import type { FirstRequest, Protocol } from '../../gateway/types.ts'
import type { LoadedFiles } from '../contract/files.ts'
import type { FirstRequestInput, Recordings } from '../contract/program.ts'
import { fileOf } from '../files/parse-file.ts'
import { numberIn, tableIn } from '../files/tables.ts'
import { outputLimitCures } from '../options/flags.ts'
import { recordedRequest } from '../program/recorded-request.ts'
import { defaultOutputTokens, readSettings } from './settings.ts'

/** What the entry of the model changes in the recorded request. */
export function firstRequest(
  recordings: Recordings,
  files: LoadedFiles,
  { model, protocol, version }: FirstRequestInput,
): FirstRequest {
  const { models } = readSettings(fileOf(files, 'settings'))
  const entry = models.find(({ entry }) => entry['model'] === model)?.entry
  const { headers, body } = recordedRequest(recordings, {
    kind: kindOf(protocol, model),
    protocol,
    version,
  })

  return {
    headers,
    body: {
      ...body,
      // Over responses it sends no limit.
      ...(protocol !== 'responses' && {
        max_tokens: numberIn(entry, ['maxOutputTokens']) ?? defaultOutputTokens,
      }),
      ...tableIn(entry, ['extraArgs']),
    },
    hints: protocol === 'responses' ? {} : outputLimitCures,
  }
}

function kindOf(protocol: Protocol, model: string): string {
  if (protocol !== 'messages') return 'any'
  return /claude-(?:opus|sonnet)-5/.test(model) ? 'thinking' : 'plain'
}
