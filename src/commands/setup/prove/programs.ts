/** The installed programs of the clients, and the checks that need neither their models nor their files. */
import type { Client } from '../../../clients/contract/client.ts'
import { sendingFindings } from '../../../clients/plan/headers.ts'
import { blocksSetup, type Finding, refuseBlocked } from '../../../finding.ts'
import type { GatewayAccess } from '../../../gateway/types.ts'
import {
  type InstalledProgram,
  programOf,
  versionFindings,
} from '../../client-state/program/program.ts'
import type { SetupContext } from '../types.ts'

/** The installed program of a client. Starts it if no step has needed its version so far. */
export function installedProgram(
  { session, programs }: SetupContext,
  client: Client,
): Promise<InstalledProgram> {
  const program = programs.get(client.id) ?? programOf(session, client)
  programs.set(client.id, program)
  return program
}

/** Starts all programs at once, because each can take a second for its version. */
export async function startPrograms(context: SetupContext): Promise<void> {
  await Promise.all(context.clients.map((client) => installedProgram(context, client)))
}

/** The findings about programs that do not stop the setup. */
export async function programFindings(context: SetupContext): Promise<readonly Finding[]> {
  const { clients } = context
  const findings: Finding[] = []
  for (const client of clients) {
    const program = await installedProgram(context, client)
    findings.push(...versionFindings(client, program))
  }
  return findings.filter((finding) => !blocksSetup(finding))
}

/**
 * Checks that a client can use the gateway, as far as that does not depend on its models and files.
 *
 * @param program absent: repoint does not know its version yet
 * @throws UserError `protocol-unsupported`, `client-too-old`, `client-version-unknown`
 */
export function expectUsable(
  { request }: SetupContext,
  client: Client,
  access: GatewayAccess,
  program?: InstalledProgram,
): void {
  // A new key is written even for a version that cannot use the gateway: that is not the key's fault.
  const checksVersion = program !== undefined && !request.isKeyOnly
  if (checksVersion) refuseBlocked([...versionFindings(client, program)])
  refuseBlocked([...sendingFindings(client, access)])
}

/** As `expectUsable`, for every client and its installed version. */
export async function expectAllUsable(context: SetupContext, access: GatewayAccess): Promise<void> {
  for (const client of context.clients) {
    const program = await installedProgram(context, client)
    expectUsable(context, client, access, program)
  }
}
