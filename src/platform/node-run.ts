import type { ChildProcess } from 'node:child_process'
import type { Readable } from 'node:stream'
import type { Machine, RunOptions, RunResult } from './platform.ts'

/** Most that is kept of one output stream, in characters; a command that says more is ended. */
const maxOutput = 10_000_000

/** How long a command that is told to end may take, in ms, before it is killed. */
const endingMs = 1_000

/**
 * How long a command that has ended may leave its output silent, in ms, before the pipes count as
 * held by a process that it left behind; and how long such a process may go on talking.
 */
const graceMs = 100
const maxGraceMs = 1_000

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
  const { execa } = await import('execa')
  const isGroup = os !== 'win32'
  let pid: number | undefined
  const end = (signal: NodeJS.Signals) => endAll(pid, isGroup, signal)
  // First, so that no signal comes between the start and the listener.
  const unwatch = isGroup ? endWithUs(end) : () => {}
  const child = execa(command, args, {
    reject: false,
    buffer: false,
    stdin: 'ignore',
    // Its own group can be ended as one; and without our terminal it cannot ask anything there.
    detached: isGroup,
    extendEnv: false,
    env: childEnv(options.env ?? process.env),
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  })
  pid = child.pid
  let isOverlong = false
  const output = [child.stdout, child.stderr].map((stream) =>
    collect(stream, () => {
      isOverlong = true
      end('SIGKILL')
    }),
  )
  const { exit, isTimedOut } = await exitOf(child, end, options.timeoutMs)
  unwatch()
  if (exit !== 'not-started') await silence(child, () => output.map(({ text }) => text.length))
  for (const { stop } of output) stop()
  const [stdout = '', stderr = ''] = output.map(({ text }) => text)
  const reason = isTimedOut
    ? 'timed-out'
    : exit === 'not-started'
      ? 'not-found'
      : isOverlong || exit === null
        ? 'killed'
        : 'exited'
  return { exitStatus: reason === 'exited' ? (exit as number) : undefined, reason, stdout, stderr }
}

function childEnv(env: NonNullable<RunOptions['env']>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).filter(
      (entry): entry is [string, string] => entry[1] !== undefined && !/^REPOINT_/i.test(entry[0]),
    ),
  )
}

function collect(stream: Readable, onOverlong: () => void) {
  const output = { text: '', stop: () => void stream.destroy() }
  stream.setEncoding('utf8').on('data', (piece: string) => {
    if (output.text.length > maxOutput) return
    output.text += piece
    if (output.text.length <= maxOutput) return
    output.text = output.text.slice(0, maxOutput)
    onOverlong()
  })
  stream.on('error', () => {})
  return output
}

type Child = Pick<ChildProcess, 'once'> & PromiseLike<{ exitCode?: number | undefined }>

/** `exit` is the exit status, or null after a signal. */
function exitOf(
  child: Child,
  end: (signal: NodeJS.Signals) => void,
  timeoutMs: number,
): Promise<{ exit: number | null | 'not-started'; isTimedOut: boolean }> {
  return new Promise((resolve) => {
    let isTimedOut = false
    let killing: NodeJS.Timeout | undefined
    const limit = setTimeout(() => {
      isTimedOut = true
      end('SIGTERM')
      killing = setTimeout(() => settle(null), endingMs)
    }, timeoutMs)
    let isSettled = false
    const settle = (exit: number | null | 'not-started') => {
      if (isSettled) return
      isSettled = true
      clearTimeout(limit)
      clearTimeout(killing)
      // It, and what of its group did not end with it.
      if (isTimedOut) end('SIGKILL')
      resolve({ exit, isTimedOut })
    }
    child.once('exit', settle)
    // The result comes before an exit only where nothing was started.
    child.then(({ exitCode }) => settle(exitCode ?? 'not-started'))
  })
}

/** Until the pipes are closed, or nobody says anything more. */
function silence(child: Child, lengths: () => readonly number[]): Promise<void> {
  return new Promise((resolve) => {
    const since = Date.now()
    let timer: NodeJS.Timeout | undefined
    let known = ''
    const look = () => {
      const now = lengths().join()
      if (now === known || Date.now() - since > maxGraceMs) return resolve()
      known = now
      // The immediate lets a loop that was held up read what has come meanwhile.
      timer = setTimeout(() => setImmediate(look), graceMs)
    }
    child.once('close', () => {
      clearTimeout(timer)
      resolve()
    })
    look()
  })
}

function endAll(pid: number | undefined, isGroup: boolean, signal: NodeJS.Signals): void {
  if (pid === undefined) return
  if (!isGroup) {
    // Windows has no groups, and no way of asking a console program to end.
    const { spawnSync } = process.getBuiltinModule('node:child_process')
    spawnSync('taskkill', ['/PID', String(pid), '/T', '/F'], { stdio: 'ignore' })
    return
  }
  try {
    process.kill(-pid, signal)
  } catch (error) {
    // ESRCH: it has ended. EPERM: what is left of it belongs to someone else.
    if ((error as NodeJS.ErrnoException).code === undefined) throw error
  }
}

/** A Ctrl-C reaches our group only, so a child in one of its own must be told. */
function endWithUs(end: (signal: NodeJS.Signals) => void): () => void {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  const pass = (signal: NodeJS.Signals) => {
    end('SIGTERM')
    unwatch()
    // Where nobody else listens, the signal ends us, as it would have without this listener.
    if (process.listenerCount(signal) === 0) process.kill(process.pid, signal)
  }
  const onExit = () => end('SIGKILL')
  const unwatch = () => {
    for (const signal of signals) process.off(signal, pass)
    process.off('exit', onExit)
  }
  for (const signal of signals) process.on(signal, pass)
  process.on('exit', onExit)
  return unwatch
}
