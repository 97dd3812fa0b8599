import { spawnSync } from 'node:child_process'
import { constants } from 'node:os'
import { execa } from 'execa'
import { compact } from '../compact.ts'
import type { ForegroundResult, Machine, Platform, RunOptions, RunResult } from './platform.ts'
import { windowsTool } from './windows-tool.ts'

/** Most that is kept of one output stream, in characters; a command that says more is ended. */
const maxOutput = 10_000_000

/** How long a command that is told to end may take, in ms, before it is killed. */
const endingMs = 1_000

/** How long a process that a command has left behind may hold its output open, in ms. */
const graceMs = 500

/**
 * Runs a command to its end, and not to that of what it leaves in the background. At its time limit
 * it ends with all of its process group.
 *
 * Variables of our own, of which one is a key, never reach it.
 */
export async function run(
  os: Machine['os'],
  command: string,
  args: readonly string[],
  options: RunOptions,
): Promise<RunResult> {
  const isGroup = os !== 'win32'
  let pid: number | undefined
  const endAll = () => (isGroup ? endGroup(pid, 'SIGKILL') : endTree(pid))
  // First, so that no signal comes between the start and the listener.
  const unwatch = isGroup ? endWithUs((signal) => endGroup(pid, signal)) : () => {}

  const child = execa(command, args, {
    reject: false,
    stripFinalNewline: false,
    // Its own group can be ended as one; and without our terminal it cannot ask anything there.
    detached: isGroup,
    timeout: options.timeoutMs,
    forceKillAfterDelay: endingMs,
    maxBuffer: maxOutput,
    extendEnv: false,
    env: withoutOurs(options.env ?? process.env),
    ...compact({ cwd: options.cwd }),
    ...(options.input === undefined ? { stdin: 'ignore' as const } : { input: options.input }),
  })
  pid = child.pid
  child.once('exit', () => {
    setTimeout(() => {
      child.stdout.destroy()
      child.stderr.destroy()
    }, graceMs).unref()
  })

  const { timedOut, isMaxBuffer, exitCode, code, stdout, stderr } = await child
  unwatch()
  if (timedOut || isMaxBuffer) endAll()

  const reason = timedOut
    ? 'timed-out'
    : code !== undefined && !isMaxBuffer
      ? 'not-found'
      : isMaxBuffer || exitCode === undefined
        ? 'killed'
        : 'exited'
  return { exitStatus: reason === 'exited' ? exitCode : undefined, reason, stdout, stderr }
}

/** Runs a command with our own standard input and output. */
export const runInForeground: Platform['runInForeground'] = async (
  command,
  args,
  { env, signal },
): Promise<ForegroundResult> => {
  let child: { kill(signal: NodeJS.Signals): boolean } | undefined
  const unwatch = signal === undefined ? passOn((name) => child?.kill(name)) : () => {}
  const running = execa(command, args, {
    reject: false,
    stdio: 'inherit',
    extendEnv: false,
    env: compact(env ?? process.env),
    forceKillAfterDelay: false,
    ...compact({ cancelSignal: signal }),
  })
  child = running
  const result = await running
  unwatch()
  if (result.exitCode !== undefined) return { reason: 'exited', exitStatus: result.exitCode }
  if (result.signal !== undefined)
    return { reason: 'killed', signalNumber: constants.signals[result.signal] }
  return { reason: 'not-started', problem: result.originalMessage ?? '' }
}

/** What a keyboard sends goes to all of a terminal's foreground programs at once. */
function passOn(send: (signal: NodeJS.Signals) => void): () => void {
  const isOnTerminal = [process.stdin, process.stdout, process.stderr].some(({ isTTY }) => isTTY)
  const fromKeyboard = ['SIGINT', 'SIGQUIT'] as const
  const signals = [...fromKeyboard, 'SIGTERM', 'SIGHUP'] as const
  const pass = (signal: NodeJS.Signals) => {
    if (!isOnTerminal || !fromKeyboard.some((one) => one === signal)) send(signal)
  }
  for (const signal of signals) process.on(signal, pass)
  return () => {
    for (const signal of signals) process.off(signal, pass)
  }
}

function withoutOurs(env: NonNullable<RunOptions['env']>) {
  return compact(
    Object.fromEntries(Object.entries(env).filter(([name]) => !/^REPOINT_/i.test(name))),
  )
}

function endGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, signal)
  } catch {
    // ESRCH: it has ended. EPERM: what is left of it belongs to someone else.
  }
}

/** Windows has no groups, and no way of asking a console program to end. */
function endTree(pid: number | undefined): void {
  if (pid !== undefined)
    spawnSync(windowsTool('taskkill'), ['/PID', String(pid), '/T', '/F'], { stdio: 'ignore' })
}

/** A Ctrl-C reaches our group only, so a child in one of its own must be told. */
function endWithUs(end: (signal: NodeJS.Signals) => void): () => void {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  // Counted now: who listens to the first signal only is gone when it has come.
  const heard = signals.filter((signal) => process.listenerCount(signal) > 0)
  const pass = (signal: (typeof signals)[number]) => {
    end('SIGTERM')
    setTimeout(end, endingMs, 'SIGKILL').unref()
    unwatch()
    // Where nobody else listens, the signal ends us, as it would have without this listener.
    if (!heard.includes(signal)) process.kill(process.pid, signal)
  }

  const onExit = () => end('SIGKILL')
  const unwatch = () => {
    for (const signal of signals) process.off(signal, pass)
    process.off('exit', onExit)
  }

  // Each command of many at once listens; by itself node warns of more than ten.
  process.setMaxListeners(0)
  for (const signal of signals) process.on(signal, pass)
  process.on('exit', onExit)

  return unwatch
}
