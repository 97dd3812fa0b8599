import type { LoadedFiles } from '../../../clients/contract/files.ts'
import { defaultProviderId } from '../../../clients/contract/options.ts'
import { catalogIn } from '../../../clients/contract/setup.ts'
import { asPlanned } from '../../../clients/files/parse-file.ts'
import { modelsToProve } from '../../../clients/models/resolve.ts'
import { effectiveOptions } from '../../../clients/options/chosen-options.ts'
import { ifPossible } from '../../../errors.ts'
import type { GatewayRequester } from '../../../gateway/gateway-requester.ts'
import type { CatalogAnswer } from '../../../gateway/types.ts'
import { readClientFiles } from '../../client-state/client-files.ts'
import { loadSenders, Probes } from '../../probes/probes.ts'
import type { ResolvedChoice } from '../../resolve/client-choice.ts'
import { targetFor } from '../../resolve/point-client.ts'
import type { SetupContext } from '../context.ts'

/** The probes of a setup. Each sends a client's first request with the files that the setup would write. */
export function probesFor(
  context: SetupContext,
  requester: GatewayRequester,
  catalog: Promise<CatalogAnswer>,
): Probes {
  return new Probes(
    (request) => requester.probe({ ...request, catalog }),
    (choice) => {
      const files = filesAfter(context, requester, choice)
      return loadSenders(context.session, choice.client, { files, ...choice.program })
    },
  )
}

/** A client's files as the setup would leave them, with only the models that are probed. */
function filesAfter(
  { session, policy }: SetupContext,
  { access }: GatewayRequester,
  { client, input, resolved }: ResolvedChoice,
): LoadedFiles {
  const files = readClientFiles(session, client)
  if (!policy.writesOptions) return files

  const { providerId = defaultProviderId } = effectiveOptions(input)
  const ids = modelsToProve(resolved, catalogIn(input.gatewayInfo)).map(({ model }) => model)
  const offered = resolved.offered.filter(({ id }) => ids.includes(id))
  const onlyProbed = { ...resolved, offered }
  const target = targetFor({ input, resolved: onlyProbed }, access, providerId)
  const edits = ifPossible(() => client.plan(files, target))
  return edits === undefined ? files : asPlanned(files, edits)
}
