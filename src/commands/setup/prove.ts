import type { Client, ModelChoice, Notice, SetupOptions } from '../../clients/client.ts'
import { UserError } from '../../errors.ts'
import { readCatalog } from '../../gateway/catalog.ts'
import { probe } from '../../gateway/probe.ts'
import type { Catalog, GatewayAccess } from '../../gateway/types.ts'
import type { Session } from '../screen/session.ts'

/** What the gateway said before anything was written. */
export interface Proof {
  readonly catalog: Catalog | undefined
  readonly models: ReadonlyMap<Client, ModelChoice>
  readonly notices: readonly Notice[]
}

/** Lets a person choose where the rules leave a choice. */
export type Chooser = (
  client: Client,
  catalog: Catalog | undefined,
  options: SetupOptions,
) => Promise<ModelChoice>

/**
 * Proves address, key and model: the catalog first, then one minimal inference for each protocol and
 * model that the clients will use. Writes nothing.
 *
 * @throws UserError with the diagnosis
 */
export async function prove(
  session: Session,
  access: GatewayAccess,
  clients: readonly Client[],
  options: SetupOptions,
  choose: Chooser,
): Promise<Proof> {
  const notices: Notice[] = []
  const catalog = await session
    .step('Asking the gateway for its models', readCatalog(access))
    .catch((error: unknown) => {
      // A gateway may serve inference without a catalog: then the probe decides. Without a named
      // model there is nothing to probe with.
      if (!isCatalogMissing(error) || options.model === undefined) throw error
      notices.push({
        code: 'catalog-unavailable',
        message: `The gateway has no readable list of models (${(error as UserError).message})`,
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

function isCatalogMissing(error: unknown): boolean {
  return (
    error instanceof UserError &&
    ['wrong-route', 'not-an-api', 'gateway-fault', 'protocol-unsupported'].includes(error.code)
  )
}
