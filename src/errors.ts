import { compact } from './compact.ts'
import { printable } from './text.ts'

/**
 * What can go wrong, with the exit status of each code. A code never changes once released.
 * The table in docs/errors.md is generated from this one.
 */
export const exitStatus = {
  internal: 1,

  usage: 2,
  'key-missing': 2,
  'key-placeholder': 2,
  'confirmation-needed': 2,
  'header-missing': 2,

  'key-rejected': 3,

  'not-an-api': 4,
  'wrong-route': 4,
  'docs-host': 4,

  'model-unknown': 5,
  'model-not-allowed': 5,
  'protocol-unsupported': 5,
  'route-not-allowed': 5,
  'tools-unsupported': 5,
  'parameter-unsupported': 5,

  refused: 6,
  dns: 6,
  tls: 6,
  proxy: 6,
  timeout: 6,
  redirected: 6,

  quota: 7,
  'rate-limited': 7,
  'gateway-fault': 7,
  'client-refused': 7,
  forbidden: 7,

  'config-invalid': 8,
  'config-conflict': 8,
  'changed-underneath': 8,
  'not-permitted': 8,
  'disk-full': 8,
  'io-failed': 8,
  'backup-missing': 8,
  'record-damaged': 8,
  'client-failed': 8,
  'client-too-old': 8,
  'client-version-unknown': 8,

  locked: 9,

  'held-back': 10,

  drifted: 11,

  cancelled: 130,
} as const

export type ErrorCode = keyof typeof exitStatus

export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(exitStatus, code)
}

/**
 * What state the user's files are in when an error is reported.
 * `pending`: some may be switched, and the next start of repoint takes that back. `unknown`: a run was cut
 * off, and what it had switched by then cannot be told.
 */
export type FilesState = 'unchanged' | 'changed' | 'pending' | 'unknown'

/** A failure that a person can act on. Anything else that is thrown is our own bug. */
export class UserError extends Error {
  readonly code: ErrorCode
  /** The next thing to type or do. */
  readonly hint: string | undefined
  /** The same beside a question, whose answer is typed: flags are of no use there. */
  readonly hintAtPrompt: string | undefined
  readonly files: FilesState

  constructor(options: {
    code: ErrorCode
    /** What and where, without a final full stop about the state of the files: that is added. */
    message: string
    hint?: string | undefined
    /** Absent: the hint, which names no flag. */
    hintAtPrompt?: string | undefined
    files?: FilesState
    cause?: unknown
  }) {
    super(options.message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'UserError'
    this.code = options.code
    this.hint = options.hint
    this.hintAtPrompt = options.hintAtPrompt ?? options.hint
    this.files = options.files ?? 'unchanged'
  }
}

/** What `work` gives, or why it gives nothing. */
export function resultOf<Result>(work: () => Result): Result | UserError {
  try {
    return work()
  } catch (error) {
    if (error instanceof UserError) return error
    throw error
  }
}

/** What `work` gives; undefined where it fails, for whatever reason: for a look that nothing hangs on. */
export function ifPossible<Result>(work: () => Result): Result | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}

/** The document that `--json` prints for a failure. */
export interface ErrorDocument {
  /** Null: what was typed is no command. */
  readonly command: string | null
  /** Whether files are changed by now, or may be. */
  readonly changed: boolean
  readonly error: {
    readonly code: ErrorCode
    readonly message: string
    readonly hint?: string
    /**
     * `"pending"`: the next start of repoint takes back what is switched. `"unknown"`: some of the
     * files of a run that was cut off may be switched and others not.
     */
    readonly filesChanged: boolean | 'pending' | 'unknown'
  }
}

const filesSentence: Readonly<Record<FilesState, string>> = {
  unchanged: 'Nothing was changed.',
  changed: 'The files were changed; `WAY-BACK` undoes it.',
  pending: 'The change is not finished; the next start of repoint takes it back.',
  unknown: 'Some of its files may be switched and others not.',
}

const filesChanged = {
  unchanged: false,
  changed: true,
  pending: 'pending',
  unknown: 'unknown',
} as const

/** What is not a `UserError` is our own bug: it is said so, with the stack. */
function asUserError(error: unknown): UserError {
  if (error instanceof UserError) return error
  const detail = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return new UserError({
    code: 'internal',
    message: `This is a fault in repoint itself.\n${detail}`,
    hint: 'Please report it with the lines above; `npm bugs repoint` names the place.',
    cause: error,
  })
}

/** How an error is to be shown. */
export interface ErrorFormat {
  readonly json: boolean
  /** Takes secrets out of every text before it is shown. */
  readonly redact: (text: string) => string
  /** What the command had done to the files by then: told, unless the error knows better. */
  readonly files: FilesState
  /** The command that undoes that. */
  readonly undoCommand: string
  /** What was run, as its documents name it. */
  readonly command: string | null
}

/** Renders any thrown value for a person or as one JSON document. The only place that does so. */
export function renderError(
  thrown: unknown,
  format: ErrorFormat,
): { text: string; exitStatus: number } {
  const error = asUserError(thrown)
  const files = error.files === 'unchanged' ? format.files : error.files
  const message = printable(format.redact(error.message))
  const hint = error.hint === undefined ? undefined : printable(format.redact(error.hint))
  const status = exitStatus[error.code]
  if (format.json) {
    const document: ErrorDocument = {
      command: format.command,
      changed: files === 'changed' || files === 'unknown',
      error: {
        code: error.code,
        message,
        ...compact({ hint }),
        filesChanged: filesChanged[files],
      },
    }
    return { text: `${JSON.stringify(document)}\n`, exitStatus: status }
  }
  const state = filesSentence[files].replace('WAY-BACK', format.undoCommand)
  const body = indent(`${message}${/[.!?]$/.test(message) ? '' : '.'} ${state}`)
  const lines = [`error: ${body}`]
  if (hint !== undefined) lines.push(`hint:  ${indent(hint)}`)
  return { text: `${lines.join('\n')}\n`, exitStatus: status }
}

function indent(text: string): string {
  return text.split('\n').join('\n       ')
}
