/** The first requests of a client, which a probe sends. */

import type { Client } from '../../../clients/contract/client.ts'
import type { LoadedFiles } from '../../../clients/contract/files.ts'
import { defaultProviderId } from '../../../clients/contract/options.ts'
import { catalogIn } from '../../../clients/contract/setup.ts'
import { asPlanned } from '../../../clients/files/parse-file.ts'
import { routesToProve } from '../../../clients/models/resolve.ts'
import { effectiveOptions } from '../../../clients/options/chosen-options.ts'
import { ifPossible, type UserError } from '../../../errors.ts'
import type { GatewayConnection } from '../../../gateway/gateway-connection.ts'
import type { Catalog } from '../../../gateway/types.ts'
import { readClientFiles } from '../../client-state/client-files.ts'
import { targetFor } from '../../client-state/point-client.ts'
import type { InstalledProgram } from '../../client-state/program/program.ts'
import type { Session } from '../../screen/session.ts'
import type { ResolvedChoice } from '../client-choice.ts'
import type { SetupContext } from '../types.ts'
import { type FirstRequestFor, Probes } from './probes.ts'

/** The first requests that the installed client sends with these files. */
export async function loadFirstRequests(
  { platform }: Session,
  client: Client,
  { files, ...program }: { readonly files: LoadedFiles } & InstalledProgram,
): Promise<FirstRequestFor> {
  const recordings = await client.loadRecordings()
  const { env } = platform.machine
  return (route) => ({
    label: client.label,
    keyHeader: client.sends?.fixedKeyHeader?.[route.protocol],
    accepts: client.accepts?.[route.protocol],
    ...client.firstRequest(recordings, files, { ...program, env, ...route }),
  })
}

/** The probes of a setup. Each sends a client's first request with the files that the setup would write. */
export function probesFor(
  context: SetupContext,
  connection: GatewayConnection,
  catalog: Promise<Catalog | UserError>,
): Probes {
  return new Probes(
    (protocol, model, options) => connection.probe(protocol, model, { ...options, catalog }),
    (choice) => {
      const files = filesAfter(context, connection, choice)
      return loadFirstRequests(context.session, choice.client, { files, ...choice.program })
    },
  )
}

/** A client's files as the setup would leave them, with only the models that are probed. */
function filesAfter(
  { session, request }: SetupContext,
  { access }: GatewayConnection,
  { client, input, resolved }: ResolvedChoice,
): LoadedFiles {
  const files = readClientFiles(session, client)
  if (request.isKeyOnly) return files

  const { providerId = defaultProviderId } = effectiveOptions(input)
  const ids = routesToProve(resolved, catalogIn(input.gatewayInfo)).map(({ model }) => model)
  const offered = resolved.offered?.filter(({ id }) => ids.includes(id))
  const onlyProbed = { ...resolved, ...(offered && { offered }) }
  const target = targetFor({ client, input, resolved: onlyProbed }, access, providerId)
  const edits = ifPossible(() => client.plan(files, target))
  return edits === undefined ? files : asPlanned(files, edits)
}
