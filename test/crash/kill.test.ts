import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { inTwoLanes, runCommand } from './command.ts'
import {
  clientOf,
  clientsAtHome,
  fullHome,
  homes,
  look,
  Scene,
  setupOf,
  severalForms,
  undo,
} from './scene.ts'

const hook = `--import=${resolve('test/crash/kill-hook.mjs')}`

/** The file-system calls of a command, in order: `rename /home/…`. Runs it to its end. */
async function callsOf(scene: Scene, args: readonly string[]): Promise<string[]> {
  const list = `${scene.home.path}.calls`
  const ended = await runCommand(scene.command(args, { NODE_OPTIONS: hook, CALLS_TO: list }))
  expect(ended).toMatchObject({ status: 0, stderr: '' })
  return JSON.parse(readFileSync(list, 'utf8'))
}

/** Kills a command before one of its calls, counted from 1, and checks that it died there. */
async function kill(scene: Scene, args: readonly string[], at: number): Promise<string> {
  const ended = await runCommand(scene.command(args, { NODE_OPTIONS: hook, KILL_AT: String(at) }))
  expect(ended, `to be killed at call ${at}`).toMatchObject({ signal: 'SIGKILL', stdout: '' })
  return `${args[0]} killed at call ${at}`
}

/** Flushes are left out: after a kill, the kernel keeps what the process has written. */
function isChange(call: string): boolean {
  return /^(rename|unlink|mkdir|rmdir|write|fchmod|fchown|open .* wx$)/.test(call)
}

/** Every n-th change, from the first on. */
function oneIn(count: number): (call: string) => boolean {
  let changes = 0
  return (call) => isChange(call) && changes++ % count === 0
}

/** The numbers of the calls to kill at. */
function pointsOf(calls: readonly string[], isMeant: (call: string) => boolean): number[] {
  return calls.flatMap((call, index) => (isMeant(call) ? [index + 1] : []))
}

async function prepare(
  name: string,
  args: readonly string[],
  before: readonly (readonly string[])[],
) {
  const given = homes[name] ?? fullHome
  const lanes = [await Scene.ready(given, before), await Scene.ready(given, before)] as const
  let calls: string[] = []
  for (const scene of lanes) {
    calls = await callsOf(scene, args)
    scene.learnEnd()
  }
  return { lanes, calls }
}

async function sweep(
  name: string,
  args: readonly string[],
  before: readonly (readonly string[])[],
  isMeant: (call: string) => boolean,
) {
  const { lanes, calls } = await prepare(name, args, before)
  const points = pointsOf(calls, isMeant)
  const problems: string[] = []
  let unfinished = 0
  await inTwoLanes(points, async (at, lane) => {
    const scene = lanes[lane]!
    scene.reset()
    const place = await kill(scene, args, at)
    if (scene.isUnsettled()) unfinished++
    problems.push(...scene.problems().map((problem) => `${place}, ${calls[at - 1]}: ${problem}`))
  })
  const unsaved = lanes[0].unsaved + lanes[1].unsaved
  console.log(
    `${name}, ${args[0]}: ${points.length} kills, ${unfinished} left a run unfinished, ${unsaved} a gateway unsaved`,
  )
  return { problems, unfinished, unsaved }
}

// Between two changes, the disk does not change. One file or two that are new, exist, or are
// links: Codex and Claude Code have each kind, and the files of the others switch by the same steps.
describe.each(
  Object.keys(homes).map((name) =>
    name in severalForms && clientOf(name) !== 'opencode'
      ? { name, which: 'every change', least: 6, points: () => isChange }
      : { name, which: 'every third change', least: 3, points: () => oneIn(3) },
  ),
)('SIGKILL, $name, at $which', ({ name, least, points }) => {
  const client = clientOf(name)
  test('of a setup leaves the files all old or all new', async () => {
    const { problems, unfinished, unsaved } = await sweep(name, setupOf(client), [], points())
    expect(problems).toEqual([])
    if (least === 6) expect(unsaved).toBeGreaterThan(0)
    expect(unfinished).toBeGreaterThanOrEqual(least)
  })

  test('of a rollback leaves the files all restored or all unchanged', async () => {
    const { problems, unfinished } = await sweep(name, undo, [setupOf(client)], points())
    expect(problems).toEqual([])
    expect(unfinished).toBeGreaterThanOrEqual(least)
  })
})

test('SIGKILL at every sixth change of a use of all clients leaves the files all old or all new', async () => {
  const at = (port: number, name: string, client: string) => [
    ...setupOf(client).map((word) => word.replace(/:9$/, `:${port}`)),
    ...['--name', name],
  ]
  const before = [at(10, 'two', 'codex'), ...clientsAtHome.map((client) => at(9, 'one', client))]
  const name = 'all clients, existing files'
  const use = ['use', 'two', '--no-verify', '--yes', '--json']
  const { problems, unfinished } = await sweep(name, use, before, oneIn(6))
  expect(problems).toEqual([])
  expect(unfinished).toBeGreaterThan(10)
})

describe('SIGKILL during recovery', () => {
  test.each([
    { what: 'a setup', args: setupOf('codex'), before: [] },
    { what: 'a rollback', args: undo, before: [setupOf('codex')] },
  ])(
    'of $what, also twice in a row, leaves the files all old or all new',
    async ({ args, before }) => {
      const { lanes, calls } = await prepare('codex, an existing pair', args, before)
      // Before the kill: partly staged, staged, committed, half switched, all switched.
      const isTurn = (call: string) =>
        /^rename .*(draft|\.repoint-|journal)/.test(call) || /^open .*\.repoint-.* wx$/.test(call)
      const starts = pointsOf(calls, isTurn).slice(-5)
      const problems: string[] = []
      let points = 0
      await inTwoLanes(starts, async (start, lane) => {
        const scene = lanes[lane]!
        const check = (...places: readonly string[]) => {
          points++
          const place = places.join(', then ')
          problems.push(...scene.problems().map((problem) => `${place}: ${problem}`))
        }
        scene.reset()
        const begun = await kill(scene, args, start)
        if (!scene.isUnsettled()) return
        scene.save('cut')

        const recovery = pointsOf(await callsOf(scene, look), isChange)
        for (const [index, first] of recovery.entries()) {
          if (index % 3 !== 0) continue
          scene.reset('cut')
          const cut = await kill(scene, look, first)
          scene.save('cut-twice')
          check(begun, cut)
          if (index % 6 !== 0) continue

          scene.reset('cut-twice')
          const again = pointsOf(await callsOf(scene, look), isChange)
          const second = again[Math.floor(again.length / 2)]
          if (second === undefined) continue
          scene.reset('cut-twice')
          check(begun, cut, await kill(scene, look, second))
        }
      })
      console.log(`recovery of ${args[0]}: ${points} kills`)
      expect(problems).toEqual([])
      expect(points).toBeGreaterThan(30)
    },
  )
})
