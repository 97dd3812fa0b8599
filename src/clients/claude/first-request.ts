import { asObject, jsonIn } from '../../gateway/foreign-text.ts'
import { removeVendor } from '../../gateway/models/ids.ts'
import type { FirstRequest } from '../../gateway/types.ts'
import type { LoadedFiles } from '../contract/files.ts'
import type { FirstRequestInput, Recordings } from '../contract/program.ts'
import { fileOf } from '../files/parse-file.ts'
import { effortCure, outputLimitCure } from '../options/flags.ts'
import { recordedRequest, withBetas } from '../program/recorded-request.ts'
import { safeguardsOf } from './checks/auto-mode.ts'
import { effortVariable, slots } from './flags.ts'
import { isOn, names, readSettings } from './settings.ts'
import { knowsModel, sentFirst, withoutDate } from './versions.ts'

/** What the settings, the environment and the model change in the recorded request. */
export function firstRequest(
  recordings: Recordings,
  files: LoadedFiles,
  input: FirstRequestInput,
): FirstRequest {
  const { model, protocol, version } = input
  const env = { ...input.env, ...readSettings(fileOf(files, 'settings')).env }
  const isPlain = isOn(env[names.withoutBetas])
  const kind = kindOf(model, version)
  const usual = recordedRequest(recordings, { kind, protocol, version })
  const plainKind = kind === 'older' ? 'older plain' : 'plain'
  const recorded = isPlain
    ? recordedRequest(recordings, { kind: plainKind, protocol, version })
    : usual

  // The user's own betas, and their metadata in the text of the user's ID (2.1.330, 2026-11-28).
  const headers = withBetas(recorded.headers, ...(env['ANTHROPIC_BETAS'] ?? '').split(','))
  const metadata = asObject(jsonIn(env['CLAUDE_CODE_EXTRA_METADATA'] ?? ''))

  // Without betas, the limit and the effort are the same.
  const { max_tokens, output_config } = usual.body
  const body = withEffort({ ...recorded.body, output_config }, env[effortVariable])
  return {
    ...recorded,
    headers,
    body: {
      ...body,
      ...(metadata && { metadata: withMetadata(body['metadata'], metadata) }),
      ...(env[names.attribution] === '0' && { system: withoutAttribution(body['system']) }),
      max_tokens: Number(env[names.outputTokens]) || max_tokens,
      ...asObject(jsonIn(env['CLAUDE_CODE_EXTRA_BODY'] ?? '')),
    },
    safeguards: safeguardsOf(version, isPlain),
    hints: {
      ...(isPlain ? { max_tokens: outputLimitCure, thinking: plainCure } : cures),
      ...(env['ANTHROPIC_BETAS'] && { 'anthropic-beta': ownBetasCure }),
      ...(metadata && { metadata: metadataCure }),
      ...(env[effortVariable] && { output_config: effortCure }),
    },
  }
}

function withMetadata(recorded: unknown, added: Readonly<Record<string, unknown>>): unknown {
  const id = asObject(jsonIn(String(asObject(recorded)?.['user_id'] ?? '')))
  return { ...asObject(recorded), user_id: JSON.stringify({ ...added, ...id }) }
}

/** The effort of the request, and of the messages that name one. */
function withEffort(body: FirstRequest['body'], effort: string | undefined): FirstRequest['body'] {
  if (!effort) return body
  const change = (part: unknown) =>
    asObject(part)?.['output_config'] ? { ...asObject(part), output_config: { effort } } : part
  const { messages } = body
  return {
    ...asObject(change(body)),
    ...(Array.isArray(messages) && { messages: messages.map(change) }),
  }
}

/** The system prompt without its attribution block, which is its first text (2.1.54 to 2.1.330). */
function withoutAttribution(system: unknown): unknown {
  if (!Array.isArray(system)) return system
  const isAttribution = (part: unknown) =>
    String(asObject(part)?.['text']).startsWith('x-anthropic-billing-header:')
  return system.filter((part) => !isAttribution(part))
}

/** A model that is known, but not the newest of its slot, is requested almost like an unknown one. */
function kindOf(model: string, version: string | undefined): string {
  if (!knowsModel(version, model)) return 'unknown'
  if (thinksInBudget.test(withoutDate(removeVendor(model)))) return 'older'
  return slots.some((slot) => sentFirst(version, slot) === model) ? 'own' : 'unknown'
}

/** Models up to 4.5. Newer ones choose how long they think (12 models, 2.1.197 and 2.1.330, 2026-11-26). */
const thinksInBudget = /^claude-(?:3\b|(?:opus|sonnet|haiku)-4(?:-[0-5])?$)/

const betaCure = 'Leave experimental betas out: {--no-betas}'
const ownBetasCure =
  'Remove what the gateway does not know from ANTHROPIC_BETAS in "env" of settings.json, then run the command again.'
const metadataCure =
  'Remove CLAUDE_CODE_EXTRA_METADATA from "env" of settings.json, then run the command again.'
/** Without betas it asks for thinking in another form. */
const plainCure = 'Send experimental betas again: {--defaults}'
const cures = {
  'anthropic-beta': betaCure,
  context_management: betaCure,
  max_tokens: outputLimitCure,
}
