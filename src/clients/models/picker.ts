import { compact } from '../../compact.ts'
import { withKnownFacts } from '../../gateway/models/facts.ts'
import { catalogEntry } from '../../gateway/models/rules.ts'
import type { BaseUrls, Catalog, Protocol } from '../../gateway/types.ts'
import type { Client } from '../contract/client.ts'
import type { LoadedFiles } from '../contract/files.ts'
import type { ClientOptions } from '../contract/options.ts'
import {
  catalogIn,
  type OfferedModel,
  type ResolvedOptions,
  type ResolveInput,
} from '../contract/setup.ts'
import { modelsIn } from '../options/chosen-options.ts'
import type { WindowHandling } from './context-window.ts'
import { protocolsOfProvider } from './protocols.ts'
import { resolveOneModel } from './resolve.ts'
import { readSamples } from './samples.ts'

/**
 * The models that a client offers, the chosen one first, each with its protocol and its known facts. Leaves
 * out a model that accepts no tools: a client always sends some.
 *
 * @param protocols the protocols that the client can use in addition to the one of the chosen model
 */
export function offeredModels(
  { requested, gatewayInfo }: Pick<ResolveInput, 'requested' | 'gatewayInfo'>,
  { model, protocol: first }: Pick<ResolvedOptions, 'model' | 'protocol'>,
  protocols: readonly Protocol[],
): Pick<ResolvedOptions, 'offered' | 'nextSample' | 'offersWholeCatalog' | 'findings'> {
  const { images, reasoning, outputLimit } = requested
  const all = catalogIn(gatewayInfo)?.models ?? []
  const chosen = withKnownFacts(catalogEntry(catalogIn(gatewayInfo), model) ?? { id: model })
  const usable = all.filter(({ id, tools }) => id !== model && tools !== false)
  const { others, nextSample, findings } = readSamples(usable, first, protocols, gatewayInfo)

  return {
    offered: [
      { ...chosen, ...compact({ images, reasoning, outputLimit }), protocol: first },
      ...others.map(({ model: listed, protocol }) => ({
        // While a sample is missing, nothing writes the others.
        ...(nextSample === undefined || listed.id === nextSample.model
          ? withKnownFacts(listed)
          : listed),
        protocol,
      })),
    ],
    nextSample,
    offersWholeCatalog: all.length > 0,
    findings,
  }
}

/**
 * The model that a client starts with, its protocol, and the other models of its picker, each over its
 * own protocol.
 *
 * @param isShared as for `protocolsOfProvider`
 * @throws as `resolveOneModel`
 */
export function resolveWithPicker(
  input: ResolveInput,
  protocols: Client['protocols'],
  window: WindowHandling,
  isShared?: (baseUrls: BaseUrls) => boolean,
): ResolvedOptions {
  const resolved = resolveOneModel(input, protocols, window)

  const usable = protocolsOfProvider(resolved.protocol, protocols, input.gatewayInfo, isShared)
  const { findings, ...offer } = offeredModels(input, resolved, usable)
  return { ...resolved, ...offer, findings: [...resolved.findings, ...findings] }
}

/** The models for a client's list: the one that it starts with, then the others. */
export function offeredIn({
  offered,
  model,
  protocol,
}: ResolvedOptions): readonly [OfferedModel, ...OfferedModel[]] {
  const [started = { id: model, protocol }, ...others] = offered
  return [started, ...others]
}

/**
 * The models in a client's list that the gateway does not list and that are not chosen. Empty if a wildcard
 * of the gateway may match them.
 */
export function unlistedModels(
  client: Pick<Client, 'read'>,
  files: LoadedFiles,
  catalog: Catalog,
  chosen: ClientOptions,
): readonly string[] {
  const known = new Set([...catalog.models.map(({ id }) => id), ...modelsIn(chosen)])
  if ([...known].some((id) => id.includes('*'))) return []
  return (client.read(files).offered ?? []).filter((id) => !known.has(id))
}
