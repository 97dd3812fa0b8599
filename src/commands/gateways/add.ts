/** `repoint gateways add URL`: tests a gateway and saves it. No client changes. */

import { resolveOneModel } from '../../clients/models/resolve.ts'
import { protocols } from '../../gateway/types.ts'
import { expectNameIsFree, savedGatewayFor, saveGateway } from '../../state/save-gateway.ts'
import type { GatewayFlags } from '../command-line/flags.ts'
import { openNamedGateway, proveOne } from '../prove/prove-one.ts'
import type { Session } from '../screen/session.ts'

type AddFlags = GatewayFlags & { readonly name?: string; readonly model?: string }

/**
 * Tests a gateway and saves it. Returns the exit status.
 *
 * @throws UserError with the diagnosis; then nothing is saved
 */
export async function addGateway(
  session: Session,
  address: string,
  flags: AddFlags,
): Promise<number> {
  const { model } = flags
  const requester = await openNamedGateway(session, undefined, { ...flags, baseUrl: address })
  expectNameIsFree(session.platform, flags.name, requester.access.address)
  const { access: proven, choice } = await proveOne(session, {
    requester,
    model,
    choose: (gatewayInfo) =>
      resolveOneModel({ requested: { model }, gatewayInfo }, protocols, { ifUnknown: '' }),
  })
  const proof = { model: choice.probeModel, protocol: choice.protocol }

  const { name = flags.name, ...access } = proven
  const findings = saveGateway(session.platform, {
    access: { ...access, name },
    proof: { ...proof, safeguards: 'not-requested' },
  })
  session.addFindings(...findings)
  const saved = savedGatewayFor(session.platform, { ...access, name })

  session.showFindings()
  if (saved !== undefined) {
    session.say(`✔ Saved as ${saved.name}: ${proof.model} answers over ${proof.protocol}`)
    session.say(`  Point clients at it: repoint use ${saved.name}`)
  }
  session.document({
    command: 'gateways',
    action: 'add',
    saved: saved?.name ?? null,
    baseUrl: access.address,
    ...proof,
    warnings: session.findingsAsJson,
  })
  return 0
}
