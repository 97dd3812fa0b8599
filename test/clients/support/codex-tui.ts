import { existsSync, readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { stripVTControlCharacters } from 'node:util'
import { spawn } from '@lydell/node-pty'
import type { Home } from '../../support/home.ts'
import { installedClient, type Program } from './install.ts'

/** Codex's terminal UI on a real pseudo-terminal. */
export interface CodexTui {
  /** Types these keys. */
  press(keys: string): void
  /** Types a prompt and sends it, and waits like `until` for the answer. */
  ask(prompt: string, isAnswered: (screen: string) => boolean): Promise<void>
  /** Waits until `isSo`, and throws with the screen after 40 s. */
  until(isSo: (screen: string) => boolean): Promise<void>
  quit(): Promise<void>
}

const servers = '.codex/app-server-daemon'

/** The terminal UI leaves a server running, whose process has its number here. */
export const serverPidFile = `${servers}/daemon.pid`

/** Ends that server, and the one that keeps it up to date. */
export function endServers(home: Home): void {
  for (const name of [serverPidFile, `${servers}/daemon-updater.pid`]) {
    if (!existsSync(home.at(name))) continue
    const { pid } = JSON.parse(readFileSync(home.at(name), 'utf8')) as { pid: number }
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // The process has ended.
    }
  }
}

/** The answers of a terminal to the queries of the UI at its start (0.169.0, 2026-11-21). */
const answers: readonly (readonly [question: string, answer: string])[] = [
  ['\x1b[6n', '\x1b[1;1R'],
  ['\x1b[c', '\x1b[?62c'],
  ['\x1b]10;?', '\x1b]10;rgb:ffff/ffff/ffff\x1b\\'],
  ['\x1b]11;?', '\x1b]11;rgb:0000/0000/0000\x1b\\'],
]

export async function openCodex(
  home: string,
  cwd: string,
  {
    args = [],
    env = {},
    shows = 'for shortcuts',
    program = installedClient('codex'),
  }: {
    args?: readonly string[]
    env?: Readonly<Record<string, string>>
    /** Text on the screen once the UI is ready. */
    shows?: string
    /** The command that starts it. Absent: the newest version itself. */
    program?: Program
  } = {},
): Promise<CodexTui> {
  const [command, ...first] = program
  const child = spawn(command, [...first, ...args], {
    name: 'xterm-256color',
    cols: 100,
    rows: 40,
    cwd,
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: home,
      TERM: 'xterm-256color',
      LANG: 'C.UTF-8',
      ...env,
    },
  })
  let output = ''
  let hasEnded = false
  child.onData((data) => {
    output += data
    for (const [question, answer] of answers) if (data.includes(question)) child.write(answer)
  })
  child.onExit(() => {
    hasEnded = true
  })
  const until: CodexTui['until'] = async (isSo) => {
    for (let tries = 0; !isSo(stripVTControlCharacters(output)); tries++) {
      if (hasEnded || tries > 400)
        throw new Error(`Codex shows:\n${stripVTControlCharacters(output)}`)
      await wait(100)
    }
  }
  await until((screen) => screen.includes(shows))
  return {
    until,
    press: (keys) => child.write(keys),
    async ask(prompt, isAnswered) {
      child.write(prompt)
      let enters = 0
      const typed = Date.now()
      await until((screen) => {
        // Codex treats keys that arrive together as a paste, in which Enter is a new line, and it ignores
        // Enter while it is loading (0.149.1, 0.169.0, 2026-11-27). A busy machine makes both last longer.
        if (Date.now() - typed > 1000 * (enters + 0.5)) {
          child.write('\r')
          enters++
        }
        return isAnswered(screen)
      })
    },
    async quit() {
      for (let tries = 0; tries < 10 && !hasEnded; tries++) {
        child.write('\x03')
        await wait(300)
      }
      if (!hasEnded) child.kill('SIGKILL')
    },
  }
}
