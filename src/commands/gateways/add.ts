/** `repoint gateways add URL`: tests a gateway and saves it. No client changes. */

import type { GatewayInfo, RejectedModel } from '../../clients/contract/setup.ts'
import { resolveOneModel } from '../../clients/models/resolve.ts'
import { UserError } from '../../errors.ts'
import { mayHelp } from '../../gateway/judge/traits.ts'
import { type ModelAndProtocol, protocols } from '../../gateway/types.ts'
import { expectNameIsFree, savedGatewayFor, saveGateway } from '../../state/save-gateway.ts'
import type { GatewayFlags } from '../command-line/flags.ts'
import { findCatalog } from '../find-gateway/find-catalog.ts'
import type { SentProbes } from '../probes/sent-probes.ts'
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
  const { requester, catalogAnswer, probes } = await findCatalog(
    session,
    { ...flags, baseUrl: address },
    (access) =>
      probeFor(flags.model, {
        catalogAnswer: { kind: 'pending' },
        rejections: [],
        accessSoFar: access,
      }),
  )
  expectNameIsFree(session.platform, flags.name, requester.access.address)

  const gatewayInfo = { catalogAnswer, rejections: [], accessSoFar: requester.access }
  const proof = await firstAnsweredModel(session, flags.model, gatewayInfo, probes)

  const { name = flags.name, ...access } = requester.access
  const findings = saveGateway(session.platform, {
    access: { ...access, name },
    proof: { ...proof, safeguards: 'not-requested' },
  })
  session.addFindings(...findings)
  const saved = savedGatewayFor(session.platform, { ...access, name })

  session.showFindings()
  if (saved !== undefined) {
    session.say(`✔ Saved as ${saved.name}: ${proof.model} answers over ${proof.protocol}`)
    session.say(`  Point clients at it: repoint use ${saved.name} CLIENT`)
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

/** The first model and protocol that the gateway answers. */
async function firstAnsweredModel(
  session: Session,
  model: string | undefined,
  gatewayInfo: GatewayInfo,
  probes: SentProbes,
): Promise<ModelAndProtocol> {
  const rejections: RejectedModel[] = []
  for (;;) {
    const request = probeFor(model, { ...gatewayInfo, rejections })
    try {
      await session.step(`Asking ${request.model} for one word`, probes.send(request))
      return request
    } catch (error) {
      if (!(error instanceof UserError) || !mayHelp('protocol', error)) throw error
      rejections.push({ ...request, error })
    }
  }
}

function probeFor(model: string | undefined, gatewayInfo: GatewayInfo): ModelAndProtocol {
  const input = { requested: { model }, gatewayInfo }
  const resolved = resolveOneModel(input, protocols, { ifUnknown: '' })
  const { probeModel, protocol } = resolved
  return { model: probeModel, protocol }
}
