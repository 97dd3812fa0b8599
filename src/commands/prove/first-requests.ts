/** What a client would send first: the requests that show whether a gateway serves it. */
import type { Client } from '../../clients/contract/client.ts'
import type { LoadedFiles } from '../../clients/contract/files.ts'
import type { FirstRequestInput } from '../../clients/contract/program.ts'
import { catalogIn, type ResolvedOptions } from '../../clients/contract/setup.ts'
import { asPlanned } from '../../clients/files/parse-file.ts'
import { modelsToProve } from '../../clients/models/resolve.ts'
import { ifPossible } from '../../errors.ts'
import { isAdditional } from '../../gateway/input/header.ts'
import type { ProbeRequest } from '../../gateway/probe/probe.ts'
import type { ExtraHeader, GatewayAccess, ModelAndProtocol, Sender } from '../../gateway/types.ts'
import type { ServedClient } from '../../state/remembered.ts'
import { listClientFiles, readClientFiles } from '../client-state/client-files.ts'
import type { InstalledProgram } from '../client-state/program/installed-program.ts'
import type { ResolvedChoice } from '../resolve/client-choice.ts'
import { targetFor } from '../resolve/point-client.ts'
import type { Session } from '../screen/session.ts'

/** The model of a first request, and what the gateway's list says of it. */
export type Probed = Pick<FirstRequestInput, 'model' | 'protocol' | 'outputLimit'>

export function probedOf(
  { model, protocol }: ModelAndProtocol,
  offered: ResolvedOptions['offered'] = [],
): Probed {
  return { model, protocol, outputLimit: offered.find(({ id }) => id === model)?.outputLimit }
}

/**
 * The installed client as the sender of a request: its first one with these files, and the headers that the user has
 * added in them.
 */
export async function senderOf(
  session: Session,
  client: Client,
  { files, ...program }: { readonly files: LoadedFiles } & InstalledProgram,
  probed: Probed,
): Promise<Sender> {
  const { env } = session.platform.machine
  const request = await client.firstRequest(files, { ...program, env, ...probed })
  const added = addedHeaders(client, files, request.addedHeaders)
  // The gateway's error may contain what it received.
  for (const { value, isSecret } of added) if (isSecret) session.hide(value)
  return {
    label: client.label,
    keyHeader: client.sends.fixedKeyHeader?.[probed.protocol],
    accepts: client.program.accepts?.[probed.protocol],
    ...request,
    headers: {
      ...request.headers,
      ...Object.fromEntries(added.map(({ name, value }) => [name, value])),
    },
  }
}

/** The headers in a client's files whose values it sends unchanged. */
function addedHeaders(
  client: Client,
  files: LoadedFiles,
  ofModel: readonly ExtraHeader[] = [],
): readonly ExtraHeader[] {
  if (files.length === 0) return []
  const { headers = [] } = client.read(files).endpoint
  const { values } = client.config.interpolation
  return [...headers, ...ofModel].filter(
    (header) => isAdditional(header) && !values?.test(header.value),
  )
}

/**
 * A client's files. If repoint cannot read them, they count as absent: a setup stops before, and `check` asks all the
 * same what the gateway answers to the client.
 */
export function readableFiles(session: Session, client: Client): LoadedFiles {
  return (
    ifPossible(() => readClientFiles(session, client)) ??
    listClientFiles(session, client).map((file) => ({ ...file, bytes: null }))
  )
}

/** A client's files as a setup would leave them, with only the models that are requested. */
export function plannedFiles(
  files: LoadedFiles,
  { client, input, resolved }: ResolvedChoice,
  access: GatewayAccess,
  providerId: string,
): LoadedFiles {
  const requested = modelsToProve(resolved, catalogIn(input.gatewayInfo))
  const ids = [...requested, resolved.nextSample].map((one) => one?.model)
  const offered = resolved.offered.filter(({ id }) => ids.includes(id))
  const target = targetFor({ input, resolved: { ...resolved, offered } }, access, providerId)
  const edits = ifPossible(() => client.plan(files, target))
  return edits === undefined ? files : asPlanned(files, edits)
}

/** What the gateway has served if it answers this choice. */
export function servedBy(
  gateway: GatewayAccess,
  { client, program, resolved }: Pick<ResolvedChoice, 'client' | 'program' | 'resolved'>,
): ServedClient {
  const { probeModel: model, protocol } = resolved
  return { clientId: client.id, version: program.version, gateway, model, protocol }
}

/** The client's first request, for its first model and each other one that no catalog lists. */
export async function firstRequestsOf(
  session: Session,
  { client, program, input, resolved }: ResolvedChoice,
  files: LoadedFiles,
): Promise<readonly ProbeRequest[]> {
  const models = modelsToProve(resolved, catalogIn(input.gatewayInfo))
  return Promise.all(
    models.map(async ({ model, protocol }) => {
      const probed = probedOf({ model, protocol }, resolved.offered)
      return {
        model,
        protocol,
        unservedHint: model === resolved.probeModel ? resolved.probeHint : undefined,
        sender: await senderOf(session, client, { files, ...program }, probed),
      }
    }),
  )
}

/** The client's request for the next model of its list. */
export async function sampleRequestOf(
  session: Session,
  { client, program, resolved: { nextSample } }: ResolvedChoice,
  files: LoadedFiles,
): Promise<ProbeRequest | undefined> {
  if (nextSample === undefined) return undefined
  const sender = await senderOf(session, client, { files, ...program }, nextSample)
  return { ...nextSample, sender }
}
