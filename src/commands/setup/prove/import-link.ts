/** What an import link adds to a setup: models for its client, and several addresses to try. */
import type { ClientOptions } from '../../../clients/contract/options.ts'
import { rowOf } from '../../../clients/list.ts'
import { compact } from '../../../compact.ts'
import { UserError } from '../../../errors.ts'
import type { ImportLink } from '../../../gateway/input/link.ts'
import { traitsOf } from '../../../gateway/judge/traits.ts'
import type { FoundGateway } from '../../find-gateway/find-gateway.ts'
import type { Preset } from '../../find-gateway/preset.ts'
import type { SetupContext } from '../context.ts'

/** The setup with the models that the link names. What the user requests now overrides them. */
export function withLink(context: SetupContext, link: ImportLink | undefined): SetupContext {
  if (link === undefined) return context

  const { request } = context
  const optionsOf = (id: string): ClientOptions => ({
    ...optionsOfLink(link, id),
    ...request.optionsOf?.(id),
  })
  return { ...context, request: { ...request, optionsOf } }
}

function optionsOfLink({ client, model, slotModels }: ImportLink, id: string): ClientOptions {
  const { family, flags } = rowOf(id)
  if (client !== id && client !== family) return {}

  const hasSlots = flags.some(({ flag }) => flag.startsWith('--slot '))
  if (!hasSlots) return compact({ model })
  return { slotModels: compact({ sonnet: model, ...slotModels }) }
}

/** The preset with the link's next address, if the error blames the current one. Undefined: there is none. */
export function withNextAddress(
  error: unknown,
  { link, access }: FoundGateway,
  preset: Preset,
): Preset | undefined {
  const blamed = error instanceof UserError ? traitsOf(error)?.blames : undefined
  if (link === undefined || (blamed !== 'address' && blamed !== 'connection')) return undefined

  const current = link.addresses.indexOf(access.address)
  const address = link.addresses[current + 1]
  if (address === undefined) return undefined
  return { ...preset, link, gateway: { ...preset.gateway, address } }
}
