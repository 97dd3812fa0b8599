/**
 * The installed programs of the clients, and the checks that need neither their models nor their files.
 *
 * In: a client, and the access that the gateway has accepted so far. Out: its `InstalledProgram`, findings,
 * or an error if it cannot use the gateway.
 */
import type { Client } from '../../../clients/contract/client.ts'
import { sendingFindings } from '../../../clients/plan/headers.ts'
import { refuseBlocked } from '../../../errors.ts'
import { blocksSetup, type Finding } from '../../../finding.ts'
import type { GatewayAccess } from '../../../gateway/types.ts'
import {
  type InstalledProgram,
  programOf,
  versionFindings,
} from '../../client-state/program/installed-program.ts'
import type { SetupContext } from '../context.ts'

/** The installed program of a client. Starts it if no step has needed its version so far. */
export function installedProgram(
  { session, programs }: SetupContext,
  client: Client,
): Promise<InstalledProgram> {
  const program = programs.get(client.id) ?? programOf(session, client, 'setup')
  programs.set(client.id, program)
  return program
}

/** Starts all programs at once, because each can take a second for its version. */
export async function startPrograms(context: SetupContext): Promise<void> {
  await Promise.all(context.clients.map((client) => installedProgram(context, client)))
}

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
 * Checks that the client's installed version can use a gateway, and that it can send what this one needs.
 *
 * @throws UserError `client-too-old`, `client-version-unknown`, or as `expectCanSend` does
 */
export async function expectUsable(
  context: SetupContext,
  client: Client,
  access: GatewayAccess,
): Promise<void> {
  if (context.policy.checksVersion) {
    const program = await installedProgram(context, client)
    refuseBlocked([...versionFindings(client, program)])
  }
  expectCanSend(client, access)
}

/**
 * Checks that a client can send the key, the headers and the query that the gateway needs. A setup checks it
 * after the catalog and after the probes: both can find out that the gateway needs the key in another header.
 *
 * @throws UserError `protocol-unsupported`
 */
export function expectCanSend(client: Client, access: GatewayAccess): void {
  refuseBlocked([...sendingFindings(client, access)])
}
