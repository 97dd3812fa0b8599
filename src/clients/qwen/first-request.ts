import type { FirstRequest } from '../../gateway/types.ts'
import type { LoadedFiles } from '../contract/files.ts'
import type { FirstRequestInput, Recordings } from '../contract/program.ts'
import { numberIn, valueIn } from '../files/tables.ts'
import { outputLimitCures } from '../options/flags.ts'
import { recordedRequest } from '../program/recorded-request.ts'
import { isAdaptive, outputTokensFor, rejectsTemperature, usualWindow } from './models.ts'
import { mergedSettings, ourEntries, paths } from './settings.ts'

/** What the model and its entry change in the recorded request. */
export function firstRequest(
  recordings: Recordings,
  files: LoadedFiles,
  { model, protocol, version }: FirstRequestInput,
): FirstRequest {
  const entry = ourEntries(mergedSettings(files).value).find(({ id }) => id === model)?.table
  const window = numberIn(entry, paths.window) ?? usualWindow
  const limit =
    numberIn(entry, [...paths.sampling, 'max_tokens']) ?? outputTokensFor(model, version, window)

  if (protocol !== 'messages') {
    const { headers, body } = recordedRequest(recordings, { kind: 'any', protocol, version })
    const limitName = protocol === 'chat' ? 'max_tokens' : 'max_output_tokens'
    return { headers, body: { ...body, [limitName]: limit }, hints: outputLimitCures }
  }

  const kind = isAdaptive(model) ? 'adaptive' : 'budget'
  const { headers, body } = recordedRequest(recordings, { kind, protocol, version })
  const { 'anthropic-beta': beta, ...otherHeaders } = headers
  const isThinking = valueIn(entry, paths.reasoning) !== false
  return {
    headers: isThinking ? headers : otherHeaders,
    body: {
      ...body,
      max_tokens: limit,
      temperature: rejectsTemperature(model) ? undefined : 1,
      thinking: isThinking ? body['thinking'] : undefined,
    },
    hints: { ...outputLimitCures, thinking: thinkingCure, 'anthropic-beta': thinkingCure },
  }
}

const thinkingCure =
  'Add "generationConfig": {"reasoning": false} to the model in settings.json, then run the command again.'
