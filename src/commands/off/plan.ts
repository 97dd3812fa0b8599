/** What `repoint off` does for each client. */
import {
  type Client,
  type LoadedFiles,
  usesSameCredentials,
  whyUnreadable,
} from '../../clients/client.ts'
import { environmentRows, loadClients, rowOf, rows } from '../../clients/list.ts'
import { asPlanned, readFile } from '../../clients/loaded-files.ts'
import { isAtGateway, planOwnService } from '../../clients/own-service.ts'
import { compact } from '../../compact.ts'
import { actionOf, type FileEdit } from '../../edits/plan.ts'
import { resultOf, UserError } from '../../errors.ts'
import type { Finding } from '../../finding.ts'
import type { Runs } from '../../transaction/record.ts'
import { readClientFiles } from '../client-state/files.ts'
import { clientsInUse } from '../client-state/state.ts'
import type { Session } from '../screen/session.ts'
import { earlierFiles } from './earlier-files.ts'
import { remainingFindings } from './remaining.ts'

/** What `off` does for one client. */
export interface ClientOff {
  readonly client: Client
  readonly after: LoadedFiles
  /** Empty: its files use its own service already. */
  readonly edits: readonly FileEdit[]
  /** What still points it at a gateway, and what the change means for other data. */
  readonly findings: readonly Finding[]
}

/**
 * Plans every client that points at a gateway.
 *
 * @param ids the clients that the user named. Empty: all of them
 * @throws UserError `config-invalid`, `config-conflict`, `not-permitted` for a client that was named
 */
export async function planClients(
  session: Session,
  runs: Runs,
  ids: readonly string[],
): Promise<readonly ClientOff[]> {
  const isNamed = ids.length > 0
  const clients = await clientsMeant(session, runs, ids)
  return clients.flatMap((client) => {
    const planned = resultOf(() => planClient(session, client, runs, isNamed))
    if (!(planned instanceof UserError)) {
      const isConcerned = planned.edits.length > 0 || planned.findings.length > 0
      return isNamed || isConcerned ? [planned] : []
    }
    if (isNamed) throw planned

    const { message, hint } = planned
    const leftOut = { code: 'client-left-out', message: `Skipped ${client.label}: ${message}` }
    session.addFindings({ ...leftOut, ...compact({ hint }) })
    return []
  })
}

/** One client of each family, and those without files. */
async function clientsMeant(
  session: Session,
  runs: Runs,
  ids: readonly string[],
): Promise<readonly Client[]> {
  const isMeant = (id: string) => ids.length === 0 || ids.includes(id)
  const families = rows.flatMap(({ id }) => (isMeant(id) ? rowOf(id).family : []))
  const clients = await clientsInUse(session, runs)
  const others = await loadClients(environmentRows.filter(({ id }) => isMeant(id)))
  return [...clients.filter(({ family }) => families.includes(family)), ...others]
}

function planClient(session: Session, client: Client, runs: Runs, isNamed: boolean): ClientOff {
  const before = readClientFiles(session, client)
  refuseUnreadable(client, before)

  const isPointed = isAtGateway(client, before)
  const earlier = isPointed ? earlierFiles(session, client, before) : undefined
  const planned = isPointed ? planOwnService(client, before, earlier) : []
  const edits = planned.some(isChange) ? planned : []
  const after = asPlanned(before, edits)
  for (const { key } of [client.read(before).endpoint, client.read(after).endpoint])
    if (key !== undefined) session.hide(key)

  const change = { by: 'undo', before, after } as const
  return {
    client,
    after,
    edits,
    findings: [
      ...remainingFindings(session, client, { after, runs, isConcerned: isPointed || isNamed }),
      ...(isPointed ? (client.sideEffects?.(session.platform, change) ?? []) : []),
    ],
  }
}

/** @throws UserError `config-invalid` for a file that does not say where the client points */
function refuseUnreadable({ label }: Client, files: LoadedFiles): void {
  const targets = files.filter(({ use }) => use === 'target')
  const [problem] = targets.flatMap((file) => readFile(file).problem ?? [])
  if (problem === undefined) return
  throw new UserError({
    code: 'config-invalid',
    message: `Cannot tell where ${label} points: ${problem}`,
    hint: 'Fix that file, then run this again.',
  })
}

export function isChange(edit: FileEdit): boolean {
  return actionOf(edit) !== 'unchanged'
}

/** Why the written files do not say what was planned. */
export function mismatchesIn(
  session: Session,
  clients: readonly ClientOff[],
): readonly UserError[] {
  return clients.flatMap(({ client, after }) => {
    const planned = client.read(after)
    const written = client.read(readClientFiles(session, client))
    if (usesSameCredentials(planned, written) && whyUnreadable(planned) === whyUnreadable(written))
      return []
    return new UserError({
      code: 'internal',
      message: `${client.label} would not read the planned files as intended`,
      hint: 'Please report this bug.',
    })
  })
}
