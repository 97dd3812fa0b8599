import { main } from '../../src/cli.ts'
import { nodePlatform } from '../../src/platform/node.ts'
import type { CliResult } from './cli.ts'
import type { Home } from './home.ts'
import { worldIn } from './world.ts'

/** Listens for signals, so it is made once. */
const platform = nodePlatform()

/**
 * The same as `runCli` in this process, where programs are those of a PATH that `env` gives: many times faster
 * than the built program. Not for what a process alone has: its time zone, its signals, its files.
 */
export async function runInProcess(
  home: Home,
  args: readonly string[],
  options: {
    stdin?: string
    env?: Record<string, string>
    cwd?: string
    /** How long a program may run that is not on our terminal, in ms. Absent: as long as repoint says. */
    programLimitMs?: number
  } = {},
): Promise<CliResult> {
  const {
    stdin = '',
    env = {},
    cwd = home.path,
    programLimitMs = Number.POSITIVE_INFINITY,
  } = options
  const output = { stdout: '', stderr: '' }
  const { machine, processes, ...world } = worldIn(home, env)
  const status = await main(
    {
      ...platform,
      ...world,
      machine: { ...machine, cwd },
      processes: {
        ...processes,
        run: (command, args, { timeoutMs, ...more }) =>
          processes.run(command, args, { ...more, timeoutMs: Math.min(timeoutMs, programLimitMs) }),
      },
      terminal: {
        ...platform.terminal,
        canAsk: false,
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

export interface Said {
  readonly status: number
  /** The document that --json printed. */
  readonly json: { readonly [member: string]: unknown }
  /** All that was said. */
  readonly text: string
}

/** The same with `--json`. */
export async function runHere(
  home: Home,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<Said> {
  const { status, stdout, stderr } = await runInProcess(home, [...args, '--json'], { env })
  return { status: status!, json: JSON.parse(stdout), text: stdout + stderr }
}
