import { type Client, type ModelChoice, type SetupOptions, slots } from '../../clients/client.ts'
import { exitStatus, UserError } from '../../errors.ts'
import { leavesOpen } from '../../gateway/catalog.ts'
import { GatewayFinder } from '../../gateway/find-roots.ts'
import { hangUp, openAhead } from '../../gateway/http/request.ts'
import { isChatModel } from '../../gateway/models/rules.ts'
import type { Catalog, GatewayAccess } from '../../gateway/types.ts'
import type { Notice } from '../../notice.ts'
import { configuredGateways, type FoundGateway, findGateway, type Known } from '../find-gateway.ts'
import { installedVersion } from '../inventory/client-program.ts'
import { expectNameFor } from '../inventory/remember-gateway.ts'
import type { Session } from '../screen/session.ts'
import { modelsOf, optionsFor } from './keep.ts'
import type { SetupRun } from './run.ts'

/** What the gateway said before anything was written. */
export interface Proof {
  readonly catalog: Catalog | undefined
  readonly models: ReadonlyMap<Client, ModelChoice>
  readonly notices: readonly Notice[]
}

interface Proven extends Proof {
  /** With the roots that have answered. */
  readonly access: GatewayAccess
}

/** How often a person may type an address or a key that does not work. */
const maxTries = 3

/**
 * Finds the gateway and proves it. What a person typed and the gateway refuses is asked again; what
 * came from a flag or the environment is an error at once.
 */
export async function findProvenGateway(
  run: SetupRun,
): Promise<{ access: GatewayAccess; proof: Proof }> {
  const { session, request, runs } = run
  let known: Known = {
    lastBaseUrl: runs[0]?.baseUrl,
    configured: session.canAsk ? await configuredGateways(session, runs) : [],
    takesPreset: request.yes,
    ...request.known,
  }

  for (let tries = 1; ; tries++) {
    const found = await findGateway(session, request.gateway, known)
    expectNameFor(session, request.name, found.access.baseUrl)
    try {
      const { access, ...proof } = await proofOf(run, found.access)
      session.notice(...found.notices, ...proof.notices)
      return { access, proof }
    } catch (error) {
      const next = tries < maxTries ? knownAfter(error, found) : undefined
      if (next === undefined) throw error
      session.remark(`That did not work: ${(error as UserError).message}`)
      known = { ...known, ...next }
    }
  }
}

/** What stays known when something is asked again; undefined: nothing that was typed is at fault. */
function knownAfter(
  error: unknown,
  { access, asked, isKeyInUse }: FoundGateway,
): Known | undefined {
  if (!(error instanceof UserError)) return undefined
  const status = exitStatus[error.code]
  if (status === exitStatus['key-rejected'] && asked.key)
    return { baseUrl: access.baseUrl, roots: access.roots, configured: [] }
  const isAddress = status === exitStatus['not-an-api'] || status === exitStatus.refused
  if (isAddress && asked.baseUrl)
    return { key: isKeyInUse ? undefined : access.key, lastBaseUrl: access.baseUrl }
  return undefined
}

async function proofOf(run: SetupRun, access: GatewayAccess): Promise<Proven> {
  const { session, clients, request } = run
  const { options } = request
  if (request.verify)
    return prove({
      session,
      access,
      isMessagesGiven: request.gateway.messagesUrl !== undefined,
      clients,
      options,
      choose: chooserFor(run, access),
    })

  const versions = await versionsOf(session, clients)
  const models = new Map(
    clients.map((client) => {
      const named = optionsFor(run, client, access.roots, undefined)
      return [client, client.choose(undefined, named, versions.get(client))]
    }),
  )
  return { access, models, catalog: undefined, notices: [] }
}

/** Lets a person choose where the rules find nothing; undefined: the client is to be left out. */
type Chooser = (
  client: Client,
  catalog: Catalog | undefined,
  version: string | undefined,
) => Promise<ModelChoice | undefined>

function chooserFor(run: SetupRun, { roots }: GatewayAccess): Chooser {
  const { session, request, clients, consent } = run
  return async (client, catalog, version) => {
    const options = optionsFor(run, client, roots, catalog)
    try {
      return client.choose(catalog, options, version)
    } catch (error) {
      const named = request.optionsOf?.get(client.id) ?? request.options
      const canAsk = consent === 'ask' && catalog !== undefined && modelsOf(named).length === 0
      if (!isUndecided(error) || !canAsk) throw error

      const none = { value: '', name: `none: leave ${client.label} out` }
      const model = await session.platform.ask.search({
        message: `${error.message}. Which model should ${client.label} use?`,
        choices: [
          ...(clients.length > 1 ? [none] : []),
          ...catalog.models.filter(isChatModel).map(({ id }) => ({ value: id, name: id })),
        ],
      })
      if (model === none.value) return undefined
      const slotModels = Object.fromEntries(slots.map((slot) => [slot, model]))
      const chosen = { model, slotModels, subagentModel: model, isConfigured: false }
      return client.choose(catalog, { ...options, ...chosen }, version)
    }
  }
}

/** No rule fits, or the gateway has nothing for a slot of the client. */
function isUndecided(error: unknown): error is UserError {
  return error instanceof UserError && ['usage', 'model-unknown'].includes(error.code)
}

/**
 * Proves address, key and model: the catalog first, then one minimal inference for each protocol and
 * model that the clients will use, side by side. Writes nothing.
 *
 * @throws UserError with the diagnosis
 */
export async function prove(asked: {
  readonly session: Session
  readonly access: GatewayAccess
  readonly isMessagesGiven?: boolean
  readonly clients: readonly Client[]
  readonly options: SetupOptions
  readonly choose: Chooser
}): Promise<Proven> {
  const { session, access, isMessagesGiven = false, clients, options, choose } = asked
  const finder = new GatewayFinder(access, { isMessagesGiven })
  if (clients.length > 1) void openAhead(access, clients.length)
  try {
    const [answer, versions] = await session.step(
      'Asking the gateway for its models',
      Promise.all([finder.askCatalog(), versionsOf(session, clients)]),
    )
    const [catalog, missing] = answer instanceof UserError ? [undefined, answer] : [answer]
    const isLeftOpen = (error: UserError) => clients.every((one) => leavesOpen(error, one.protocol))
    if (missing !== undefined && !isLeftOpen(missing)) throw missing

    const models = new Map<Client, ModelChoice>()
    for (const client of clients) {
      try {
        const choice = await choose(client, catalog, versions.get(client))
        if (choice !== undefined) models.set(client, choice)
      } catch (error) {
        // Nobody has named a model, and only the catalog could have.
        const isUnnamed = error instanceof UserError && error.code === 'usage' && !options.model
        throw missing !== undefined && isUnnamed ? missing : error
      }
    }

    if (models.size === 0)
      throw new UserError({ code: 'cancelled', message: 'Every client was left out' })

    const notices = [
      ...(catalog?.notices ?? []),
      ...(missing === undefined ? [] : [catalogUnavailable(missing)]),
      ...(await proveModels(session, finder, models, answer)),
    ]
    return { access: finder.access, catalog, models, notices }
  } finally {
    await hangUp(access)
  }
}

async function versionsOf(
  session: Session,
  clients: readonly Client[],
): Promise<ReadonlyMap<Client, string | undefined>> {
  const versions = clients.map(
    async (client) => [client, await installedVersion(session, client)] as const,
  )
  return new Map(await Promise.all(versions))
}

/** One minimal inference for each protocol and model. Returns what is to be said beside the proof. */
async function proveModels(
  session: Session,
  finder: GatewayFinder,
  models: ReadonlyMap<Client, ModelChoice>,
  catalog: Catalog | UserError,
): Promise<Notice[]> {
  const asked = [...models].map(([{ protocol }, choice]) => ({ protocol, ...choice }))
  const questions = new Map(asked.map((one) => [`${one.protocol} ${one.probeModel}`, one]))
  const names = [...new Set(asked.map(({ probeModel }) => probeModel))].join(', ')

  const proofs = await session.step(
    `Asking ${names} for one word`,
    Promise.allSettled(
      [...questions.values()].map(({ protocol, probeModel, probeCure }) =>
        finder.probe(protocol, probeModel, { catalog, unservedHint: probeCure }),
      ),
    ),
  )
  return proofs.flatMap((proof) => {
    if (proof.status === 'rejected') throw proof.reason
    return proof.value.notices
  })
}

function catalogUnavailable({ message }: UserError): Notice {
  return {
    code: 'catalog-unavailable',
    message: `The gateway has no readable list of models (${message})`,
    hint: 'The model was proven by asking it directly.',
  }
}
