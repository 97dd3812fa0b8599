import { type ErrorCode, errorCodes, isErrorCode } from './error-codes.ts'
import { blocksSetup, type Finding, messageWithLocation } from './finding.ts'
import { asSentence, printable } from './text.ts'

/**
 * The state of the user's files when an error is reported.
 *
 * `pending`: some files may be switched, and the next start of repoint restores them. `unknown`: a run
 * was interrupted, and nobody can tell which files it had switched.
 */
export type FilesState = 'unchanged' | 'changed' | 'pending' | 'unknown'

interface UserErrorOptions {
  readonly code: ErrorCode
  /** What failed and where. A sentence about the state of the files is added to it. */
  readonly message: string
  /** The next thing to type or do. A flag is in braces, see `completeHint`. */
  readonly hint?: string
  /** The hint at a prompt, where the user types an answer and cannot use flags. Absent: the same as `hint`. */
  readonly hintAtPrompt?: string
  readonly filesState?: FilesState
  /** The finding that stops the command. */
  readonly finding?: Finding
  readonly cause?: unknown
  /** What the JSON document has in addition. */
  readonly members?: Readonly<Record<string, unknown>>
}

/** A failure that the user can act on. Any other thrown error is a bug in repoint. */
export class UserError extends Error {
  readonly code: ErrorCode
  readonly hint: string | undefined
  readonly hintAtPrompt: string | undefined
  readonly filesState: FilesState
  readonly members: Readonly<Record<string, unknown>> | undefined
  readonly finding: Finding | undefined

  constructor(options: UserErrorOptions) {
    super(options.message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'UserError'
    this.code = options.code
    this.hint = options.hint
    this.hintAtPrompt = options.hintAtPrompt ?? options.hint
    this.filesState = options.filesState ?? 'unchanged'
    this.members = options.members
    this.finding = options.finding
  }

  /**
   * A copy with these changes. A new hint also replaces `hintAtPrompt`. The copy of a subclass is a plain `UserError`.
   */
  with(changes: Partial<UserErrorOptions>): UserError {
    const { code, message, hint, hintAtPrompt } = this
    const { filesState, finding, cause, members } = this
    const sameHint = 'hint' in changes ? {} : { hint, hintAtPrompt }
    const same = { code, message, filesState, finding, cause, members }
    return new UserError({ ...same, ...sameHint, ...changes })
  }
}

/** Whether an error leaves something to do: it is neither a bug in repoint nor the user's Ctrl-C. */
export function canContinueAfter(error: unknown): error is UserError {
  return error instanceof UserError && error.code !== 'cancelled'
}

/** Returns the result of `work`, or the `UserError` that it throws. */
export function valueOrError<Result>(work: () => Result): Result | UserError {
  try {
    return work()
  } catch (error) {
    if (error instanceof UserError) return error
    throw error
  }
}

/** Returns the result of `work`, or undefined if it throws any error. For optional information. */
export function ifPossible<Result>(work: () => Result): Result | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}

/** A failed step as a finding, for a command that reports it and goes on. */
export function findingFrom({ code, message, hint, finding }: UserError): Finding {
  return finding ?? { code, severity: 'error', message, hint }
}

/** A finding that stops the command. A code that is no error code is a problem in a config file. */
export function errorFrom(finding: Finding, message = messageWithLocation(finding)): UserError {
  const { code, hint } = finding
  return new UserError({
    code: isErrorCode(code) ? code : 'config-conflict',
    message,
    finding,
    hint,
  })
}

/** @throws UserError for the first finding that blocks a setup */
export function refuseBlocked(findings: readonly Finding[]): void {
  const problem = findings.find(blocksSetup)
  if (problem !== undefined) throw errorFrom(problem)
}

/** The document that `--json` prints for a failure. */
interface ErrorDocument {
  /** Null if the user did not type a known command. */
  readonly command: string | null
  /** Whether files were changed, or may have been. */
  readonly changed: boolean
  readonly error: {
    /** An error code, or the code of the finding that stopped the command. */
    readonly code: string
    readonly message: string
    readonly hint?: string
    /**
     * `"pending"`: the next start of repoint restores the files. `"unknown"`: a run was interrupted,
     * and some of its files may be switched and others not.
     */
    readonly filesChanged: boolean | 'pending' | 'unknown'
  }
}

const filesSentence: Readonly<Record<FilesState, string>> = {
  unchanged: 'Nothing changed.',
  changed: 'The files were changed. Undo: UNDO-COMMAND',
  pending: 'The change is not finished. The next start of repoint undoes it.',
  unknown: 'Some of its files may be changed and others not.',
}

const filesChanged = {
  unchanged: false,
  changed: true,
  pending: 'pending',
  unknown: 'unknown',
} as const

/** Turns an unexpected error into an `internal` error with its stack, because it is a bug in repoint. */
function asUserError(error: unknown): UserError {
  if (error instanceof UserError) return error
  const detail = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return new UserError({
    code: 'internal',
    message: `This is a bug in repoint.\n${detail}`,
    hint: 'Please report this bug, with the lines above.',
    cause: error,
  })
}

interface ErrorFormat {
  readonly json: boolean
  /** Masks secrets in a text. */
  readonly redact: (text: string) => string
  /** The state of the files, unless the error itself reports another state. */
  readonly filesState: FilesState
  /** The command that undoes the changes of the files. */
  readonly undoCommand: string
  /** The name of the command in JSON documents. */
  readonly command: string | null
}

/** Formats any thrown value, as text or as one JSON document. Nothing else formats errors. */
export function renderError(
  thrown: unknown,
  format: ErrorFormat,
): { text: string; exitStatus: number } {
  const error = asUserError(thrown)
  const filesState = error.filesState === 'unchanged' ? format.filesState : error.filesState
  const message = printable(format.redact(error.message))
  const hint = error.hint === undefined ? undefined : printable(format.redact(error.hint))
  const { exitStatus } = errorCodes[error.code]

  if (format.json) {
    const document: ErrorDocument = {
      command: format.command,
      changed: filesState === 'changed' || filesState === 'unknown',
      error: {
        code: error.finding?.code ?? error.code,
        message,
        hint,
        filesChanged: filesChanged[filesState],
      },
      ...error.members,
    }
    return { text: `${JSON.stringify(document)}\n`, exitStatus }
  }

  const state = filesSentence[filesState].replace('UNDO-COMMAND', format.undoCommand)
  const body = indent(`${asSentence(message)} ${state}`)
  const lines = [`error: ${body}`]
  if (hint !== undefined) lines.push(`hint:  ${indent(hint)}`)
  return { text: `${lines.join('\n')}\n`, exitStatus }
}

function indent(text: string): string {
  return text.split('\n').join('\n       ')
}
