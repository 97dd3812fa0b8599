/**
 * The outside world as one type. Everything that is not pure takes a `Platform` (or the part it
 * needs), so that tests can cut, slow or forge exactly one thing. `node.ts` is the same for real.
 */
export interface Platform {
  readonly machine: Machine
  readonly terminal: Terminal
  readonly files: Files
  readonly processes: Processes
  readonly clock: Clock
  readonly ask: Ask
  /** Aborts with the first Ctrl-C or SIGTERM. A second one ends the process at once. */
  readonly interrupt: AbortSignal
  /**
   * Runs a command on our own terminal, with our standard input and output, to its end. An abort of
   * `signal` is passed on as SIGTERM; without one, every signal that ends a program is passed on as it
   * is, unless the terminal has sent it to both. Never throws.
   */
  runInForeground(
    command: string,
    args: readonly string[],
    options: { readonly env: RunOptions['env']; readonly signal?: AbortSignal },
  ): Promise<ForegroundResult>
}

/** How a command on our own terminal ended. */
export type ForegroundResult =
  | { readonly reason: 'exited'; readonly exitStatus: number }
  /** `signalNumber` as the system counts it: 2 is SIGINT. */
  | { readonly reason: 'killed'; readonly signalNumber: number }
  | { readonly reason: 'not-started'; readonly problem: string }

/** Facts about the machine that decide where files lie. Plain data. */
export interface Machine {
  readonly os: 'linux' | 'darwin' | 'win32'
  /** The environment of the process. Names are case-sensitive, also on Windows. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** The home folder, absolute. */
  readonly home: string
  /** The working folder, absolute. */
  readonly cwd: string
}

export interface Clock {
  now(): Date
}

export interface Terminal {
  /** Whether questions can be asked: standard input and the prompt's output are both terminals. */
  readonly canAsk: boolean
  readonly stdoutIsTerminal: boolean
  readonly stderrIsTerminal: boolean
  /** Width in columns; 80 where there is no terminal. */
  readonly columns: number
  /**
   * Why standard output cannot be written, as the system names it: `ENOSPC`, `EPIPE`. What was asked
   * for is done all the same, so `out` itself does not throw.
   */
  readonly outFailure: string | undefined
  /** Writes text to standard output as it stands. */
  out(text: string): void
  /** Writes text to standard error as it stands. */
  err(text: string): void
  /** All of standard input, up to `maxBytes`. Throws a RangeError beyond. */
  readStdin(maxBytes: number): Promise<Uint8Array>
}

/**
 * Questions to a person. They are drawn on standard error, so that standard output stays a result.
 *
 * Every question throws `UserError` `cancelled` on Ctrl-C or when its terminal goes away.
 */
export interface Ask {
  /**
   * From now on what is typed outside of a question neither shows nor answers a later one: it may be
   * a key, ahead of its question. Ctrl-C interrupts as ever.
   */
  hold(): void
  /** Ends that. */
  release(): void
  input(question: {
    message: string
    default?: string | undefined
    /** True, or what is wrong. */
    validate?: (answer: string) => true | string
  }): Promise<string>
  /** Hidden, whatever key is pressed: what arrives shows as a fixed number of asterisks. */
  secret(question: {
    message: string
    validate?: (answer: string) => true | string
  }): Promise<string>
  confirm(question: ConfirmQuestion): Promise<boolean>
  /** One of a list, narrowed by typing. */
  search(question: { message: string; choices: readonly AskChoice[] }): Promise<string>
  /** Several of a list. */
  checkbox(question: {
    message: string
    /** As they are known by now. */
    choices: () => readonly AskChoice[]
    /**
     * Once one of these has settled the choices are shown anew, until a person begins to choose. The
     * answered question then leaves the screen.
     */
    updates?: readonly Promise<unknown>[]
    /** True, or what is wrong with the choice. */
    validate?: (chosen: readonly string[]) => true | string
  }): Promise<string[]>
}

export interface ConfirmQuestion {
  readonly message: string
  readonly default: boolean
  /** Shows all that is asked about, when a person answers `d`; then it is asked again. */
  readonly showDetails?: (() => void) | undefined
}

export interface AskChoice {
  readonly value: string
  readonly name: string
  readonly description?: string
  /** Shown once it is chosen, in the place of `name`. */
  readonly short?: string
  readonly checked?: boolean
}

/**
 * The file calls of the transaction. Synchronous on purpose: they run on the main thread in a
 * known order, so that tests can fail, cut and forget each single one.
 *
 * Every call throws Node's own error (`code` is `ENOENT`, `ENOSPC`, …); where a file cannot be opened
 * to be read, its `syscall` is `read`.
 */
export interface Files {
  lstat(path: string): FileStatus
  stat(path: string): FileStatus
  /** Where symlinks lead in the end. Throws ENOENT if the last part does not exist. */
  realpath(path: string): string
  /** Throws what writing there would; in a folder, creating something. On Windows only a read-only mark is seen. */
  checkWritable(path: string): void
  readlink(path: string): string
  /** Reads a whole file of at most `maxBytes`. Throws a RangeError beyond. */
  read(path: string, maxBytes: number): Uint8Array
  /** The first `bytes` bytes of a file, or all of it where it is shorter. */
  readStart(path: string, bytes: number): Uint8Array
  readdir(path: string): string[]
  mkdir(path: string, mode: number): void
  rmdir(path: string): void
  /** Creates a file that must not exist yet (`wx`) and opens it for writing. */
  createNew(path: string, mode: number): number
  /** Writes part of `bytes`; returns how many bytes were written, which may be fewer than asked. */
  write(handle: number, bytes: Uint8Array, offset: number): number
  fsync(handle: number): void
  fchmod(handle: number, mode: number): void
  fchown(handle: number, uid: number, gid: number): void
  close(handle: number): void
  rename(from: string, to: string): void
  unlink(path: string): void
  /** Makes a folder's entries durable. Does nothing on Windows, which has no such call. */
  fsyncFolder(path: string): void
  /** Whether this system has what `copyAttributes` needs. */
  canCopyAttributes(): boolean
  /**
   * Copies access lists and extended attributes of the file at `from` to the open file `to`; permission
   * bits come with them. Returns whether all of them were copied.
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
  /** Number of hard links. */
  readonly links: number
  /** When its contents changed last, in ms since 1970. */
  readonly modifiedMs: number
}

export interface Processes {
  readonly pid: number
  /** Our own user id; -1 on Windows. */
  readonly uid: number
  /** The name of this machine: a home can be shared by several. Absent counts as empty. */
  readonly host?: string
  /** An opaque value that changes with every boot; empty where the system has none. */
  bootId(): string
  /**
   * An opaque value that tells two processes with the same pid apart; empty: there is such a
   * process, and nothing more can be known; undefined: there is none.
   */
  startTime(pid: number): string | undefined
  /** The absolute path of a command in PATH (with PATHEXT on Windows), or undefined. */
  which(command: string): string | undefined
  /**
   * Runs a command to its end, without our own variables (`REPOINT_…`); what it leaves running in the
   * background is not waited for. Never throws for a non-zero exit, a missing command or a timeout.
   */
  run(command: string, args: readonly string[], options: RunOptions): Promise<RunResult>
}

export interface RunOptions {
  readonly timeoutMs: number
  /** Replaces the whole environment; absent: ours. */
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly cwd?: string
  /** What its standard input gives it; absent: nothing. */
  readonly input?: string
}

export interface RunResult {
  /** Exit status; undefined when it did not start, timed out or was killed. */
  readonly exitStatus: number | undefined
  readonly reason: 'exited' | 'not-found' | 'timed-out' | 'killed'
  readonly stdout: string
  readonly stderr: string
}
