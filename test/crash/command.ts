import { spawn } from 'node:child_process'

export interface Command {
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

export interface Ended {
  readonly status: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs a command to its end, with only PATH of our environment. Kills it at its time limit. */
export function runCommand(
  { argv: [program = '', ...args], env }: Command,
  limitMs = 60_000,
): Promise<Ended> {
  return new Promise((settle, fail) => {
    const child = spawn(program, args, {
      env: { PATH: process.env['PATH'], ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      // A process group, so that a traced program ends with its tracer.
      detached: true,
    })
    const timer = setTimeout(() => process.kill(-child.pid!, 'SIGKILL'), limitMs)
    const output = { stdout: '', stderr: '' }
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output.stdout += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      output.stderr += text
    })
    child.on('error', fail)
    child.on('close', (status, signal) => {
      clearTimeout(timer)
      settle({ status, signal, ...output })
    })
  })
}

/** Does `work` for each of `all`, two at a time; `lane` is 0 or 1. */
export async function inTwoLanes<T>(
  all: readonly T[],
  work: (one: T, lane: number) => Promise<void>,
): Promise<void> {
  const waiting = [...all]
  const lane = async (number: number) => {
    for (let one = waiting.shift(); one !== undefined; one = waiting.shift())
      await work(one, number)
  }
  await Promise.all([lane(0), lane(1)])
}
