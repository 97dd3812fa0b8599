import { variableFindings } from '../../clients/checks/environment.ts'
import { overrideFindings } from '../../clients/checks/overrides.ts'
import type { Client } from '../../clients/contract/client.ts'
import type { LoadedFiles } from '../../clients/contract/files.ts'
import { whyUnreadable } from '../../clients/contract/state.ts'
import type { Finding } from '../../finding.ts'
import { asNoteWithLocation } from '../../finding.ts'
import type { Runs } from '../../transaction/record.ts'
import { contextOf } from '../client-state/check-files.ts'
import { versionOfPackage } from '../client-state/program/installed-program.ts'
import type { Session } from '../screen/session.ts'

/** A client after `off`. */
interface ClientAfterOff {
  readonly after: LoadedFiles
  readonly runs: Runs
  /** The user named it, or `off` changes it. Otherwise findings that move no address are left out. */
  readonly isConcerned: boolean
}

/**
 * Reports the files and variables that still point a client at a gateway after `off`, because repoint does
 * not edit them.
 */
export function remainingFindings(
  session: Session,
  client: Client,
  { after, runs, isConcerned }: ClientAfterOff,
): readonly Finding[] {
  const { label, config } = client
  const { addresses = [], others = [] } = config.gatewayVariables ?? {}
  const context = contextOf(session, client, after, runs)
  const findingsFor = (variables: readonly string[]) => {
    const effect = `${label} uses it, whatever its files say`
    const watched = variables.map(
      (name) => ({ name, code: 'still-at-gateway', effect, severity: 'warning' }) as const,
    )
    return [...variableFindings(context, watched)]
  }

  const overrides = [
    ...overrideFindings(client, after, {}, () => versionOfPackage(session, client)),
  ]
  const addressFindings = findingsFor(addresses)
  const isStillMoved =
    addressFindings.length > 0 || overrides.some(({ severity }) => severity === 'error')
  if (!isConcerned && !isStillMoved) return []

  const findings = [
    ...ownFileFindings(client, after),
    ...overrides,
    ...addressFindings,
    ...findingsFor(others),
  ]
  return findings.map(asNoteWithLocation)
}

/** Reports what the client's own files still say because repoint did not change it. */
function* ownFileFindings(client: Client, after: LoadedFiles): Generator<Finding> {
  const { label } = client
  const state = client.read(after)
  const { baseUrl } = state.endpoint
  const broken = whyUnreadable(state)
  if (baseUrl !== undefined)
    yield {
      code: 'still-at-gateway',
      severity: 'note',
      message: `${label} still points at ${baseUrl}, because of a file that repoint does not edit`,
      location: state.origins.baseUrl,
      hint: 'Remove the address from that file.',
    }
  if (broken !== undefined)
    yield { code: 'broken', severity: 'note', message: `${label} cannot read its files: ${broken}` }
}
