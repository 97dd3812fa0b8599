/** The installed programs of the clients, and the checks that need neither their models nor their files. */
import type { Client } from '../../../clients/contract/client.ts'
import type { Finding } from '../../../finding.ts'
import type { GatewayAccess } from '../../../gateway/types.ts'
import { blocksSetup, checkClient, refuseBlocked } from '../../client-state/check-client.ts'
import { type InstalledProgram, programOf } from '../../client-state/program.ts'
import type { Session } from '../../screen/session.ts'
import type { SetupContext } from '../request.ts'

/** The installed programs of the clients. */
export async function programsOf({
  session,
  clients,
  startedPrograms,
}: SetupContext): Promise<ReadonlyMap<Client, InstalledProgram>> {
  const programs = await Promise.all(
    clients.map(async (client) => {
      const program = startedPrograms?.get(client.id) ?? programOf(session, client)
      return [client, await program] as const
    }),
  )
  return new Map(programs)
}

/** The findings about programs that do not stop the setup. */
export function programFindings(
  session: Session,
  programs: ReadonlyMap<Client, InstalledProgram>,
): readonly Finding[] {
  const findings = [...programs].flatMap(([client, program]) =>
    checkClient({ session, client, purpose: 'setup', program }),
  )
  return findings.filter((finding) => !blocksSetup(finding))
}

/**
 * Checks that a client can use the gateway, as far as that does not depend on its models and files.
 *
 * @param program absent: repoint does not know its version yet
 * @throws UserError `protocol-unsupported`, `client-too-old`, `client-version-unknown`
 */
export function expectUsable(
  { session, request }: SetupContext,
  client: Client,
  access: GatewayAccess,
  program?: InstalledProgram,
): void {
  // A new key is written even for a version that cannot use the gateway: that is not the key's fault.
  const checksVersion = program !== undefined && !request.isKeyOnly
  const withProgram = checksVersion ? { program } : {}
  refuseBlocked(checkClient({ session, client, purpose: 'setup', access, ...withProgram }))
}
