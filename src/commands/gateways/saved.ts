import { protocolOf } from '../../clients/client.ts'
import { familyRows, loadClients } from '../../clients/list.ts'
import { usesByRules } from '../../clients/resolve.ts'
import { UserError } from '../../errors.ts'
import { adviseNamingModel, catalogOrError } from '../../gateway/catalog.ts'
import { traitsOf } from '../../gateway/judge/traits.ts'
import { probe } from '../../gateway/probe.ts'
import { rootsOf } from '../../gateway/roots.ts'
import { type GatewayAccess, protocols, type Sender } from '../../gateway/types.ts'
import type { SavedGateway } from '../../state/gateways.ts'
import { type AnsweredQuestion, saveProof } from '../../state/save-gateway.ts'
import { programOf } from '../client-state/program.ts'
import type { ClientNow } from '../client-state/state.ts'
import { accessTo } from '../find-gateway.ts'
import type { Session } from '../screen/session.ts'
import { sendersOf } from '../setup/probes.ts'

/** The access to a saved gateway. */
export function accessToSaved(
  session: Session,
  saved: SavedGateway,
  timeoutMs: number,
): GatewayAccess {
  return accessTo(session, { ...saved, baseUrls: rootsOf(saved), timeoutMs })
}

/**
 * Adds to the hint of a failure how to change the address or the key of a saved gateway, for a command
 * that has no flags for them.
 */
export function withCureFor({ name, baseUrl }: SavedGateway, error: unknown): unknown {
  if (!(error instanceof UserError)) return error
  const { code, message, hint, files, cause } = error
  const more =
    traitsOf(error)?.blames === 'key'
      ? `A setup with --base-url ${baseUrl} and the new key changes it for ${name} too.`
      : hint?.includes('--base-url')
        ? `That is the address of ${name}: a setup with another one remembers that.`
        : undefined
  if (more === undefined) return error
  return new UserError({ code, message, hint: [hint, more].join(' ').trim(), files, cause })
}

/**
 * Proves a gateway with one word, over the protocol and with the model that proved it last. Without an
 * earlier proof, it uses the first client that has a default model there. Saves the proof, and returns
 * how the gateway was reached.
 *
 * @param users the clients that use the gateway: the probe imitates the first one with that protocol
 * @throws UserError with the diagnosis
 */
export async function proveSaved(
  session: Session,
  saved: SavedGateway,
  timeoutMs: number,
  users: readonly ClientNow[],
): Promise<GatewayAccess> {
  const access = accessToSaved(session, saved, timeoutMs)
  const last = protocols.find((one) => one === saved.proven?.protocol)
  const proof =
    last === undefined ? await firstProof(access) : { protocol: last, model: saved.proven!.model }
  const { protocol, model } = proof

  const user = users.find(
    ({ client, settings }) => protocolOf(client, settings.options) === protocol,
  )
  const sender = user && (await senderOf(session, user, proof))

  await probe(access, protocol, model, { sender })
  session.warn(...saveProof(session.platform, saved.name, proof, access))
  return access
}

/** How the installed client requests that model. */
async function senderOf(
  session: Session,
  { client, texts }: ClientNow,
  route: AnsweredQuestion,
): Promise<Sender> {
  const program = await programOf(session, client)
  return sendersOf(session, client, { texts, ...program })(route)
}

async function firstProof(access: GatewayAccess): Promise<AnsweredQuestion> {
  const catalog = await catalogOrError(access)
  if (catalog instanceof UserError) throw adviseNamingModel(catalog)

  for (const client of await loadClients(familyRows)) {
    const [use] = usesByRules(client, catalog)
    if (use !== undefined) return { protocol: client.protocols[0], model: use.id }
  }
  throw new UserError({
    code: 'model-unknown',
    message: 'None of its models is a default that repoint knows: which one do you want?',
    hint: 'A setup with --model proves it with that model.',
  })
}
