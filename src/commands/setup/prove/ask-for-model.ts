/**
 * The questions for a model: on a terminal, the user picks it from the catalog or types it.
 *
 * In: a client whose rules choose no model, or whose model was rejected. Out: a `ResolvedChoice` with the
 * answer.
 */
import type { Client } from '../../../clients/contract/client.ts'
import type { ClientOptions } from '../../../clients/contract/options.ts'
import { catalogIn, type ResolveInput } from '../../../clients/contract/setup.ts'
import { withoutModels } from '../../../clients/options/chosen-options.ts'
import { UserError } from '../../../errors.ts'
import { closestModels, isChatModel, supportsAny } from '../../../gateway/models/rules.ts'
import type { Catalog, CatalogModel } from '../../../gateway/types.ts'
import type { AskChoice } from '../../../platform/platform.ts'
import { withoutRequestId } from '../../../text.ts'
import { Skipped } from '../../prove/prove.ts'
import {
  type OpenChoice,
  type ResolvedChoice,
  resolveOrThrow,
} from '../../resolve/client-choice.ts'
import type { Session } from '../../screen/session.ts'
import { type ReachedGateway, requestedOptions, type SetupContext } from '../context.ts'

/** The error for `--model` without an ID, if there is no catalog or no terminal. */
export function nothingToPickFrom({ canAsk }: Session): UserError {
  return new UserError({
    code: 'usage',
    message: canAsk
      ? '--model has no ID, and the gateway has no list of models'
      : '--model has no ID, and repoint cannot ask here',
    hint: 'Name the model: {--model ID}',
  })
}

/**
 * `--model` without an ID: the setup with the model that the user picks from the catalog.
 *
 * @throws UserError `usage` without a catalog or a terminal
 */
export async function withModelFromUser(
  context: SetupContext,
  catalog: Catalog | undefined,
): Promise<SetupContext> {
  const { session, request, clients } = context
  if (!request.picksModel) return context
  if (catalog === undefined || !session.canAsk) throw nothingToPickFrom(session)

  const labels = clients.map(({ label }) => label)
  const isUsableByAll = (model: CatalogModel) =>
    clients.every((client) => canUse(client, requestedOptions(request, client), model))
  const model = await session.platform.ask.search({
    message: `Which model should ${labels.join(' and ')} use?`,
    choices: chatModels(catalog, isUsableByAll),
  })

  const optionsOf = (id: string) => ({ ...request.optionsOf?.(id), model })
  return { ...context, request: { ...request, optionsOf } }
}

function canUse({ protocols }: Client, requested: ClientOptions, model: CatalogModel): boolean {
  const usable = requested.protocol ? [requested.protocol] : protocols
  return supportsAny(model, usable)
}

function chatModels(
  { models }: Catalog,
  isUsable: (model: CatalogModel) => boolean = () => true,
): AskChoice[] {
  const usable = models.filter((model) => isChatModel(model) && isUsable(model))
  return usable.map(({ id }) => ({ value: id, name: id }))
}

/** As `askForModel`, for another model than those that the gateway has rejected. @throws Skipped */
export function askForOtherModel(
  context: SetupContext,
  gateway: ReachedGateway,
  choice: OpenChoice,
  rejection: UserError,
): Promise<ResolvedChoice> {
  const { input } = choice
  // The answer replaces the requested models, which the gateway rejected.
  const { model: requestedModel, slotModels: _, ...requested } = input.requested
  const earlier = input.earlier && {
    ...input.earlier,
    options: optionsForNewModel(input, input.earlier.options, requestedModel !== undefined),
  }
  const withoutRejected = { ...choice, input: { ...input, requested, earlier } }
  return askForModel(context, gateway, withoutRejected, rejection)
}

/** The earlier options that stay when the user names another model. */
function optionsForNewModel(
  { gatewayInfo }: ResolveInput,
  options: ClientOptions,
  replacesRequested: boolean,
): ClientOptions {
  const rejectedIds = gatewayInfo.rejections.map(({ model }) => model)
  // repoint does not probe a small model, so a rejection is never about it.
  const { smallModel } = options
  const remaining = { ...withoutModels(options, rejectedIds), smallModel }
  // The model of an earlier setup would override the answer.
  return replacesRequested ? { ...remaining, model: undefined } : remaining
}

/**
 * Asks the user for one model, which is used wherever none is requested.
 *
 * @param reason why repoint asks
 * @throws Skipped, UserError `reason` if the user knows no model
 */
export async function askForModel(
  context: SetupContext,
  { catalogAnswer }: ReachedGateway,
  choice: OpenChoice,
  reason: UserError,
): Promise<ResolvedChoice> {
  const catalog = catalogIn({ catalogAnswer })
  if (catalog !== undefined)
    return withModel(choice, await pickModel(context, catalog, choice, reason))

  const ids = await typeModels(context, choice, reason)
  const [first, ...alternatives] = ids.map((id) => withModel(choice, id))
  return { ...first!, alternatives }
}

function withModel(choice: OpenChoice, modelForAll: string): ResolvedChoice {
  return resolveOrThrow({ ...choice, input: { ...choice.input, modelForAll } })
}

/** The model that the user picks from the catalog. @throws Skipped, UserError `reason` if the gateway has no other */
async function pickModel(
  { session, clients }: SetupContext,
  catalog: Catalog,
  { client, input }: OpenChoice,
  reason: UserError,
): Promise<string> {
  const { message } = reason
  const skip = { value: '', name: `none: skip ${client.label}` }
  const rejectedIds = input.gatewayInfo.rejections.map(({ model }) => model)
  const choices = chatModels(catalog).filter(({ value }) => !rejectedIds.includes(value))
  if (choices.length === 0) throw reason

  // The models with the most similar names come first.
  const closest = rejectedIds.flatMap((id) => closestModels(id, catalog))
  const rank = ({ value }: AskChoice) =>
    closest.includes(value) ? closest.indexOf(value) : closest.length
  const ranked = choices.toSorted((a, b) => rank(a) - rank(b))

  // The prompt breaks words at the end of a line (@inquirer/core 12.0.6), so the reason is not a part of its message.
  session.remark(rejectedIds.length > 0 ? `✗ ${withoutRequestId(message)}` : `note: ${message}`)
  const model = await session.platform.ask.search({
    message: `Which model should ${client.label} use?`,
    choices: clients.length > 1 ? [skip, ...ranked] : ranked,
  })
  if (model === skip.value)
    throw new Skipped({ code: 'cancelled', message: `You skipped ${client.label}` })
  return model
}

/**
 * The models that the user types, at least one.
 *
 * @throws UserError `reason` if the user knows no model: then the address may be wrong
 */
async function typeModels(
  { session }: SetupContext,
  { client }: OpenChoice,
  reason: UserError,
): Promise<readonly string[]> {
  session.remark(
    `note: ${withoutRequestId(reason.message)}. Of several models, repoint takes the first that answers; Enter if you know none`,
  )
  const answer = await session.platform.ask.input({
    message: `Which model should ${client.label} use?`,
  })

  const ids = answer.split(/[\s,]+/).filter(Boolean)
  if (ids.length === 0) throw reason
  return ids
}
