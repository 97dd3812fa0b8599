/** What must a client's files, or one process of it, say so that it uses a gateway? */

import { variablesToRemove } from '../../clients/checks/environment.ts'
import type { Client } from '../../clients/contract/client.ts'
import { defaultProviderId } from '../../clients/contract/options.ts'
import {
  type LaunchSettings,
  launchKeyVariable,
  type ProcessToStart,
} from '../../clients/contract/program.ts'
import type { SetupTarget } from '../../clients/contract/setup.ts'
import { expectUsableOptions } from '../../clients/list.ts'
import { UserError, valueOrError } from '../../errors.ts'
import { addressFor, baseUrlFor } from '../../gateway/base-urls.ts'
import type { GatewayAccess, SafeguardsAnswer } from '../../gateway/types.ts'
import type { Machine } from '../../platform/platform.ts'
import { readClientFiles, stateNow } from '../client-state/client-files.ts'
import type { Session } from '../screen/session.ts'
import type { ResolvedChoice } from './client-choice.ts'

/** What a client's files, or the settings of one process, must say so that it uses the gateway. */
export function targetFor(
  { input, resolved }: Pick<SetupTarget, 'input' | 'resolved'>,
  access: GatewayAccess,
  providerId: string,
): SetupTarget {
  return {
    baseUrl: baseUrlFor(access, resolved.protocol),
    baseUrls: access.baseUrls,
    key: access.key,
    keyHeader: access.keyHeader,
    headers: access.headers,
    query: access.query,
    providerId,
    resolved,
    input,
    safeguards: 'not-requested',
  }
}

/** A process whose client uses the gateway. */
export interface Launch extends LaunchSettings {
  /** With the base URLs that have answered so far. */
  readonly access: GatewayAccess
  /** Shown before the start: the client, its gateway and its model. */
  readonly summary?: string
}

/**
 * Points one process of a client at the gateway. One of its variables contains the key. repoint's own
 * variables are not passed on.
 */
export function pointClient(
  session: Session,
  choice: ResolvedChoice,
  access: GatewayAccess,
  {
    process,
    safeguards,
  }: { readonly process: ProcessToStart; readonly safeguards: SafeguardsAnswer },
): Launch {
  const { client, resolved } = choice
  const removed = variablesToRemove(client, process.env)
  const env = {
    ...process.env,
    ...Object.fromEntries(removed.map((name) => [name, undefined])),
    ...loopbackWithoutProxy(process.env),
    [launchKeyVariable]: access.key,
    ...(access.caFile && { [client.program.caFileVariables[0]]: access.caFile }),
    REPOINT_BASE_URL: undefined,
    REPOINT_API_KEY: undefined,
  }
  const launch = client.launchSettings(
    readClientFiles(session, client),
    { ...targetFor(choice, access, providerIdOf(session, client)), safeguards },
    { ...process, env },
  )

  const { protocol } = resolved
  const address = addressFor(baseUrlFor(access, protocol), protocol)
  const { resume } = client.program
  const resumeNote =
    resume && launch.resumeKeeps
      ? `. An old conversation keeps its ${launch.resumeKeeps}: ${resume.command}`
      : ''
  const removedNote = removed.length > 0 ? `. It starts without ${removed.join(', ')}` : ''
  const summary = `${client.label}: ${address}, model ${resolved.model}${removedNote}${resumeNote}`
  return { ...launch, access, summary }
}

/** The provider ID in use, because the client records conversations under it, or else the default ID. */
export function providerIdOf(session: Session, client: Client): string {
  const { providerId } = stateNow(session, client).options
  const problem = valueOrError(() => expectUsableOptions(client, { providerId }))
  return problem instanceof UserError ? defaultProviderId : (providerId ?? defaultProviderId)
}

/** Without this, Claude Code 2.1.329 uses a proxy even for 127.0.0.1 (2026-11-21). */
export function loopbackWithoutProxy(env: Machine['env']): Machine['env'] {
  const set = env['NO_PROXY'] ?? env['no_proxy']
  const hosts = [set, '127.0.0.1,localhost'].filter(Boolean).join(',')
  return { NO_PROXY: hosts, no_proxy: hosts }
}
