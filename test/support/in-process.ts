import { main } from '../../src/cli.ts'
import { nodePlatform } from '../../src/platform/node.ts'
import type { Home } from './home.ts'
import { worldIn } from './world.ts'

export interface Said {
  readonly status: number
  /** The document that --json printed, or all that was said. */
  readonly json: { readonly [member: string]: unknown }
  readonly text: string
}

/** Listens for signals, so it is made once. */
const platform = nodePlatform()

/**
 * Runs a command line in this process, as a script would and with `--json`, on a machine without the
 * clients' programs: many times faster than the built program.
 */
export async function runHere(
  home: Home,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Said> {
  let text = ''
  const world = worldIn(home, env)
  const note = (piece: string) => {
    text += piece
  }
  const status = await main(
    {
      ...platform,
      ...world,
      processes: { ...world.processes, which: () => undefined },
      terminal: { ...platform.terminal, canAsk: false, out: note, err: note },
    },
    [...args, '--json'],
  )
  return { status, json: JSON.parse(text), text }
}
