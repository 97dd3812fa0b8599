import type { Client } from '../clients/client.ts'
import type { Session } from './screen/session.ts'

/** A client's program on this machine. */
export interface Installed {
  readonly path: string
  /** `0.169.0`; absent where it did not say. */
  readonly version?: string
  /** Whether our tests run against this version. */
  readonly isTested: boolean
}

/** Asking a client for its version takes some of them a second. */
const versionTimeoutMs = 10_000

/** Looks for the client's command in PATH and asks it for its version. */
export async function findInstalled(
  session: Session,
  { binary }: Client,
): Promise<Installed | undefined> {
  const { processes } = session.platform
  const path = processes.which(binary.command)
  if (path === undefined) return undefined
  const { stdout } = await processes.run(path, binary.versionArgs, { timeoutMs: versionTimeoutMs })
  const version = /\d+\.\d+\.\d+[\w.-]*/.exec(stdout)?.[0]
  return {
    path,
    ...(version === undefined ? {} : { version }),
    isTested: version !== undefined && binary.testedVersions.includes(version),
  }
}
