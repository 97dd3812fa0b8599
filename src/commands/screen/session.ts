/**
 * The output of one command, and what it masks:
 *
 *                                        on a terminal              in a pipe      with --json
 *     say, sayTable   the result         stdout, wrapped, colours   stdout, whole  -
 *     print           a result that      as say                     as say         stdout
 *                     shows a key
 *     remark          warnings, notes    stderr, wrapped, colours   stderr, whole  -
 *     showFindings    as remark
 *     step            a spinner          stderr                     -              -
 *     document        the JSON           -                          -              stdout
 *
 * `cli.ts` prints help and errors. All of these mask secrets, except `print` and help, whose text is ours.
 */
import { type FilesState, UserError, valueOrError } from '../../errors.ts'
import type { Finding } from '../../finding.ts'
import type { ConfirmQuestion, Platform } from '../../platform/platform.ts'
import type { SavedGateway } from '../../state/gateway-list.ts'
import { isPlainWord, isUtf8, maskSecretsIn, printable, secretMask, shortPath } from '../../text.ts'
import { fittingTable, paint, textStyleFor, wrapLine } from './drawing.ts'
import { completeHint, type TypedCommand } from './hints.ts'

/** Members of our JSON documents that never contain foreign text. Masking could only damage them. */
const plainMembers = new Set(['path', 'run', 'undoes', 'command', 'action', 'code', 'place'])

/** After this time, users begin to wonder whether anything is still happening. */
const longWaitSeconds = 3

/**
 * Whether the user consents to what a command is about to do. `Session.consent` decides it.
 *
 * - `given`: by `--yes`, so repoint asks nothing.
 * - `ask`: repoint asks on the terminal.
 * - `none`: there is no `--yes` and nobody to ask. Some commands then stop; others do only what is safe.
 */
export type Consent = 'given' | 'ask' | 'none'

/** The user answered No to a plan. Nothing changed, and nothing is wrong. */
export class Declined extends Error {}

/** The output of one command: what goes to which stream, and which secrets are masked. */
export class Session {
  readonly platform: Platform
  readonly isJson: boolean
  readonly #secrets = new Set<string>()
  readonly #findings: Finding[] = []
  /** The messages of the findings that were shown. */
  readonly #shown = new Set<string>()
  #filesState: FilesState = 'unchanged'
  #undoCommand = 'repoint rollback'
  /** The command as the user typed it, once Commander has read it. */
  typed: TypedCommand = { args: [], flags: [], startsProgram: false }
  /** The saved gateway that the command uses, instead of one that its flags describe. */
  saved?: SavedGateway

  constructor(platform: Platform, options: { isJson: boolean }) {
    this.platform = platform
    this.isJson = options.isJson
  }

  /** Whether repoint may ask questions: never without a terminal, and never with `--json`. */
  get canAsk(): boolean {
    return this.platform.terminal.canAsk && !this.isJson
  }

  /** @param yes `--yes` was given */
  consent(yes: boolean | undefined): Consent {
    if (yes) return 'given'
    return this.canAsk ? 'ask' : 'none'
  }

  /** Whether the user consents to one thing. Asks the question if needed. */
  async hasConsent(consent: Consent, question: ConfirmQuestion): Promise<boolean> {
    if (consent !== 'ask') return consent === 'given'
    return this.platform.ask.confirm(question)
  }

  /** Asks the question if it must and can be asked. @throws Declined if the user says No */
  async askIfPossible(consent: Consent, question: ConfirmQuestion): Promise<void> {
    if (consent === 'ask' && !(await this.platform.ask.confirm(question))) throw new Declined()
  }

  /**
   * Goes on only with consent. Asks the question if needed.
   *
   * @throws UserError `confirmation-needed` with this refusal if repoint cannot ask; `Declined` if the user says No
   */
  async requireConsent(
    consent: Consent,
    question: ConfirmQuestion,
    refusal: { readonly message: string; readonly hint: string },
  ): Promise<void> {
    if (consent === 'none') throw new UserError({ code: 'confirmation-needed', ...refusal })
    await this.askIfPossible(consent, question)
  }

  /**
   * Ends the questions of a command that now changes files. Ctrl-C that was pressed after the last answer
   * still stops it.
   *
   * @throws UserError `cancelled`
   */
  stopAsking(): void {
    this.platform.ask.acceptTyping()
    if (this.platform.interrupt.aborted)
      throw new UserError({ code: 'cancelled', message: 'Cancelled' })
  }

  /** Adds findings to the result. The next `showFindings` shows them. */
  addFindings(...findings: readonly Finding[]): void {
    this.#findings.push(...findings)
  }

  /** Adds findings that the command shows itself, such as the lines of a plan that need consent. */
  addShownFindings(...findings: readonly Finding[]): void {
    this.addFindings(...findings)
    for (const { message } of findings) this.#shown.add(message)
  }

  /** The findings as `--json` prints them. */
  get findingsAsJson() {
    return this.#findings.map(({ code, message, hint }) => ({
      code,
      message,
      hint: hint && this.completeHint(hint),
    }))
  }

  /** Shows the findings that were not shown yet, as notes or warnings. An error ends the command instead. */
  showFindings(): void {
    for (const { severity, message, hint } of this.#findings) {
      if (this.#shown.has(message)) continue
      this.#shown.add(message)
      const label = severity === 'note' ? 'note' : 'warning'
      this.remark(`${label}: ${message}`)
      if (hint !== undefined)
        this.remark(`${' '.repeat(label.length + 2)}${this.completeHint(hint)}`)
    }
  }

  /** What this command has done to the files so far. Every error reports it. */
  get filesState(): FilesState {
    return this.#filesState
  }

  get undoCommand(): string {
    return this.#undoCommand
  }

  /** Remembers whether applying a plan changed files. */
  noteApplied({ run }: { readonly run?: unknown }, undoCommand = this.#undoCommand): void {
    if (run !== undefined) this.#filesState = 'changed'
    this.#undoCommand = undoCommand
  }

  /** From now on, masks `secret` in everything that this session prints. */
  hide(secret: string): void {
    if (secret.length >= 4) this.#secrets.add(secret)
  }

  /** Prints a line of the result for a person. Silent with `--json`. */
  say(line = ''): void {
    if (!this.isJson) this.print(`${this.forPeople(line)}\n`)
  }

  /** Prints the result as a table. In a pipe, each row is on one line. */
  sayTable(head: readonly string[], rows: readonly (readonly string[])[]): void {
    if (this.isJson) return
    const { columns, stdoutIsTerminal } = this.platform.terminal
    const width = stdoutIsTerminal ? columns : Number.POSITIVE_INFINITY
    const shown = [head, ...rows].map((row) => row.map((cell) => this.forPeople(cell)))
    this.print(
      fittingTable(shown, width)
        .map((line) => `${line}\n`)
        .join(''),
    )
  }

  /**
   * Prints a line that is not part of the result, such as progress or a warning, on standard error.
   * Silent with `--json`.
   */
  remark(line: string): void {
    if (!this.isJson) this.printToStderr(`${this.forPeople(line)}\n`)
  }

  /**
   * Masks secrets, removes control characters and writes `~` for the home folder. Not in quotes: a shell would not
   * expand it there.
   */
  forPeople(text: string): string {
    const { home, os } = this.platform.machine
    const separator = os === 'win32' ? '\\' : '/'
    return this.redact(printable(text)).replaceAll(`${home}${separator}`, (found, at, whole) =>
      /['"]/.test(whole.charAt(at - 1)) ? found : `~${separator}`,
    )
  }

  /** Makes commands of the flags in a hint. @param client the ID of the client that it is about */
  completeHint(hint: string, client?: string): string {
    return completeHint(hint, this.typed, { client, saved: this.saved })
  }

  /** Why an answer is not valid, in the words that a prompt shows. The answer itself can be a secret. */
  problemAtPrompt(check: () => unknown): true | string {
    const problem = valueOrError(check)
    if (!(problem instanceof UserError)) return true
    const { message, hintAtPrompt } = problem
    const text = this.forPeople(hintAtPrompt ? `${message}. ${hintAtPrompt}` : message)
    // The prompt puts its own `> ` in front.
    return wrapLine(text, this.platform.terminal.columns - 2).replaceAll('\n', '\n  ')
  }

  /** Prints clean text on standard output, with the colours and signs that it can show. */
  print(text: string): void {
    const { terminal } = this.platform
    terminal.out(this.#format(text, terminal.stdoutIsTerminal))
  }

  /** Like `print`, but on standard error. */
  printToStderr(text: string): void {
    const { terminal } = this.platform
    terminal.err(this.#format(text, terminal.stderrIsTerminal))
  }

  /** On a terminal, lines are wrapped between words. A pipe gets each line whole. */
  #format(text: string, isTerminal: boolean): string {
    const { terminal, machine } = this.platform
    const fit = (line: string) => (isTerminal ? wrapLine(line, terminal.columns) : line)
    return paint(text.split('\n').map(fit).join('\n'), textStyleFor(machine.env, isTerminal))
  }

  /** Prints the one document of `--json`. */
  document(value: unknown): void {
    if (!this.isJson) return
    const text = JSON.stringify(value, (name, part) =>
      typeof part === 'string' && !plainMembers.has(name) ? this.redact(part) : part,
    )
    this.platform.terminal.out(`${text}\n`)
  }

  /**
   * Masks every known secret, and everything that looks like a common form of key. A key that is an ordinary word
   * stays: our sentences have the word, and never the key.
   */
  redact(text: string): string {
    return this.#mask(text, (secret) => !isPlainWord(secret))
  }

  /** Masks secrets in a text that is not ours, also those that are ordinary words. */
  redactForeign(text: string): string {
    return this.#mask(text, () => true)
  }

  #mask(text: string, isMasked: (secret: string) => boolean): string {
    let clean = text
    for (const secret of this.#secrets)
      if (isMasked(secret)) clean = clean.replaceAll(secret, secretMask)
    return maskSecretsIn(clean)
  }

  /** A path as a user writes it: `~/.codex/config.toml`. */
  showPath(path: string): string {
    return shortPath(this.platform.machine.home, path)
  }

  /** Waits for `work`. On a terminal, it shows the label meanwhile, and the seconds if the wait is long. */
  async step<T>(label: string, work: Promise<T>): Promise<T> {
    const { terminal, machine } = this.platform
    const started = performance.now()
    const written = this.#filesState === 'changed' ? 'The files are written. ' : ''
    if (this.isJson || !terminal.stderrIsTerminal) return work
    if (machine.env['TERM'] === 'dumb') {
      this.remark(`${written}${label} …`)
      return work
    }

    const frames = isUtf8(machine.env) ? '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏' : '|/-\\'
    let frame = 0
    let isDrawn = false
    const timer = setInterval(() => {
      isDrawn = true
      const seconds = Math.floor((performance.now() - started) / 1000)
      const waited = seconds < longWaitSeconds ? '' : ` (${seconds} s)`
      const text = (written + label).slice(0, terminal.columns - waited.length - 3)
      terminal.err(`\r\x1b[2K${frames[frame++ % frames.length]} ${text}${waited}`)
    }, 120)
    try {
      return await work
    } finally {
      clearInterval(timer)
      if (isDrawn) terminal.err('\r\x1b[2K')
    }
  }
}
