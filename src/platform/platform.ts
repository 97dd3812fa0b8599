/**
 * The outside world as one type. A function that reads or changes it takes a `Platform` (or the part that it
 * needs), so that tests can replace a single call. Only requests to a gateway, spinners and timers go to Node
 * themselves. `node.ts` is the real implementation.
 */
export interface Platform {
  readonly machine: Machine
  readonly terminal: Terminal
  readonly files: Files
  readonly processes: Processes
  readonly clock: Clock
  readonly ask: Ask
  /** Aborts at the first Ctrl-C or SIGTERM. A second one ends the process immediately. */
  readonly interrupt: AbortSignal
  /**
   * Runs a command on our terminal, with our standard input and output, until it exits. If `signal`
   * aborts, the command receives SIGTERM. Without `signal`, the command receives every terminating
   * signal that we receive, unless the terminal sent it to both. Never throws.
   */
  runInForeground(
    command: string,
    args: readonly string[],
    options: { readonly env: RunOptions['env']; readonly signal?: AbortSignal },
  ): Promise<ForegroundResult>
}

/** How a command on our terminal ended. */
export type ForegroundResult =
  | { readonly reason: 'exited'; readonly exitStatus: number }
  /** `signalNumber` is the number of the system: 2 is SIGINT. */
  | { readonly reason: 'killed'; readonly signalNumber: number }
  | { readonly reason: 'not-started'; readonly problem: string }

/** Facts about the machine that decide the paths of files. Plain data. */
export interface Machine {
  readonly os: 'linux' | 'darwin' | 'win32'
  /** The environment of the process. Names are case-sensitive, even on Windows. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** The home folder, absolute. */
  readonly home: string
  /** The working folder, absolute. */
  readonly cwd: string
}

interface Clock {
  now(): Date
}

export interface Terminal {
  /** Whether questions can be asked: standard input and the prompt's output are both terminals. */
  readonly canAsk: boolean
  readonly stdoutIsTerminal: boolean
  readonly stderrIsTerminal: boolean
  /** The width in columns. 80 if there is no terminal. */
  readonly columns: number
  /**
   * The system's code if standard output cannot be written: `ENOSPC`, `EPIPE`. `out` does not throw, so
   * that the command does its work anyway.
   */
  readonly outFailure: string | undefined
  /** Writes text to standard output unchanged. */
  out(text: string): void
  /** Writes text to standard error unchanged. */
  err(text: string): void
  /** Reads all of standard input. Throws a RangeError if it is longer than `maxBytes`. */
  readStdin(maxBytes: number): Promise<Uint8Array>
}

/**
 * Questions to the user. They are shown on standard error, so that standard output has only the result.
 *
 * Every question throws `UserError` `cancelled` on Ctrl-C, or if the terminal closes.
 */
export interface Ask {
  /**
   * Discards what the user types while no question is shown. It may be a key that they pasted too
   * early, so it must neither be echoed nor answer a later question. Ctrl-C still interrupts.
   */
  discardTyping(): void
  /** Stops discarding input. */
  acceptTyping(): void
  input(question: {
    message: string
    default?: string
    /** Returns true, or the problem. */
    validate?: (answer: string) => true | string
  }): Promise<string>
  /** Asks for a secret. The answer is shown as a fixed number of asterisks, whatever key is pressed. */
  secret(question: {
    message: string
    validate?: (answer: string) => true | string
  }): Promise<string>
  confirm(question: ConfirmQuestion): Promise<boolean>
  /** Asks for one entry of a list, which the user filters by typing. */
  search(question: {
    message: string
    choices: readonly AskChoice[]
    /**
     * Accepts other text too, if this returns true. Otherwise it returns the problem. Choices with
     * `isHidden` are offered only while the user types.
     */
    validateOther?: (text: string) => true | string
  }): Promise<string>
  /** Asks for any number of entries of a list. */
  checkbox(question: {
    message: string
    /** Returns the choices that are known so far. */
    choices: () => readonly AskChoice[]
    /**
     * When one of these settles, the choices are shown again, unless the user has begun to choose. With
     * updates, the question is removed from the screen after the answer.
     */
    updates?: readonly Promise<unknown>[]
    /** Returns true, or the problem with the choice. */
    validate?: (chosen: readonly string[]) => true | string
  }): Promise<string[]>
}

export interface ConfirmQuestion {
  readonly message: string
  readonly default: boolean
  /** Shows the details if the user answers `d`. Then the question is asked again. */
  readonly showDetails?: (() => void) | undefined
}

export interface AskChoice {
  readonly value: string
  readonly name: string
  readonly description?: string
  /** Shown instead of `name` after the choice. */
  readonly short?: string
  readonly checked?: boolean
  /** Why it cannot be chosen. */
  readonly disabled?: string
  /** Other words by which a search finds it. */
  readonly keywords?: string
  /** A search offers it only if the typed text matches. */
  readonly isHidden?: true
}

/**
 * The file calls of the transaction. They are synchronous, so that they run in a known order and tests
 * can make each single call fail, be interrupted or lose its effect.
 *
 * Every call throws Node's own error (`code` is `ENOENT`, `ENOSPC`, …). If a file cannot be opened for
 * reading, the error's `syscall` is `read`.
 */
export interface Files {
  lstat(path: string): FileStatus
  stat(path: string): FileStatus
  /** Resolves all symlinks. Throws ENOENT if the last part does not exist. */
  realpath(path: string): string
  /**
   * Throws the error that writing the file, or creating something in the folder, would throw. On
   * Windows it detects only the read-only mark.
   */
  checkWritable(path: string): void
  /** What this user can still write in a folder, in bytes. Undefined: the file system does not say. */
  freeBytes(folder: string): number | undefined
  readlink(path: string): string
  /** Reads a whole file of at most `maxBytes`. Throws a RangeError beyond. */
  read(path: string, maxBytes: number): Uint8Array
  /** Reads at most the first `bytes` bytes of a file. */
  readStart(path: string, bytes: number): Uint8Array
  readdir(path: string): string[]
  mkdir(path: string, mode: number): void
  rmdir(path: string): void
  /** Creates a file that must not exist yet (`wx`) and opens it for writing. */
  createNew(path: string, mode: number): number
  /** Writes `bytes` from `offset` on. Returns the number of bytes written, which may be fewer. */
  write(handle: number, bytes: Uint8Array, offset: number): number
  fsync(handle: number): void
  fchmod(handle: number, mode: number): void
  fchown(handle: number, uid: number, gid: number): void
  close(handle: number): void
  rename(from: string, to: string): void
  unlink(path: string): void
  /** Flushes a folder's entries to the disk. Does nothing on Windows, which has no such call. */
  fsyncFolder(path: string): void
  /** Whether `copyAttributes` works on this system. */
  canCopyAttributes(): boolean
  /**
   * Copies the access lists, extended attributes and permission bits of the file at `from` to the open
   * file `to`. Returns whether all of them were copied.
   */
  copyAttributes(from: string, to: number): boolean
}

export interface FileStatus {
  readonly kind: 'file' | 'folder' | 'symlink' | 'other'
  /** Permission bits, without the file type. */
  readonly mode: number
  readonly uid: number
  readonly gid: number
  readonly sizeBytes: number
  /** The number of hard links. */
  readonly links: number
  /** The time of the last change of the contents, in ms since 1970. */
  readonly modifiedMs: number
}

export interface Processes {
  readonly pid: number
  /** Our user ID; -1 on Windows. */
  readonly uid: number
  /**
   * Where a PID means the same process: the name of this machine, and of the container if there is one, because
   * several of them can share a home. Absent counts as empty.
   */
  readonly host?: string
  /** An opaque value that changes with every boot. Empty if the system has none. */
  bootId(): string
  /**
   * An opaque value that distinguishes two processes with the same PID. Empty if the process exists but
   * its start time is unknown. Undefined if there is no such process.
   */
  startTime(pid: number): string | undefined
  /** The absolute path of a command in PATH (with PATHEXT on Windows), or undefined. */
  which(command: string): string | undefined
  /**
   * Runs a command without our own variables (`REPOINT_…`) until it exits. Does not wait for processes
   * that it leaves in the background. Never throws for a non-zero exit, a missing command or a timeout.
   */
  run(command: string, args: readonly string[], options: RunOptions): Promise<RunResult>
}

export interface RunOptions {
  readonly timeoutMs: number
  /** Replaces the whole environment. Absent: our environment. */
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly cwd?: string
  /** The command also gets the variables that point a client at a gateway: `REPOINT_RUN_…`. */
  readonly isLaunch?: boolean
  /** The text for its standard input. */
  readonly input?: string
}

export interface RunResult {
  /** The exit status. Undefined if the command did not start, timed out or was killed. */
  readonly exitStatus: number | undefined
  readonly reason: 'exited' | 'not-found' | 'timed-out' | 'killed'
  readonly stdout: string
  readonly stderr: string
}
