import { type FilesState, UserError } from '../../errors.ts'
import type { Finding } from '../../finding.ts'
import type { ConfirmQuestion, Platform } from '../../platform/platform.ts'
import { maskSecretsIn, printable, secretMask, shortPath } from '../../text.ts'
import { fittingTable, isUtf8, looksOf, paint, wrapLine } from './drawing.ts'

/** Members of our documents that are never text from elsewhere: masking would only damage them. */
const plainMembers = new Set(['path', 'run', 'undoes', 'command', 'action', 'code', 'place'])

/** From here on a person begins to wonder whether anything still happens. */
const longWaitSeconds = 3

/** Whether a person agrees to what a plan takes from them: said by flag, to be asked, or nobody there. */
export type Consent = 'given' | 'ask' | 'none'

/** A person has answered No to a plan. Nothing was changed, and nothing is wrong. */
export class Declined extends Error {}

/** One command's conversation with its user: what is said where, and what is never said. */
export class Session {
  readonly platform: Platform
  readonly isJson: boolean
  readonly #secrets = new Set<string>()
  readonly #notices: Finding[] = []
  readonly #shown = new Set<string>()
  #files: FilesState = 'unchanged'
  #wayBack = 'repoint rollback'

  constructor(platform: Platform, options: { isJson: boolean }) {
    this.platform = platform
    this.isJson = options.isJson
  }

  /** Whether a question may be asked: never without a terminal, and never with `--json`. */
  get canAsk(): boolean {
    return this.platform.terminal.canAsk && !this.isJson
  }

  /** @param yes `--yes` was given */
  consent(yes: boolean | undefined): Consent {
    return yes ? 'given' : this.canAsk ? 'ask' : 'none'
  }

  /** Whether a person wants something. Where nobody can be asked they do not. */
  async wants(consent: Consent, question: ConfirmQuestion): Promise<boolean> {
    if (consent !== 'ask') return consent === 'given'
    return this.platform.ask.confirm(question)
  }

  /**
   * Asks for a yes, unless it is given already.
   *
   * @param alone what to say where nobody can be asked; absent: then nobody needs to be
   * @throws UserError `confirmation-needed` where nobody can be asked; `Declined` on a no
   */
  async agree(
    consent: Consent,
    question: ConfirmQuestion,
    alone?: { readonly message: string; readonly hint: string },
  ): Promise<void> {
    if (consent !== 'none') {
      if (!(await this.wants(consent, question))) throw new Declined()
    } else if (alone) throw new UserError({ code: 'confirmation-needed', ...alone })
  }

  /** Adds findings to the result. */
  addFindings(...findings: readonly Finding[]): void {
    this.#notices.push(...findings)
  }

  /** Adds findings to the result, and shows them now. */
  warn(...findings: readonly Finding[]): void {
    this.addFindings(...findings)
    this.showFindings('warning')
  }

  /** The findings that belong to the result, in the order in which they came up. */
  get findings(): readonly Finding[] {
    return this.#notices
  }

  /** The same, as `--json` prints them. */
  get warnings() {
    return this.#notices.map(({ code, message, hint }) => ({ code, message, hint }))
  }

  /** Shows the findings that were not shown yet. */
  showFindings(label: 'note' | 'warning'): void {
    for (const { message, hint } of this.#notices) {
      if (this.#shown.has(message)) continue
      this.#shown.add(message)
      this.remark(`${label}: ${message}`)
      if (hint !== undefined) this.remark(`${' '.repeat(label.length + 2)}${hint}`)
    }
  }

  /** What this command has done to the files so far: every error tells it. */
  get files(): FilesState {
    return this.#files
  }

  /** The command that undoes what this one has done to the files. */
  get undoCommand(): string {
    return this.#wayBack
  }

  /** Takes note of what a plan has come to. */
  noteApplied({ run }: { readonly run?: unknown }, wayBack = this.#wayBack): void {
    if (run !== undefined) this.#files = 'changed'
    this.#wayBack = wayBack
  }

  /** Takes note that what was written has gone back. */
  noteTakenBack(): void {
    this.#files = 'unchanged'
  }

  /** From now on `secret` is masked in everything that this session prints. */
  hide(secret: string): void {
    if (secret.length >= 4) this.#secrets.add(secret)
  }

  /** A line of the result, for a person. Silent with `--json`. */
  say(line = ''): void {
    if (!this.isJson) this.print(`${this.forPeople(line)}\n`)
  }

  /** The result as a table; what reads a pipe gets each row on one line. */
  sayTable(head: readonly string[], rows: readonly (readonly string[])[]): void {
    const { columns, stdoutIsTerminal } = this.platform.terminal
    const width = stdoutIsTerminal ? columns : Number.POSITIVE_INFINITY
    const shown = [head, ...rows].map((row) => row.map((cell) => this.forPeople(cell)))
    for (const line of fittingTable(shown, width)) this.say(line)
  }

  /** A line beside the result: progress, warnings. On standard error; silent with `--json`. */
  remark(line: string): void {
    if (!this.isJson) this.printBeside(`${this.forPeople(line)}\n`)
  }

  /** Without secrets and control characters, and with `~` for the home folder. */
  forPeople(text: string): string {
    const { home, os } = this.platform.machine
    const separator = os === 'win32' ? '\\' : '/'
    return this.redact(printable(text)).replaceAll(`${home}${separator}`, `~${separator}`)
  }

  /** Clean text on standard output, in the colours and signs that it can show. */
  print(text: string): void {
    const { terminal } = this.platform
    terminal.out(this.#drawn(text, terminal.stdoutIsTerminal))
  }

  /** The same on standard error. */
  printBeside(text: string): void {
    const { terminal } = this.platform
    terminal.err(this.#drawn(text, terminal.stderrIsTerminal))
  }

  /** Lines are broken between words on a terminal; what reads a pipe gets them whole. */
  #drawn(text: string, isTerminal: boolean): string {
    const { terminal, machine } = this.platform
    const fit = (line: string) => (isTerminal ? wrapLine(line, terminal.columns) : line)
    return paint(text.split('\n').map(fit).join('\n'), looksOf(machine.env, isTerminal))
  }

  /** Help: without colours, since its flags begin like a removed line. */
  printHelp(text: string): void {
    const { terminal, machine } = this.platform
    const looks = looksOf(machine.env, terminal.stdoutIsTerminal)
    terminal.out(paint(text, { ...looks, hasColour: false }))
  }

  /** The one document of `--json`. */
  document(value: unknown): void {
    if (!this.isJson) return
    const text = JSON.stringify(value, (name, part) =>
      typeof part === 'string' && !plainMembers.has(name) ? this.redact(part) : part,
    )
    this.platform.terminal.out(`${text}\n`)
  }

  /** Masks every known secret, and whatever looks like a key of the usual form. */
  redact(text: string): string {
    let clean = text
    for (const secret of this.#secrets) clean = clean.replaceAll(secret, secretMask)
    return maskSecretsIn(clean)
  }

  /** A path as a person writes it: `~/.codex/config.toml`. */
  showPath(path: string): string {
    return shortPath(this.platform.machine.home, path)
  }

  /** Waits for `work`, saying what for, and a long wait how long, where a person looks on. */
  async step<T>(label: string, work: Promise<T>): Promise<T> {
    const { terminal, machine } = this.platform
    const started = performance.now()
    const written = this.#files === 'changed' ? 'The files are written. ' : ''
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
      const said = (written + label).slice(0, terminal.columns - waited.length - 3)
      terminal.err(`\r\x1b[2K${frames[frame++ % frames.length]} ${said}${waited}`)
    }, 120)
    try {
      return await work
    } finally {
      clearInterval(timer)
      if (isDrawn) terminal.err('\r\x1b[2K')
    }
  }
}
