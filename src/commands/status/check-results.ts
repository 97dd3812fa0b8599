import { isBefore } from '../../clients/program/tested.ts'
import { compact } from '../../compact.ts'
import type { Finding } from '../../finding.ts'
import type { ClientNow } from '../client-state/client-facts.ts'
import {
  isInstalled,
  newMajorFindings,
  type ProgramVersion,
  versionFindings,
} from '../client-state/program/installed-program.ts'
import type { Session } from '../screen/session.ts'

/** A finding of `status` or `doctor`, and how it is shown. */
export interface CheckResult extends Finding {
  /** The client's family, or `machine`. Absent: the client that was checked. */
  readonly about?: string
  /** The message in a few words, for the line of its client or gateway. */
  readonly brief?: string
  /** The result is the same for every client of the gateway, and is shown once. */
  readonly isAboutGateway?: true
}

/**
 * The findings of a client, as `status` and `doctor` report them.
 *
 * @param isFixTried `doctor --fix` has run already, so that no hint names it again
 */
export function resultsOf(
  session: Session,
  { client, findings }: Pick<ClientNow, 'client' | 'findings'>,
  { isFixTried = false } = {},
): readonly CheckResult[] {
  return findings.map((finding) => {
    const { code, severity, message, location, topic, hint, fix, needsConsentTo } = finding
    const cure = hint && session.completeHint(hint, client.family)
    const command = `repoint doctor ${client.family} ${needsConsentTo === undefined ? '--fix' : '--fix --yes'}`
    return {
      code,
      severity: severity === 'error' || severity === 'ok' ? severity : 'warning',
      message,
      location,
      topic,
      hint: fix && !isFixTried ? orCommand(cure, command) : cure,
    }
  })
}

/** A hint that ends in a command gets no full stop, which someone could copy with it. */
function orCommand(hint: string | undefined, command: string): string {
  if (hint === undefined) return command
  return hint.endsWith('.') ? `${hint} Or: ${command}` : `${hint} (or: ${command})`
}

/** Whether a client's program is on this machine, in a version that repoint was tested with. */
export function checkInstalled(
  session: Session,
  { client, state }: ClientNow,
  installed: ProgramVersion,
): CheckResult {
  const { version = '' } = installed
  const code = 'installed'
  const { label, program } = client

  if (!isInstalled(session, client)) {
    const isSetUp = state.endpoint.baseUrl !== undefined
    return { code, severity: isSetUp ? 'warning' : 'ok', message: `${label} is not installed` }
  }

  const [problem] = versionFindings(client, installed)
  if (problem?.severity === 'error') return { ...problem, ...compact({ brief: installed.version }) }
  if (problem !== undefined) return asWarning(problem)

  const [untested] = newMajorFindings(client, installed)
  if (untested !== undefined) {
    const { message, hint } = untested
    return { code, severity: 'warning', message, brief: version, hint }
  }

  const result = { code, message: `${label} ${version}`, brief: version } as const
  const { testedVersions } = program
  const [oldest = version, newest = version] = [testedVersions[0], testedVersions.at(-1)]

  if (isBefore(version, oldest)) {
    const message = `${result.message} is older than the oldest version that repoint was tested with (${oldest})`
    return { ...result, severity: 'warning', message, hint: 'If something fails, update it.' }
  }
  if (isBefore(newest, version)) {
    const message = `${result.message} is newer than the newest version that repoint was tested with (${newest})`
    return { ...result, severity: 'warning', message, hint: 'If something fails, update repoint.' }
  }
  return { ...result, severity: 'ok' }
}

/** Whether neither the program nor a file of a client is on this machine, and nothing needs attention. */
export function isNothingHere(session: Session, { client, files, findings }: ClientNow): boolean {
  if (isInstalled(session, client)) return false
  return (
    files.every(({ use, bytes }) => use !== 'editable' || bytes === null) &&
    findings.every(({ severity }) => severity === 'ok')
  )
}

export function asWarning(finding: Finding): Finding {
  return { ...finding, severity: 'warning' }
}
