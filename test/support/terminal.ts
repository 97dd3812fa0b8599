import { EventEmitter, once } from 'node:events'
import { resolve } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { spawn } from '@lydell/node-pty'
import { onTestFinished } from 'vitest'
import type { Home } from './home.ts'

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

/** The program on a real pseudo-terminal. */
export interface TerminalRun {
  /** Waits until `text` appears after the text of the last wait. */
  shows(text: string | RegExp): Promise<void>
  type(text: string): void
  /** The exit status. Resolves when the program ends. */
  readonly ended: Promise<number>
  /** The whole output on the terminal, with and without escape sequences. */
  raw(): string
  screen(): string
}

export function runOnTerminal(
  home: Home,
  args: readonly string[],
  options: {
    env?: Record<string, string>
    command?: string
    columns?: number
    cwd?: string
  } = {},
): TerminalRun {
  const child = spawn(
    options.command ?? process.execPath,
    options.command === undefined ? [resolve('bin/repoint.js'), ...args] : [...args],
    {
      cols: options.columns ?? 100,
      rows: 40,
      cwd: options.cwd ?? home.path,
      env: {
        PATH: process.env['PATH'] ?? '',
        HOME: home.path,
        TERM: 'xterm-256color',
        LANG: 'C.UTF-8',
        ...options.env,
      },
    },
  )
  let output = ''
  let seen = 0
  const written = new EventEmitter()
  child.onData((data) => {
    output += data
    written.emit('data')
  })
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
  const screen = () => stripVTControlCharacters(output)

  return {
    async shows(text) {
      const signal = AbortSignal.timeout(20_000)
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
    type: (text) => child.write(text),
    ended,
    raw: () => output,
    screen,
  }
}

/** Types an address into the prompt of the guided setup, and confirms it. */
export async function typeAddress(run: TerminalRun, address: string): Promise<void> {
  await run.shows('Gateway address')
  run.type(address)
  await run.shows(`❯ ${address}`)
  run.type(keys.enter)
}
