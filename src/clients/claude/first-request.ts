import { asObject } from '../../gateway/foreign-text.ts'
import { anyOf } from '../../gateway/judge/causes/patterns.ts'
import { removeVendor } from '../../gateway/models/ids.ts'
import type { FirstRequest, RetryRule } from '../../gateway/types.ts'
import type { LoadedFiles } from '../contract/files.ts'
import type { FirstRequestInput, Recordings } from '../contract/program.ts'
import { fileOf } from '../files/parse-file.ts'
import { effortCure } from '../options/flags.ts'
import { recordedRequest } from '../program/recorded-request.ts'
import { safeguardsOf } from './checks/auto-mode.ts'
import { effortVariable, slots } from './flags.ts'
import { isOn, names, readSettings } from './settings.ts'
import { knowsModel, retriesWithoutBetas, sentFirst, withoutDate } from './versions.ts'

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

  // Without betas, the limit and the effort are the same.
  const { max_tokens, output_config } = usual.body
  const body = withEffort({ ...recorded.body, output_config }, env[effortVariable])
  return {
    ...recorded,
    body: {
      ...body,
      ...(env[names.attribution] === '0' && { system: withoutAttribution(body['system']) }),
      max_tokens: Number(env[names.outputTokens]) || max_tokens,
    },
    safeguards: safeguardsOf(version, isPlain),
    retryWithout: retriesWithoutBetas(version)
      ? [withoutBetas, withoutSystemRole]
      : [withoutSystemRole],
    hints: {
      ...(isPlain ? { max_tokens: limitCure } : cures),
      ...(env[effortVariable] && { output_config: effortCure }),
    },
  }
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

/** Anthropic's own error text; for any other text Claude Code gives up. */
const withoutBetas: RetryRule = {
  to: /^Unexpected value\(s\) /,
  names: ['anthropic-beta', 'context_management'],
}

const quotedRole = String.raw`[\\'"\x60]{1,2}(?:user|assistant)\b`
const systemRole = 'role .{0,2}system'

/** The texts after which Claude Code leaves out the message of the role system (read in 2.1.330, 2026-11-26). */
const withoutSystemRole: RetryRule = {
  to: anyOf(
    'Unexpected role.*input message role',
    // unknown variant `system`, expected `user` or `assistant`
    // Input should be 'user' or 'assistant'
    String.raw`(?:unknown variant .{0,2}system\b.{0,2}, expected|Input should be) ${quotedRole}.{0,2} or ${quotedRole}`,
    `${systemRole}.{0,2} must (?:precede an|follow a)`,
    'use the top-level .{0,2}system.{0,2} parameter',
    `not supported.*${systemRole}`,
    `${systemRole}.*not supported`,
  ),
  roles: ['system'],
}

const limitCure = `Set ${names.outputTokens} in "env" of settings.json to a value that the gateway accepts, then run the command again.`
const betaCure = `Set ${names.withoutBetas} to 1 in "env" of settings.json, then run the command again.`
const cures = { 'anthropic-beta': betaCure, context_management: betaCure, max_tokens: limitCure }
