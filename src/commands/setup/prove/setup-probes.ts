import type { Client } from '../../../clients/contract/client.ts'
import type { LoadedFiles } from '../../../clients/contract/files.ts'
import type { ResolvedOptions } from '../../../clients/contract/setup.ts'
import { asPlanned } from '../../../clients/files/read-file.ts'
import { routesToProve } from '../../../clients/models/resolve.ts'
import { effectiveOptions } from '../../../clients/options/chosen-options.ts'
import { ifPossible, type UserError } from '../../../errors.ts'
import type { GatewayFinder } from '../../../gateway/gateway-finder.ts'
import type { Catalog, GatewayAccess } from '../../../gateway/types.ts'
import { readClientFiles } from '../../client-state/files.ts'
import type { InstalledProgram } from '../../client-state/program.ts'
import { targetFor } from '../../client-state/target.ts'
import type { SetupContext } from '../request.ts'
import { resolveInputFor } from '../resolve-input.ts'
import { loadFirstRequests, Probes } from './probes.ts'

/** The probes of a setup. Each sends a client's first request with the files that the setup would write. */
export function probesFor(
  context: SetupContext,
  finder: GatewayFinder,
  {
    catalog,
    catalogError,
    programs,
    earlier,
  }: {
    readonly catalog: Catalog | undefined
    readonly catalogError: UserError | undefined
    readonly programs: ReadonlyMap<Client, InstalledProgram>
    readonly earlier?: Probes | undefined
  },
): Probes {
  return new Probes(
    (...request) => finder.probe(...request),
    catalog ?? catalogError,
    (client, resolved) =>
      loadFirstRequests(context.session, client, {
        files: filesAfter(context, client, { access: finder.access, resolved, catalog }),
        ...programs.get(client)!,
      }),
    earlier,
  )
}

/** A client's files as the setup would leave them, with only the models that are probed. */
function filesAfter(
  context: SetupContext,
  client: Client,
  {
    access,
    resolved,
    catalog,
  }: {
    readonly access: GatewayAccess
    readonly resolved: ResolvedOptions
    readonly catalog: Catalog | undefined
  },
): LoadedFiles {
  const files = readClientFiles(context.session, client)
  if (context.request.isKeyOnly) return files

  const input = resolveInputFor(context, client, access, { catalog, rejected: [] })
  const { providerId = 'gateway' } = effectiveOptions(input)

  const ids = routesToProve(client, resolved, catalog).map(({ model }) => model)
  const offered = resolved.offered?.filter(({ id }) => ids.includes(id))
  const onlyProbed = { ...resolved, ...(offered && { offered }) }
  const target = targetFor({ client, input, resolved: onlyProbed }, access, providerId)
  const edits = ifPossible(() => client.plan(files, target))
  return edits === undefined ? files : asPlanned(files, edits)
}
