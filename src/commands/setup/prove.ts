import type { Client, ModelChoice, SetupOptions } from '../../clients/client.ts'
import { exitStatus, UserError } from '../../errors.ts'
import { readCatalog } from '../../gateway/catalog.ts'
import { probe } from '../../gateway/probe.ts'
import type { Catalog, GatewayAccess } from '../../gateway/types.ts'
import type { Notice } from '../../notice.ts'
import { configuredGateways, type FoundGateway, findGateway, type Known } from '../find-gateway.ts'
import type { Session } from '../screen/session.ts'
import type { SetupRun } from './run.ts'

/** What the gateway said before anything was written. */
export interface Proof {
  readonly catalog: Catalog | undefined
  readonly models: ReadonlyMap<Client, ModelChoice>
  readonly notices: readonly Notice[]
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
  }

  for (let tries = 1; ; tries++) {
    const found = await findGateway(session, request.gateway, known)
    try {
      const proof = await proofOf(run, found.access)
      session.notice(...found.notices, ...proof.notices)
      return { access: found.access, proof }
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
    return { baseUrl: access.baseUrl, configured: [] }
  const isAddress = status === exitStatus['not-an-api'] || status === exitStatus.refused
  if (isAddress && asked.baseUrl)
    return { key: isKeyInUse ? undefined : access.key, lastBaseUrl: access.baseUrl }
  return undefined
}

async function proofOf(run: SetupRun, access: GatewayAccess): Promise<Proof> {
  const { session, clients, request } = run
  const { options } = request
  if (request.verify)
    return prove({ session, access, clients, options, choose: chooserFor(session) })

  const models = new Map(clients.map((client) => [client, client.choose(undefined, options)]))
  return { models, catalog: undefined, notices: [] }
}

/** Lets a person choose where the rules leave a choice. */
type Chooser = (
  client: Client,
  catalog: Catalog | undefined,
  options: SetupOptions,
) => Promise<ModelChoice>

function chooserFor(session: Session): Chooser {
  return async (client, catalog, options) => {
    try {
      return client.choose(catalog, options)
    } catch (error) {
      const canAsk = session.canAsk && catalog !== undefined
      if (!(error instanceof UserError) || error.code !== 'usage' || !canAsk) throw error
      const model = await session.platform.ask.search({
        message: `${error.message}. Which model should ${client.label} use?`,
        choices: catalog.models.map(({ id }) => ({ value: id, name: id })),
      })
      return client.choose(catalog, { ...options, model })
    }
  }
}

/**
 * Proves address, key and model: the catalog first, then one minimal inference for each protocol and
 * model that the clients will use. Writes nothing.
 *
 * @throws UserError with the diagnosis
 */
export async function prove(asked: {
  readonly session: Session
  readonly access: GatewayAccess
  readonly clients: readonly Client[]
  readonly options: SetupOptions
  readonly choose: Chooser
}): Promise<Proof> {
  const { session, access, clients, options, choose } = asked
  const notices: Notice[] = []
  const catalog = await session
    .step('Asking the gateway for its models', readCatalog(access))
    .catch((error: unknown) => {
      // A gateway may serve inference without a catalog: then the probe decides. Without a named
      // model there is nothing to probe with.
      if (!isCatalogMissing(error) || options.model === undefined) throw error
      notices.push({
        code: 'catalog-unavailable',
        message: `The gateway has no readable list of models (${error.message})`,
        hint: 'The model was proven by asking it directly.',
      })
      return undefined
    })

  const models = new Map<Client, ModelChoice>()
  for (const client of clients) models.set(client, await choose(client, catalog, options))
  notices.push(...(catalog?.notices ?? []))
  notices.push(...(await proveModels(session, access, models, catalog)))
  return { catalog, models, notices }
}

/** One minimal inference for each protocol and model. Returns what is to be said beside the proof. */
export async function proveModels(
  session: Session,
  access: GatewayAccess,
  models: ReadonlyMap<Client, ModelChoice>,
  catalog?: Catalog,
): Promise<Notice[]> {
  const asked = new Set<string>()
  const notices: Notice[] = []
  for (const [client, choice] of models) {
    const question = `${client.protocol} ${choice.probeModel}`
    if (asked.has(question)) continue
    asked.add(question)
    const proof = await session.step(
      `Asking ${choice.probeModel} for one word`,
      probe(access, client.protocol, choice.probeModel, { catalog }),
    )
    notices.push(...proof.notices)
  }
  return notices
}

function isCatalogMissing(error: unknown): error is UserError {
  return (
    error instanceof UserError &&
    ['wrong-route', 'not-an-api', 'gateway-fault', 'protocol-unsupported'].includes(error.code)
  )
}
