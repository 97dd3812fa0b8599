import { EventEmitter, once } from 'node:events'
import { resolve } from 'node:path'
import { PassThrough, Writable, type WritableOptions } from 'node:stream'
import { stripVTControlCharacters } from 'node:util'
import { spawn } from '@lydell/node-pty'
import { onTestFinished } from 'vitest'
import { main } from '../../src/cli.ts'
import { terminalAsk } from '../../src/platform/node-terminal.ts'
import { hangLimitMs } from './cli.ts'
import type { Home } from './home.ts'
import { platformIn } from './in-process.ts'

/** Keys as a terminal sends them. */
export const keys = {
  enter: '\r',
  space: ' ',
  down: '\x1b[B',
  ctrlC: '\x03',
  ctrlT: '\x14',
  /** Clears the typed text. */
  ctrlU: '\x15',
} as const

/** A command on a terminal. */
export interface TerminalRun {
  /** Waits until `text` appears after the text of the last wait. */
  shows(text: string | RegExp): Promise<void>
  type(text: string): void
  /** The exit status. Resolves when the command ends. */
  readonly ended: Promise<number>
  /** The whole output on the terminal, with and without escape sequences. */
  raw(): string
  screen(): string
}

interface TerminalOptions {
  readonly env?: Record<string, string>
  readonly columns?: number
  readonly cwd?: string
}

const rows = 40

function environmentOf(home: Home, { env }: TerminalOptions): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '',
    HOME: home.path,
    TERM: 'xterm-256color',
    LANG: 'C.UTF-8',
    ...env,
  }
}

/** Runs the built program on a real pseudo-terminal. */
export function runOnTerminal(
  home: Home,
  args: readonly string[],
  options: TerminalOptions & { command?: string } = {},
): TerminalRun {
  const child = spawn(
    options.command ?? process.execPath,
    options.command === undefined ? [resolve('bin/repoint.js'), ...args] : [...args],
    {
      cols: options.columns ?? 100,
      rows,
      cwd: options.cwd ?? home.path,
      env: environmentOf(home, options),
    },
  )
  const { write, ...output } = terminalOutput()
  child.onData(write)
  let hasEnded = false
  const ended = new Promise<number>((settle) => {
    child.onExit(({ exitCode, signal }) => {
      hasEnded = true
      settle(signal ? 128 + signal : exitCode)
    })
  })
  onTestFinished(() => {
    if (!hasEnded) child.kill('SIGKILL')
  })
  return { ...output, type: (text) => child.write(text), ended }
}

/**
 * Like `runOnTerminal`, but in this process, which is many times faster. Its terminal shows the same questions. It
 * does not echo what is typed while nothing is asked, and a Ctrl-C at such a time would end the tests.
 */
export function askInProcess(
  home: Home,
  args: readonly string[],
  options: TerminalOptions = {},
): TerminalRun {
  const { columns = 100, ...others } = options
  const platform = platformIn(home, { ...others, env: environmentOf(home, options) })
  const { write, ...output } = terminalOutput()
  // A terminal begins each line at its left edge.
  const show = (text: string) => write(text.replaceAll('\n', '\r\n'))
  const stdin = new PassThrough()
  const ask = terminalAsk({
    stdin: Object.assign(stdin, { isTTY: true, setRawMode: () => stdin }),
    stdout: { rows },
    env: environmentOf(home, options),
    // Each question ends its stream, unless it is the one of the process.
    get stderr() {
      const write: WritableOptions['write'] = (text, _encoding, done) => {
        show(String(text))
        done()
      }
      return Object.assign(new Writable({ write }), { isTTY: true, columns, rows })
    },
  })
  const isTerminal = { canAsk: true, stdoutIsTerminal: true, stderrIsTerminal: true }
  const terminal = { ...platform.terminal, ...isTerminal, columns, out: show, err: show }
  return {
    ...output,
    type: (text) => void stdin.write(text),
    ended: main({ ...platform, ask, terminal }, args),
  }
}

/** Collects what a terminal shows. */
function terminalOutput() {
  const written = new EventEmitter()
  let output = ''
  let seen = 0
  const screen = () => stripVTControlCharacters(output)

  return {
    write: (text: string) => {
      output += text
      written.emit('data')
    },
    async shows(text: string | RegExp) {
      const signal = AbortSignal.timeout(hangLimitMs)
      for (;;) {
        const shown = screen().slice(seen)
        const start = typeof text === 'string' ? shown.indexOf(text) : shown.search(text)
        if (start >= 0) {
          seen += start + (typeof text === 'string' ? text : text.exec(shown)![0]).length
          return
        }
        await once(written, 'data', { signal }).catch(() => {
          throw new Error(`The terminal never showed ${text}. It shows:\n${screen()}`)
        })
      }
    },
    raw: () => output,
    screen,
  }
}

/** Types an address into the prompt of the guided setup, and confirms it. */
export async function typeAddress(run: TerminalRun, address: string): Promise<void> {
  await run.shows('Gateway address')
  run.type(address)
  const shown = address.replace(/[.?]/g, '\\$&')
  await run.shows(new RegExp(`[❯>] ${shown}`))
  run.type(keys.enter)
}
