import { spawnSync } from 'node:child_process'
import { constants } from 'node:os'
import { execa } from 'execa'
import { compact } from '../compact.ts'
import type { ForegroundResult, Machine, Platform, RunOptions, RunResult } from './platform.ts'
import { windowsTool } from './windows-tool.ts'

/** The longest output stream, in characters. A command that writes more is killed. */
const maxOutputCharacters = 10_000_000

/** The time between SIGTERM and SIGKILL, in ms. */
const killDelayMs = 1_000

/** How long a background process of a finished command may hold its output open, in ms. */
const outputGraceMs = 500

/**
 * Runs a command until it exits. Does not wait for its background processes. At the time limit, the
 * whole process group is killed.
 *
 * The command never receives our own variables, one of which is a key.
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
  // Listen before the start, so that no signal is lost between the two.
  const unwatch = isGroup ? endWithProcess((signal) => endGroup(pid, signal)) : () => {}

  const child = execa(command, args, {
    reject: false,
    stripFinalNewline: false,
    // A separate group can be killed as one, and cannot ask questions on our terminal.
    detached: isGroup,
    timeout: options.timeoutMs,
    forceKillAfterDelay: killDelayMs,
    maxBuffer: maxOutputCharacters,
    extendEnv: false,
    env: withoutRepointVariables(options.env ?? process.env, options),
    cwd: options.cwd,
    ...(options.input === undefined ? { stdin: 'ignore' as const } : { input: options.input }),
  })
  pid = child.pid
  child.once('exit', () => {
    setTimeout(() => {
      child.stdout.destroy()
      child.stderr.destroy()
    }, outputGraceMs).unref()
  })

  const { timedOut, isMaxBuffer, exitCode, code, stdout, stderr } = await child
  unwatch()
  if (timedOut || isMaxBuffer) endAll()

  const output = { exitStatus: undefined, stdout, stderr }
  if (timedOut) return { ...output, reason: 'timed-out' }
  if (code !== undefined && !isMaxBuffer) return { ...output, reason: 'not-found' }
  if (isMaxBuffer || exitCode === undefined) return { ...output, reason: 'killed' }
  return { ...output, reason: 'exited', exitStatus: exitCode }
}

/** Runs a command with our standard input and output. */
export const runInForeground: Platform['runInForeground'] = async (
  command,
  args,
  { env, signal },
): Promise<ForegroundResult> => {
  let child: { kill(signal: NodeJS.Signals): boolean } | undefined
  const unwatch = signal === undefined ? forwardSignals((name) => child?.kill(name)) : () => {}
  const running = execa(command, args, {
    reject: false,
    stdio: 'inherit',
    extendEnv: false,
    env: compact(env ?? process.env),
    forceKillAfterDelay: false,
    cancelSignal: signal,
  })
  child = running
  const result = await running
  unwatch()
  if (result.exitCode !== undefined) return { reason: 'exited', exitStatus: result.exitCode }
  if (result.signal !== undefined)
    return { reason: 'killed', signalNumber: constants.signals[result.signal] }

  return { reason: 'not-started', problem: result.originalMessage ?? '' }
}

/** Forwards signals, except those of the keyboard: the terminal sends them to the command itself. */
function forwardSignals(send: (signal: NodeJS.Signals) => void): () => void {
  const isOnTerminal = [process.stdin, process.stdout, process.stderr].some(({ isTTY }) => isTTY)
  const fromKeyboard = ['SIGINT', 'SIGQUIT'] as const
  const signals = [...fromKeyboard, 'SIGTERM', 'SIGHUP'] as const
  const pass = (signal: NodeJS.Signals) => {
    const isFromKeyboard = fromKeyboard.some((name) => name === signal)
    if (!isOnTerminal || !isFromKeyboard) send(signal)
  }
  for (const signal of signals) process.on(signal, pass)
  return () => {
    for (const signal of signals) process.off(signal, pass)
  }
}

function withoutRepointVariables(
  env: NonNullable<RunOptions['env']>,
  { isLaunch = false }: Pick<RunOptions, 'isLaunch'>,
) {
  const ours = isLaunch ? /^REPOINT_(?!RUN_)/i : /^REPOINT_/i
  const isPassed = (name: string) => !ours.test(name)
  return compact(Object.fromEntries(Object.entries(env).filter(([name]) => isPassed(name))))
}

function endGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, signal)
  } catch {
    // ESRCH: the group has ended. EPERM: the rest of it belongs to someone else.
  }
}

/** Kills a process tree. Windows has no process groups, and cannot ask a console program to end. */
function endTree(pid: number | undefined): void {
  if (pid !== undefined)
    spawnSync(windowsTool('taskkill'), ['/PID', String(pid), '/T', '/F'], { stdio: 'ignore' })
}

/** Ends a child in a separate process group with us, because a Ctrl-C reaches only our group. */
function endWithProcess(end: (signal: NodeJS.Signals) => void): () => void {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  // Count the listeners now: one that listens only once is gone after the signal.
  const handledElsewhere = signals.filter((signal) => process.listenerCount(signal) > 0)
  const pass = (signal: (typeof signals)[number]) => {
    end('SIGTERM')
    setTimeout(end, killDelayMs, 'SIGKILL').unref()
    unwatch()
    // If nobody else listens, the signal must end us, as it would without this listener.
    if (!handledElsewhere.includes(signal)) process.kill(process.pid, signal)
  }

  const onExit = () => end('SIGKILL')
  const unwatch = () => {
    for (const signal of signals) process.off(signal, pass)
    process.off('exit', onExit)
  }

  // Each of many parallel commands listens. Node would warn about more than ten listeners.
  process.setMaxListeners(0)
  for (const signal of signals) process.on(signal, pass)
  process.on('exit', onExit)

  return unwatch
}
