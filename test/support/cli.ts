import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { inject } from 'vitest'
import type { Home } from './home.ts'

const program = resolve('bin/repoint.js')

declare module 'vitest' {
  interface ProvidedContext {
    /** From vitest.config.js. */
    hangLimitMs: number
  }
}

/** How long a test waits for an event, such as the end of a program, in ms. Less than the limit of the test. */
export const hangLimitMs = inject('hangLimitMs')

export interface CliResult {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
  /** The document that --json printed. */
  readonly json: unknown
}

/** Runs the built program as a script would: no terminal, a scrubbed environment, this home. */
export function runCli(
  home: Home,
  args: readonly string[],
  options: {
    stdin?: string
    env?: Record<string, string>
    cwd?: string
    /** Absent: `hangLimitMs`. */
    timeoutMs?: number
  } = {},
): Promise<CliResult> {
  if (!existsSync('dist/cli.mjs')) throw new Error('The program is not built: npm run build')
  return new Promise((settle, fail) => {
    const child = spawn(process.execPath, [program, ...args], {
      cwd: options.cwd ?? home.path,
      env: { PATH: process.env['PATH'], HOME: home.path, USERPROFILE: home.path, ...options.env },
      timeout: options.timeoutMs ?? hangLimitMs,
    })
    const output = { stdout: '', stderr: '' }
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output.stdout += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      output.stderr += text
    })
    child.on('error', fail)
    child.on('close', (status) => {
      settle({
        status,
        ...output,
        get json() {
          return JSON.parse(output.stdout)
        },
      })
    })
    child.stdin.on('error', () => {})
    child.stdin.end(options.stdin ?? '')
  })
}
