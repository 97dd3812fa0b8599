import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { listRuns } from '../../src/transaction/records/records.ts'
import { Home } from '../support/home.ts'
import { worldIn } from '../support/world.ts'
import { runCommand } from './command.ts'
import { canary, clientOf, homes, Scene, secretProblems, setupOf, undo } from './scene.ts'
import { noStrace, runTraced } from './strace.ts'

const pair = homes['codex, an existing pair'] ?? {}

test('50 setups at once, each with another key and address, leave one pair and never a mix', async () => {
  const home = new Home(pair)
  onTestFinished(() => rmSync(home.path, { recursive: true, force: true }))
  const scene = await Scene.ready({}, [])
  const { argv } = scene.command([])
  const setups = Array.from({ length: 50 }, (_, index) => {
    const args = setupOf('codex').map((one) => one.replace(':9', `:${9000 + index}`))
    const env = { HOME: home.path, REPOINT_API_KEY: `sk-together-${9000 + index}-abcdef` }
    return runCommand({ argv: [...argv, ...args], env })
  })
  const ended = await Promise.all(setups)
  const statuses = new Map<number | null, number>()
  for (const { status } of ended) statuses.set(status, (statuses.get(status) ?? 0) + 1)
  console.log(
    `50 setups at once: ${[...statuses].map(([s, n]) => `${n} with status ${s}`).join(', ')}`,
  )
  const port = /127\.0\.0\.1:(\d+)/.exec(home.text('.codex/config.toml'))?.[1]
  expect(home.text('.codex/auth.json')).toContain(`sk-together-${port}-`)
  expect([...statuses.keys()].filter((status) => status !== 0 && status !== 9)).toEqual([])
  const { runs, damaged } = listRuns(worldIn(home))
  expect(damaged).toEqual([])
  expect(runs).toHaveLength(statuses.get(0) ?? 0)
  expect(runs[0]?.address).toContain(port)
  expect(readdirSync(home.at('.codex')).sort()).toEqual(['auth.json', 'config.toml'])
})

test('the key is in its file and in copies, and in no output, record or command line', async () => {
  for (const [name, given] of Object.entries(homes)) {
    const scene = await Scene.ready(given, [])
    const seen = watchCommandLines()
    for (const args of [setupOf(clientOf(name)), undo, undo]) {
      const { status, stdout, stderr } = await runCommand(scene.command(args))
      expect(status).toBe(0)
      expect(stdout + stderr).not.toContain(canary)
      expect(secretProblems(scene.home)).toEqual([])
    }
    const { lines, looks } = seen.stop()
    expect(looks).toBeGreaterThan(10)
    expect(lines.some((line) => line.includes('repoint.js'))).toBe(true)
    expect(lines.filter((line) => line.includes(canary))).toEqual([])
  }
})

test.skipIf(noStrace !== undefined)(
  'the key is never written where others could read it',
  async () => {
    let writes = 0
    for (const [name, given] of Object.entries(homes)) {
      const scene = await Scene.ready(given, [])
      const { log } = await runTraced(scene.command(setupOf(clientOf(name))), {
        strings: 100_000,
      })
      const modes = new Map<string, number>()
      for (const line of log.split('\n')) {
        // A call that another thread interrupted ends with ` <unfinished ...>` instead of `)`.
        const born = /openat\(.*"([^"]+)", .*O_CREAT.*, (0\d+)(?:\)| <)/.exec(line)
        if (born?.[1]) modes.set(born[1], Number.parseInt(born[2] ?? '', 8))
        const changed = /fchmod\(\d+<([^>]+)>, (0\d+)(?:\)| <)/.exec(line)
        if (changed?.[1]) modes.set(changed[1], Number.parseInt(changed[2] ?? '', 8))
        const written = /p?write(?:64)?\(\d+<([^>]+)>, /.exec(line)
        // A copy is compressed, so the key in it is not visible here.
        const mayHoldKey = line.includes(canary) || line.includes('/blobs/')
        if (!written?.[1] || !mayHoldKey) continue
        writes++
        expect(modes.get(written[1]), written[1]).toBe(0o600)
      }
    }
    console.log(`${writes} writes of the key or of copies, all into files of mode 0600`)
    expect(writes).toBeGreaterThan(2 * Object.keys(homes).length - 1)
  },
)

/** A container has other PIDs. Not every machine lets a test make one. */
const inContainer = ['unshare', '--pid', '--fork', '--mount-proc']
const canUnshare = spawnSync(inContainer[0]!, [...inContainer.slice(1), 'true']).status === 0

test.runIf(canUnshare)('a command in a container leaves a living run alone', async () => {
  const scene = await Scene.ready(pair, [])
  // Stops with one file switched, and the other not.
  const running = runCommand(
    scene.command(setupOf('codex'), {
      NODE_OPTIONS: `--import=${resolve('test/crash/kill-hook.mjs')}`,
      KILL_BEFORE: '^rename .*/\\.codex/',
      KILL_WITH: 'SIGSTOP',
    }),
  )
  const state = scene.home.at('.local/state/repoint')
  while (!existsSync(`${state}/journal.json`)) await sleep(5)
  const [holder = ''] = readdirSync(`${state}/lock`)
  const pid = Number.parseInt(holder, 10)
  const isStopped = () => / T /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  while (!isStopped()) await sleep(20)

  const before = scene.home.snapshot()
  for (const args of [['status'], undo]) {
    const { argv, env } = scene.command(args)
    const { status, stderr, stdout } = await runCommand({ argv: [...inContainer, ...argv], env })
    expect(stdout + stderr).toContain(`Another run of repoint is in progress: process ${pid} on `)
    expect(status).toBe(9)
  }
  expect(scene.home.snapshot()).toEqual(before)
  expect(scene.isUnsettled()).toBe(true)

  process.kill(pid, 'SIGCONT')
  expect(await running).toMatchObject({ status: 0 })
  expect(scene.isUnsettled()).toBe(false)
})

/** Reads every command line on this machine, as any user can. */
function watchCommandLines() {
  const lines = new Set<string>()
  let looks = 0
  const timer = setInterval(() => {
    looks++
    for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
      try {
        lines.add(readFileSync(join('/proc', pid, 'cmdline'), 'utf8'))
      } catch {
        // The process has ended.
      }
    }
  }, 5)
  return {
    stop: () => {
      clearInterval(timer)
      return { lines: [...lines], looks }
    },
  }
}
