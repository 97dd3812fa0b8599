import { main } from '../../src/cli.ts'
import { nodePlatform } from '../../src/platform/node.ts'
import type { Platform } from '../../src/platform/platform.ts'
import type { CliResult } from './cli.ts'
import type { Home } from './home.ts'
import { worldIn } from './world.ts'

/** Created once, because it listens for signals. */
const platform = nodePlatform()

/** This machine with another home, and without a terminal for questions. */
export function platformIn(
  home: Home,
  { env = {}, cwd = home.path }: { env?: Record<string, string>; cwd?: string } = {},
): Platform {
  const { machine, ...world } = worldIn(home, env)
  const terminal = { ...platform.terminal, canAsk: false }
  return { ...platform, ...world, machine: { ...machine, cwd }, terminal }
}

/**
 * Like `runCli`, but in this process, which is many times faster than the built program. Programs are found only
 * in a PATH in `env`. Not for tests of the process itself, such as its time zone, signals or open files.
 */
export async function runInProcess(
  home: Home,
  args: readonly string[],
  options: {
    stdin?: string
    env?: Record<string, string>
    cwd?: string
    /** Replaces the start of a command on our terminal. */
    runInForeground?: Platform['runInForeground']
    /** Answers the questions of a terminal. Absent: repoint cannot ask. */
    ask?: Partial<Platform['ask']>
    /** The time limit of a program that is not on our terminal, in ms. Absent: repoint's limit. */
    programLimitMs?: number
  } = {},
): Promise<CliResult> {
  const { stdin = '', programLimitMs = Number.POSITIVE_INFINITY } = options
  const output = { stdout: '', stderr: '' }
  const { processes, terminal, ...others } = platformIn(home, options)
  const status = await main(
    {
      ...others,
      ...(options.runInForeground && { runInForeground: options.runInForeground }),
      ask: { ...others.ask, ...options.ask },
      processes: {
        ...processes,
        run: (command, args, { timeoutMs, ...more }) =>
          processes.run(command, args, { ...more, timeoutMs: Math.min(timeoutMs, programLimitMs) }),
      },
      terminal: {
        ...terminal,
        canAsk: options.ask !== undefined,
        out: (text) => {
          output.stdout += text
        },
        err: (text) => {
          output.stderr += text
        },
        readStdin: async () => new TextEncoder().encode(stdin),
      },
    },
    args,
  )
  return {
    status,
    ...output,
    get json() {
      return JSON.parse(output.stdout)
    },
  }
}

export interface JsonResult {
  readonly status: number
  /** The document that --json printed. */
  readonly json: { readonly [member: string]: unknown }
  /** Standard output and standard error. */
  readonly text: string
}

/** Like `runInProcess`, with `--json`. */
export async function runHere(
  home: Home,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<JsonResult> {
  const { status, stdout, stderr } = await runInProcess(home, [...args, '--json'], { env })
  return { status: status!, json: JSON.parse(stdout), text: stdout + stderr }
}
