import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Command, type Ended, runCommand } from './command.ts'

/** The time limit of a traced run, in ms. Such a run takes a second or two. */
const tracedLimitMs = 12_000

/** The reason why system calls cannot be traced here, or undefined. */
export const noStrace: string | undefined = probeStrace()

function probeStrace(): string | undefined {
  const result = spawnSync('strace', ['-f', '-o', '/dev/null', 'true'], { encoding: 'utf8' })
  if (result.error) return 'strace is not installed'
  return result.status === 0 ? undefined : `strace does not work here: ${result.stderr.trim()}`
}

/** One system call of the program's main thread that concerns a home. */
export interface Call {
  readonly name: string
  /** The number of calls of that name by the main thread, including this one. */
  readonly nth: number
  /** The line in strace's log, without the pid. */
  readonly line: string
  /** The path of the call, below the home, and its number among the calls of that name there. Absent for a random name. */
  readonly at?: { readonly place: string; readonly nth: number }
}

/**
 * Runs a command under strace and returns the log.
 *
 * @param options.inject the value of -e inject=
 * @param options.path only calls about this path are traced, and counted for `when=`
 * @param options.strings how much of each buffer the log shows, in bytes
 */
export async function runTraced(
  { argv, env }: Command,
  options: { inject?: string; path?: string; strings?: number } = {},
): Promise<Ended & { log: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'repoint-strace-'))
  const log = join(folder, 'log')
  const traced = options.inject === undefined ? '%file,%desc' : options.inject.split(':')[0]
  const args = ['-f', '-y', '-o', log, '-e', `trace=${traced}`]
  // Much faster, but strace 6.1 then injects errors only, no signals.
  if (!options.inject?.includes('signal=')) args.push('--seccomp-bpf')
  if (options.strings !== undefined) args.push('-s', String(options.strings))
  if (options.inject !== undefined) args.push('-e', `inject=${options.inject}`)
  if (options.path !== undefined) args.push('-P', options.path)
  // There are many threads with few calls each. A failure of their n-th write would break Node.
  const command = {
    argv: ['strace', ...args, '--', ...argv],
    env: { ...env, UV_THREADPOOL_SIZE: '64' },
  }
  const ended = await runCommand(command, tracedLimitMs)
  const text = readFileSync(log, 'utf8')
  rmSync(folder, { recursive: true })
  return { ...ended, log: text }
}

/** The calls of the main thread that name something below `home`, in order. */
export function callsOn(log: string, home: string): Call[] {
  const main = /^\d+/.exec(log)?.[0] ?? ''
  const counts = new Map<string, number>()
  const calls: Call[] = []
  for (const line of log.split('\n')) {
    const [, pid, name = ''] = /^(\d+) +(\w+)\(/.exec(line) ?? []
    if (pid !== main) continue
    const nth = (counts.get(name) ?? 0) + 1
    counts.set(name, nth)
    if (!line.includes(home)) continue
    const call = { name, nth, line: line.slice(main.length).trim() }
    const place = placeIn(line, home)
    if (place === undefined) calls.push(call)
    else {
      const before = calls.filter((one) => one.name === name && one.at?.place === place).length
      calls.push({ ...call, at: { place, nth: before + 1 } })
    }
  }
  return calls
}

/** The path of a call, if its name is the same in each run. */
function placeIn(line: string, home: string): string | undefined {
  const places = line
    .split(home)
    .slice(1)
    .map((rest) => /^[^">]*/.exec(rest)?.[0] ?? '')
  const [place = '', ...others] = places
  const isRandom = /\.repoint-|\/lock|\/new-|\/run-/.test(place)
  return others.length > 0 || isRandom ? undefined : place
}

/** Whether a call can change what is on the disk. */
export function isChange({ name, line }: Call): boolean {
  if (name === 'openat' || name === 'open') return line.includes('O_CREAT')
  return /^(rename|unlink|mkdir|rmdir|fsync|write|pwrite|fchmod|fchown)/.test(name)
}
