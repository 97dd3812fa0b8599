import type { SettingChange } from './edits/types.ts'
import { errorCodes, isErrorCode } from './error-codes.ts'

/**
 * `error`: it does not work. `warning`: it may not work. `note`: worth knowing. `ok`: it was tested and
 * works; only `doctor` and a detailed `status` show that.
 */
export type Severity = 'error' | 'warning' | 'note' | 'ok'

/**
 * One problem or note. Code that finds one returns it, and only a command shows it. Between the two, it is in the
 * `findings` of a value: of `ResolvedOptions`, `ProvenSetup`, `ClientPlan`, `ApplyResult`. Each step of a command
 * adds them to its session (`addFindings`), which shows each of them once, and prints all of them with `--json`.
 * `status` and `doctor` show those of a client below its name instead (commands/status/show-clients.ts).
 */
export interface Finding {
  /** Stable: `codex-login`, `key-missing`, `drifted`. */
  readonly code: string
  readonly severity: Severity
  /** What is wrong, and what it causes. Never contains a secret. */
  readonly message: string
  /** A file, with `:line` if known, or `environment`. */
  readonly location?: string
  /** What the user can do or type. A flag is in braces, see `completeHint`. */
  readonly hint?: string
  /** A setup applies it, and `doctor --fix` offers it. */
  readonly fix?: FileFix
  /** A process that keeps the old settings. A setup offers to stop it after the files are written. */
  readonly process?: StoppableProcess
  /** What the user must accept first: what the setup or the fix removes, or what it cannot change. */
  readonly needsConsentTo?: string
  /** What it is about, if other checks or commands need to know. */
  readonly topic?: Topic
}

/**
 * A general check does not report a topic again that a client's check has reported.
 *
 * - `broken`: the client cannot read its file.
 * - `unwritable`: repoint cannot replace its file. A setup that has to stops.
 * - `key-missing`: the client has a gateway and no key.
 * - `context-window-unknown`: the client assumes a window.
 * - `override`: a setting elsewhere overrides the gateway.
 * - `redirected-key`: the same in a file of the current folder, which sends the key elsewhere. The user can
 *   accept that on a terminal, but not with `--yes`.
 * - `untested-setting`: a file of the folder has a setting that may do the same. `run` asks on a terminal.
 * - `other-tool`: another tool wrote the settings in use.
 */
type Topic =
  | 'broken'
  | 'unwritable'
  | 'key-missing'
  | 'context-window-unknown'
  | 'override'
  | 'redirected-key'
  | 'untested-setting'
  | 'other-tool'

export type Findings = Iterable<Finding>

export interface StoppableProcess {
  readonly stopCommand: string
  /** Returns why it may still run, or undefined. */
  stop(): Promise<string | undefined>
}

/** An edit that removes the problem of a finding. */
export interface FileFix {
  /** The `kind` of the file. */
  readonly fileKind: string
  readonly changes: readonly SettingChange[]
  /** What it does, for the plan: a verb and its object. Absent: the plan names the finding that it fixes. */
  readonly effect?: string
  /** Also removes what keeps the client from reading the file. */
  readonly removesSyntax?: JsonSyntax
}

/** What a JSON file may have and some clients do not accept: comments, trailing commas, a byte order mark. */
export type JsonSyntax = 'comments-and-commas' | 'commas' | 'commas-and-bom'

/**
 * How a setup shows a problem of a client, and what it does about it:
 *
 *     fix   needsConsentTo   shown as   the setup
 *     -     -                finding    stops if the severity is `error` (see `blocksSetup`)
 *     yes   -                fix        applies the fix
 *     -     yes              consent    asks the user; `--yes` consents
 *     yes   yes              consent    asks the user, then applies the fix; `--yes` consents
 */
export function shownAs({ fix, needsConsentTo }: Finding): 'finding' | 'fix' | 'consent' {
  if (needsConsentTo !== undefined) return 'consent'
  return fix === undefined ? 'finding' : 'fix'
}

/** Whether a problem stops a setup: it does not work, and nothing that the setup does changes that. */
export function blocksSetup(problem: Finding): boolean {
  return problem.severity === 'error' && shownAs(problem) === 'finding'
}

/** Whether one of these findings is about this topic already. */
export function hasTopic(topic: Topic | undefined, findings: readonly Finding[]): boolean {
  return topic !== undefined && findings.some((finding) => finding.topic === topic)
}

/** Whether something else overrides the gateway. Reports show all such findings in one line. */
export function isOverride({ topic }: Finding): boolean {
  return topic === 'override' || topic === 'redirected-key' || topic === 'untested-setting'
}

/** The message with its location, unless it names the file already. @param show formats a path */
export function messageWithLocation(
  { message, location }: Finding,
  show: (path: string) => string = (path) => path,
): string {
  if (location === undefined || namesFile(message, location)) return message
  return `${message} (${show(location)})`
}

/** Whether a message has this path, also with `~` for the home folder. */
function namesFile(message: string, path: string): boolean {
  const below = [...message.matchAll(/~[/\\]([^\s:,)]+)/g)].map(([, rest]) => rest!)
  return message.includes(path) || below.some((rest) => path.endsWith(rest))
}

export function asNoteWithLocation(finding: Finding): Finding {
  const { code, hint } = finding
  return { code, severity: 'note', message: messageWithLocation(finding), hint }
}

const severities: readonly Severity[] = ['error', 'warning', 'note', 'ok']

/** `ok` if there is no finding. */
export function mostSevere(findings: readonly Finding[]): Severity {
  return severities.find((level) => findings.some(({ severity }) => severity === level)) ?? 'ok'
}

/** The exit status of a command that only reports. Only errors change it. */
export function exitStatusFor(findings: readonly Finding[]): number {
  const errors = findings.filter(({ severity }) => severity === 'error')
  return Math.max(
    0,
    ...errors.map(
      ({ code }) => errorCodes[isErrorCode(code) ? code : 'config-conflict'].exitStatus,
    ),
  )
}

/** One line of a report: a problem, with the places where it is and what cures it. */
export interface FindingLine {
  readonly severity: Severity
  readonly message: string
  /** Every setting or place with this problem. Empty: the message says it. */
  readonly places: readonly string[]
  readonly hints: readonly string[]
}

/** One line for each problem, in the order of the findings. All overrides share one line. */
export function foldFindings(findings: readonly Finding[]): readonly FindingLine[] {
  const byProblem = new Map<string, Finding[]>()
  for (const finding of findings) {
    const problem = isOverride(finding) ? 'override' : `${finding.code}\n${finding.message}`
    byProblem.set(problem, [...(byProblem.get(problem) ?? []), finding])
  }
  return [...byProblem.values()].map(foldProblem)
}

function foldProblem(findings: readonly Finding[]): FindingLine {
  const severity = mostSevere(findings)
  const hints = unique(findings.map(({ hint }) => hint))
  const [first] = findings as readonly [Finding, ...Finding[]]
  if (findings.length === 1)
    return { severity, message: messageWithLocation(first), places: [], hints }
  if (!isOverride(first))
    return {
      severity,
      message: first.message,
      places: unique(findings.map(({ location }) => location)),
      hints,
    }

  const places = findings.map((finding) => messageWithLocation(finding))
  return { severity, message: `${places.length} settings override your gateway`, places, hints }
}

function unique(values: readonly (string | undefined)[]): readonly string[] {
  return [...new Set(values.filter((value) => value !== undefined))]
}
