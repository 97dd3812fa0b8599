import { spawn } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
// @ts-expect-error plain JavaScript, shared with the script
import { clients } from '../../../scripts/real-clients.js'
import type { ClaudeVersion } from './install.ts'
import { installedClient } from './install.ts'

/** How to run a client once, headless. */
export interface ClientRun {
  /** The value of HOME. The client keeps all of its files below it. */
  readonly home: string
  readonly prompt: string
  /** More arguments, before the prompt. */
  readonly args?: readonly string[]
  /** Variables in addition to PATH, HOME, TERM and LANG. */
  readonly env?: Readonly<Record<string, string>>
  /** `home` if absent. */
  readonly cwd?: string
  readonly timeoutMs?: number
  /** Ends the client early, when the test has what it needs. */
  readonly signal?: AbortSignal
}

export interface ClientResult {
  /** Undefined: the client was killed, by the time limit if `timedOut`. */
  readonly exitStatus: number | undefined
  readonly timedOut: boolean
  readonly stdout: string
  readonly stderr: string
  readonly durationMs: number
}

/** A normal turn takes 1 to 20 s of processor time, which can take a minute with six programs at once. */
const defaultTimeoutMs = 150_000

/** `codex exec` in a folder that need not be a repository. */
export function runCodex(run: ClientRun): Promise<ClientResult> {
  return runProgram(installedClient('codex'), run, [
    'exec',
    '--skip-git-repo-check',
    ...(run.args ?? []),
    run.prompt,
  ])
}

/** `claude -p`, without retries. The answer is one JSON document on stdout. */
export function runClaude(
  run: ClientRun & { readonly version: ClaudeVersion },
): Promise<ClientResult> {
  const args = ['--output-format', 'json', ...(run.args ?? []), '-p', run.prompt]
  const env = { CLAUDE_CODE_MAX_RETRIES: '0', ...run.env }
  return runProgram(installedClient('claude', run.version), { ...run, env }, args)
}

/** `opencode run`. */
export function runOpencode(run: ClientRun): Promise<ClientResult> {
  const env = { ...clients['opencode'].env, ...run.env }
  const args = ['run', ...(run.args ?? []), run.prompt]
  return runProgram(installedClient('opencode'), { ...run, env }, args)
}

/** Runs any client as its file in test/clients/real describes. */
export function runClient(
  name: string,
  version: string | undefined,
  { env = {}, args = [], ...run }: ClientRun,
): Promise<ClientResult> {
  const usual: string[] = clients[name].run(run.prompt)
  const all = [...usual.slice(0, -1), ...args, ...usual.slice(-1)]
  return runCommand(name, version, { ...run, env, args: all })
}

/** Runs a command of a client that needs no model. */
export function runCommand(
  name: string,
  version: string | undefined,
  { env, args = [], ...run }: Omit<ClientRun, 'prompt'>,
): Promise<ClientResult> {
  return runProgram(
    installedClient(name, version),
    { ...run, env: { ...clients[name].env, ...env } },
    args,
  )
}

function runProgram(
  [program, ...first]: readonly [string, ...string[]],
  { home, cwd = home, env = {}, timeoutMs = defaultTimeoutMs, signal }: Omit<ClientRun, 'prompt'>,
  args: readonly string[],
): Promise<ClientResult> {
  mkdirSync(home, { recursive: true })
  mkdirSync(cwd, { recursive: true })
  return new Promise((resolve, reject) => {
    const startedAt = Date.now()
    const child = spawn(program, [...first, ...args], {
      cwd,
      env: {
        PATH: `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`,
        HOME: home,
        TERM: 'dumb',
        LANG: 'C.UTF-8',
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
      // A separate process group, so that the time limit also ends the child processes of the client.
      detached: true,
    })
    let stdout = ''
    let stderr = ''
    let timedOut = false
    child.stdout.on('data', (piece) => {
      stdout += piece
    })
    child.stderr.on('data', (piece) => {
      stderr += piece
    })
    const timer = setTimeout(() => {
      timedOut = true
      endGroup(child.pid)
    }, timeoutMs)
    const stop = () => endGroup(child.pid)
    signal?.addEventListener('abort', stop, { once: true })
    child.once('error', reject)
    child.once('close', (status) => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', stop)
      endGroup(child.pid)
      resolve({
        exitStatus: status ?? undefined,
        timedOut,
        stdout,
        stderr,
        durationMs: Date.now() - startedAt,
      })
    })
  })
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // The group has already ended.
  }
}
