/** The lines that a terminal shows while a gateway is being proven. */
import { catalogIn } from '../../../clients/contract/setup.ts'
import { overProtocol } from '../../../clients/models/protocols.ts'
import { routesToProve } from '../../../clients/models/resolve.ts'
import { shownBalance } from '../../../gateway/balance.ts'
import { supportsProtocol } from '../../../gateway/models/rules.ts'
import { type GatewayAccess, protocols } from '../../../gateway/types.ts'
import { counted, listWords } from '../../../text.ts'
import type { Session } from '../../screen/session.ts'
import type { AskedGateway } from '../context.ts'
import type { ProvenSetup } from './prove-clients.ts'

/** Shows how many models the gateway has, as soon as its catalog has answered. */
export function showAnswer(session: Session, gateway: AskedGateway): void {
  const catalog = catalogIn(gateway)
  if (catalog === undefined) return
  const supported = protocols.filter((protocol) =>
    catalog.models.some((model) => supportsProtocol(model, protocol) === true),
  )
  const count = counted(catalog.models.length, 'model')
  const over = supported.length === 0 ? '' : `, over ${listWords(supported)}`
  session.remark(`✔ ${hostOf(gateway.requester.access)} answers: ${count}${over}`)
}

/** Shows one line for each proven client, and one for the balance. */
export function showProof({ context, access, catalog, choices, balance }: ProvenSetup): void {
  const { session } = context
  if (catalog === undefined) session.remark(`✔ ${hostOf(access)} answers and accepts the key`)

  for (const { client, resolved, provenBy } of choices) {
    if (provenBy === 'client') {
      session.remark(`✔ ${client.label} itself answers, with ${resolved.model}`)
      continue
    }
    const ids = routesToProve(resolved, catalog).map(({ model }) => model)
    const verb = ids.length > 1 ? 'answer' : 'answers'
    const over = overProtocol(client, resolved)
    session.remark(`✔ ${client.label}: ${listWords(ids)} ${verb}${over}, with tools`)
  }

  if (balance !== undefined) session.remark(`✔ The key has ${shownBalance(balance)}`)
}

function hostOf({ address }: GatewayAccess): string {
  return new URL(address).host
}
