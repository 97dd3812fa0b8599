import type { FirstRequest } from '../../gateway/types.ts'
import type { LoadedFiles } from '../contract/files.ts'
import type { FirstRequestInput, Recordings } from '../contract/program.ts'
import { numberIn, type Table, tableIn, valueIn } from '../files/tables.ts'
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
    // `samplingParams` changes the body only over chat (read in 0.24.4, 2026-11-28).
    const added = {
      ...(protocol === 'chat' && tableIn(entry, paths.sampling)),
      ...tableIn(entry, paths.body),
    }
    return {
      headers,
      body: { ...body, [limitName]: limit, ...added },
      hints: { ...outputLimitCures, ...hintsFor(added) },
    }
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

/** What helps if the gateway rejects a member that the user's entry adds. */
function hintsFor(added: Table): FirstRequest['hints'] {
  const names = Object.keys(added).filter((name) => !Object.hasOwn(outputLimitCures, name))
  return Object.fromEntries(
    names.map((name) => [name, `Remove ${name} from the model in settings.json.`]),
  )
}

const thinkingCure =
  'Add "generationConfig": {"reasoning": false} to the model in settings.json, then run the command again.'
