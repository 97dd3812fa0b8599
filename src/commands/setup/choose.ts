import {
  type Client,
  type ModelChoice,
  protocolOf,
  type SetupOptions,
  slots,
  usualSlot,
} from '../../clients/client.ts'
import { UserError } from '../../errors.ts'
import { withoutList } from '../../gateway/catalog.ts'
import { isChatModel } from '../../gateway/models/rules.ts'
import type { Catalog, GatewayAccess } from '../../gateway/types.ts'
import { modelsOf, namedOptions, optionsFor } from './keep.ts'
import type { Probes } from './probes.ts'
import type { Heard, SetupRun } from './run.ts'

/** What the models of one client are chosen by. */
export interface Asking {
  readonly run: SetupRun
  readonly access: GatewayAccess
  readonly client: Client
  /** Of the installed client. */
  readonly version: string | undefined
  readonly heard: Heard
  /** Why there is no list of models. */
  readonly missing: UserError | undefined
  /** Why the gateway does not serve what was chosen first. */
  readonly refusal?: UserError
  readonly probes: Probes
}

/**
 * The models of a client: by its rules, or by a person where neither rules nor gateway tell.
 * Undefined: it is to be left out.
 *
 * @throws UserError `usage`, `model-unknown`, `protocol-unsupported`; where only a list could have told
 *   the models, why there is none
 */
export async function chooseModels(asking: Asking): Promise<ModelChoice | undefined> {
  const { run, access, client, version, heard, missing, refusal } = asking
  const options = optionsFor(run, client, access.roots, heard)
  if (refusal !== undefined && heard.catalog === undefined)
    return chooseByPerson(asking, options, refusal)
  try {
    return client.choose(heard.catalog, options, version)
  } catch (error) {
    if (!isUndecided(error)) throw error
    const isNamed = modelsOf(options).length > 0
    const reason = missing === undefined || isNamed ? error : withoutList(missing)
    // An address or a key that is at fault is asked for again.
    const isElsewhere = missing?.code === 'key-rejected' || missing?.code === 'not-an-api'
    if (run.consent !== 'ask' || isElsewhere) throw reason
    return chooseByPerson(asking, options, reason)
  }
}

/** Whether a client's models are known before the gateway is asked for its list. */
export function isDecided(run: SetupRun, client: Client, { roots }: GatewayAccess): boolean {
  const heard: Heard = { catalog: undefined, isListMissing: true, refused: [] }
  try {
    client.choose(undefined, optionsFor(run, client, roots, heard))
    return true
  } catch (error) {
    if (isUndecided(error)) return false
    throw error
  }
}

/**
 * Whether models are to be chosen once more where the gateway refuses them: what was chosen before
 * gives way to a list, unless only the key is to change; and where nothing is listed or named, a person
 * may know what to try.
 */
export function canChooseAgain(
  { run, client, heard }: Asking,
  refused: readonly string[],
): boolean {
  const { consent, request, kept } = run
  const named = modelsOf(namedOptions(request, client))
  if (refused.every((id) => named.includes(id))) return false
  if (heard.catalog === undefined)
    return consent === 'ask' && named.length === 0 && !kept.has(client)
  return kept.has(client) && !request.defaults && !request.isKeyOnly
}

/** One question for all that is not named. */
async function chooseByPerson(
  asking: Asking,
  options: SetupOptions,
  reason: UserError,
): Promise<ModelChoice | undefined> {
  const { client, version, heard } = asking
  const { catalog } = heard
  const model =
    catalog === undefined
      ? await typedModel(asking, options, reason)
      : await pickedModel(asking, catalog, reason)
  if (model === undefined) return undefined

  const { slot = usualSlot, model: named, slotModels, subagentModel } = options
  const all = Object.fromEntries(slots.map((one) => [one, model]))
  const chosen = {
    model: named ?? model,
    slotModels: { ...all, ...(named === undefined ? {} : { [slot]: named }), ...slotModels },
    subagentModel: subagentModel ?? model,
    isConfigured: false,
  }
  return client.choose(catalog, { ...options, ...chosen }, version)
}

async function pickedModel(
  { run: { session, clients }, client }: Asking,
  catalog: Catalog,
  { message }: UserError,
): Promise<string | undefined> {
  const none = { value: '', name: `none: leave ${client.label} out` }
  const model = await session.platform.ask.search({
    message: `${message}. Which model should ${client.label} use?`,
    choices: [
      ...(clients.length > 1 ? [none] : []),
      ...catalog.models.filter(isChatModel).map(({ id }) => ({ value: id, name: id })),
    ],
  })
  return model === none.value ? undefined : model
}

/** @throws UserError `reason` where a person knows none: the address may be asked for again then */
async function typedModel(
  { run: { session }, client, probes }: Asking,
  options: SetupOptions,
  reason: UserError,
): Promise<string> {
  session.remark(`note: ${reason.message}`)
  const answer = await session.platform.ask.input({
    message: `Which model should ${client.label} ask for? (Enter: unknown; of several the first that answers)`,
  })
  const ids = answer.split(/[\s,]+/).filter(Boolean)
  if (ids.length === 0) throw reason
  return ids.length === 1 ? ids[0]! : probes.firstServed(protocolOf(client, options), ids)
}

/** No rule fits, or the gateway has nothing for a slot of the client. */
function isUndecided(error: unknown): error is UserError {
  return error instanceof UserError && ['usage', 'model-unknown'].includes(error.code)
}
