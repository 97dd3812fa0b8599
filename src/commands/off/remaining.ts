import { type Client, type LoadedFiles, whyUnreadable } from '../../clients/client.ts'
import { overrideFindings } from '../../clients/overrides.ts'
import { variableFindings } from '../../clients/shell.ts'
import { compact } from '../../compact.ts'
import type { Finding } from '../../finding.ts'
import type { Runs } from '../../transaction/record.ts'
import { withLocation } from '../client-state/files.ts'
import { contextOf } from '../client-state/state.ts'
import type { Session } from '../screen/session.ts'

/** A client after `off`. */
interface Remaining {
  readonly after: LoadedFiles
  readonly runs: Runs
  /** The user named it, or `off` changes it. Otherwise only what sends it to a gateway is reported. */
  readonly isConcerned: boolean
}

/**
 * The files and variables that point a client at a gateway after `off`, because repoint does not edit
 * them.
 */
export function remainingFindings(
  session: Session,
  client: Client,
  { after, runs, isConcerned }: Remaining,
): readonly Finding[] {
  const { label, config } = client
  const { addresses = [], others = [] } = config.gatewayVariables ?? {}
  const context = contextOf(session, client, after, runs)
  const findingsOf = (names: readonly string[]) => {
    const effect = `${label} uses it, whatever its files say`
    return [
      ...variableFindings(
        context,
        names.map((name) => ({ name, code: 'still-at-gateway', effect, severity: 'warning' })),
      ),
    ]
  }

  const layers = [...overrideFindings(client, after, {})]
  const moved = findingsOf(addresses)
  const isMoved = moved.length > 0 || layers.some(({ severity }) => severity === 'error')
  if (!isConcerned && !isMoved) return []

  return [...ownFileFindings(client, after), ...layers, ...moved, ...findingsOf(others)].map(
    withLocation,
  )
}

/** What the client's own files say, and repoint did not change. */
function* ownFileFindings(client: Client, after: LoadedFiles): Generator<Finding> {
  const { label } = client
  const state = client.read(after)
  const { baseUrl } = state.endpoint
  const broken = whyUnreadable(state)
  if (baseUrl !== undefined)
    yield {
      code: 'still-at-gateway',
      message: `${label} still points at ${baseUrl}, because of a file that repoint does not edit`,
      ...compact({ location: state.sources.baseUrl }),
      hint: 'Remove the address from that file.',
    }
  if (broken !== undefined)
    yield { code: 'broken', message: `${label} cannot read its files: ${broken}` }
}
