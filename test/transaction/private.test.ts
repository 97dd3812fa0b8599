import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { chmodSync, lstatSync, readdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { UserError } from '../../src/errors.ts'
import { applyPlan } from '../../src/transaction/apply-plan.ts'
import { checkPlannedFiles } from '../../src/transaction/check-planned-files.ts'
import { applyRollback, planRollback } from '../../src/transaction/plan-rollback.ts'
import { aPairPlan, aPlan, canaryKey, configEdit, settingsEdit } from '../support/a-plan.ts'
import { failureOf } from '../support/failure.ts'
import { aHome, type Home } from '../support/home.ts'
import { notAsRoot, sourceIn, withCalls, worldIn, worldWithAttributes } from '../support/world.ts'

const isRoot = process.getuid?.() === 0
const settings = '.claude/settings.json'

/** Reads everything in a folder as fast as it can, as another user, and may replace our files by links. */
const thief = `
const fs = require('node:fs')
const [folder, victim] = process.argv.slice(1)
const seen = { folders: 0, swapped: 0, texts: [] }
const handles = []
const attempt = (work) => { try { return work() } catch {} }
// A line at the start, and one at the first success.
const report = () => process.stdout.write('\\n')
function look() {
  for (let round = 0; round < 50; round++) {
    for (const name of attempt(() => fs.readdirSync(folder)) ?? []) {
      const path = folder + '/' + name
      if (name.includes('.repoint-')) {
        seen.folders++
        if (seen.folders === 1 && !victim) report()
        if (victim && attempt(() => (fs.renameSync(path, path + '.aside'), true))) {
          attempt(() => fs.symlinkSync(victim, path))
          seen.swapped++
          if (seen.swapped === 1) report()
        }
      }
      for (const target of [path, ...(attempt(() => fs.readdirSync(path)) ?? []).map((inner) => path + '/' + inner)]) {
        const handle = attempt(() => fs.openSync(target))
        if (handle !== undefined) handles.push(handle)
      }
    }
    // A process with an open file sees later writes, whatever the mode is then.
    for (const handle of handles) {
      const text = attempt(() => fs.readFileSync(handle, { encoding: 'utf8' }))
      if (text && !seen.texts.includes(text)) seen.texts.push(text)
    }
    while (handles.length > 60) attempt(() => fs.closeSync(handles.shift()))
  }
  setImmediate(look)
}
process.on('SIGTERM', () => { process.stdout.write(JSON.stringify(seen)); process.exit() })
report()
look()
`

interface Seen {
  /** How often a folder of a run was seen. */
  readonly folders: number
  readonly swapped: number
  readonly texts: readonly string[]
}

/** Enough rounds for a thief who is scheduled, and the most to wait for one who is not. */
const [usualRounds, maxRounds] = [15, 1_000]

/** Another user who watches while `work` runs, in rounds, until that user has seen or replaced a folder of a run. */
async function watchedBy(
  home: Home,
  { folder, victim }: { readonly folder: string; readonly victim?: string },
  work: (round: number) => Promise<void> | void,
): Promise<Seen> {
  chmodSync(home.path, 0o755)
  const args = ['-e', thief, home.at(folder), ...(victim === undefined ? [] : [victim])]
  const child: ChildProcess = spawn(process.execPath, args, {
    uid: 65534,
    gid: 65534,
    cwd: '/',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let output = ''
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  await new Promise((ready) => child.stdout?.once('data', ready))
  const isDone = (round: number) => round >= usualRounds && output.length > 1
  for (let round = 0; round < maxRounds && !isDone(round); round++) {
    await work(round)
    await new Promise((next) => setTimeout(next, 2))
  }
  return new Promise((tell) => {
    child.once('close', () => tell(JSON.parse(output) as Seen))
    child.kill('SIGTERM')
  })
}

describe.runIf(isRoot)('another user who watches the files', () => {
  test('never reads the key while a world-readable file gets it', async () => {
    const home = aHome({ [settings]: '{"model": "opus"}\n' })
    chmodSync(home.at('.claude'), 0o755)
    const { folders, texts } = await watchedBy(home, { folder: '.claude' }, async () => {
      chmodSync(home.at(settings), 0o644)
      applyPlan(worldIn(home), aPlan([settingsEdit(sourceIn(home))]))
      await new Promise((next) => setTimeout(next, 2))
      applyRollback(worldIn(home), planRollback(worldIn(home))!)
    })
    expect(folders).toBeGreaterThan(0)
    expect(texts).toContain('{"model": "opus"}\n')
    expect(texts.filter((text) => text.includes(canaryKey))).toEqual([])
  }, 120_000)

  test('cannot redirect our files with links in a world-writable folder', async () => {
    const victim = aHome({ 'theirs.json': '{"private": true}\n' })
    chmodSync(victim.at('theirs.json'), 0o600)
    const home = aHome({ [settings]: '{"model": "opus"}\n' })
    chmodSync(home.at('.claude'), 0o777)
    const before = statSync(victim.at('theirs.json'))
    const watched = { folder: '.claude', victim: victim.path }
    const { texts, swapped } = await watchedBy(home, watched, (round) => {
      try {
        applyPlan(
          // It also starts programs, so each round lasts long enough for the other user.
          worldWithAttributes(home),
          aPlan([settingsEdit(sourceIn(home), 'https://a.example', `${canaryKey}${round}`)]),
        )
      } catch (error) {
        expect(error).toBeInstanceOf(UserError)
      }
    })
    expect(swapped).toBeGreaterThan(0)
    expect(texts.filter((text) => text.includes(canaryKey))).toEqual([])
    expect(readdirSync(victim.path)).toEqual(['theirs.json'])
    expect(victim.text('theirs.json')).toBe('{"private": true}\n')
    const { mode, uid, ctimeMs } = statSync(victim.at('theirs.json'))
    expect({ mode, uid, ctimeMs }).toEqual({
      mode: before.mode,
      uid: before.uid,
      ctimeMs: before.ctimeMs,
    })
  }, 120_000)
})

function hasTool(tool: string): boolean {
  return spawnSync(tool, ['--version']).error === undefined
}

function run(command: string, ...args: string[]): string {
  return execFileSync(command, args, { encoding: 'utf8' })
}

describe.runIf(hasTool('setfacl'))('access lists', () => {
  const pair = { '.codex/config.toml': 'model = "x"\n' }

  test('are kept, even if the mode cannot express them', () => {
    const home = aHome(pair)
    const path = home.at('.codex/config.toml')
    run('setfacl', '-m', 'u:65534:r,g::-', path)
    const before = run('getfacl', '-n', path)
    applyPlan(worldWithAttributes(home), aPlan([configEdit(sourceIn(home))]))
    expect(run('getfacl', '-n', path)).toBe(before)
    applyRollback(worldWithAttributes(home), planRollback(worldWithAttributes(home))!)
    expect(run('getfacl', '-n', path)).toBe(before)
  })

  test('give nobody access to a written key', () => {
    const home = aHome({ [settings]: '{}\n' })
    run('setfacl', '-m', 'u:65534:r', home.at(settings))
    run('setfacl', '-d', '-m', 'u:65534:rwx', home.at('.claude'))
    applyPlan(worldWithAttributes(home), aPlan([settingsEdit(sourceIn(home))]))
    const entries = run('getfacl', '-n', home.at(settings))
    expect(entries).toMatch(/user:65534:r--\s+#effective:---/)
    expect(entries).toContain('mask::---')
  })

  test('that cannot be kept are reported before the question, and a mask never becomes rights of the group', () => {
    const home = aHome(pair)
    const path = home.at('.codex/config.toml')
    const world = withCalls(worldWithAttributes(home), {
      canCopyAttributes: () => false,
      copyAttributes: () => false,
    })
    const plan = aPairPlan(sourceIn(home))
    expect(checkPlannedFiles(world, plan)).toMatchObject([
      { code: 'attributes-lost', message: expect.stringContaining('config.toml') },
    ])
    run('setfacl', '-m', 'u:65534:r,o::-', path)
    for (const work of [checkPlannedFiles, applyPlan])
      expect(() => work(world, plan)).toThrow(expect.objectContaining({ code: 'not-permitted' }))
    expect(home.text('.codex/config.toml')).toBe('model = "x"\n')
  })

  test('stop the run if they cannot be copied although there is a tool', () => {
    const home = aHome(pair)
    const before = home.snapshot()
    const world = withCalls(worldWithAttributes(home), { copyAttributes: () => false })
    expect(() => applyPlan(world, aPairPlan(sourceIn(home)))).toThrow(
      expect.objectContaining({ code: 'not-permitted', filesState: 'unchanged' }),
    )
    expect(home.snapshot()).toEqual(before)
  })

  test.runIf(hasTool('busybox'))(
    'are not copied with the cp of busybox, which keeps no attributes',
    () => {
      const home = aHome({ ...pair, 'bin/.keep': '' })
      run('sh', '-c', `ln -s "$(command -v busybox)" ${home.at('bin/cp')}`)
      const path = process.env['PATH']
      onTestFinished(() => {
        process.env['PATH'] = path
      })
      process.env['PATH'] = home.at('bin')
      const findings = checkPlannedFiles(
        worldWithAttributes(home),
        aPlan([configEdit(sourceIn(home))]),
      )
      expect(findings).toMatchObject([
        { code: 'attributes-lost', hint: expect.stringContaining('coreutils') },
      ])
    },
  )
})

describe.runIf(isRoot)('the error for a file that cannot be replaced', () => {
  test('names cause and cure for a mount', ({ skip }) => {
    const home = aHome({ '.codex/config.toml': 'model = "x"\n', 'source.toml': 'model = "x"\n' })
    const path = home.at('.codex/config.toml')
    if (spawnSync('mount', ['--bind', home.at('source.toml'), path]).status !== 0) skip('no mount')
    onTestFinished(() => void spawnSync('umount', [path]))
    const error = failureOf(() => applyPlan(worldIn(home), aPairPlan(sourceIn(home))))
    expect(error).toMatchObject({ code: 'config-conflict', filesState: 'unchanged' })
    expect(error.message).toContain('~/.codex/config.toml is a mount point')
    expect(error.hint).toContain('Mount the folder')
    expect(readdirSync(home.at('.codex'))).toEqual(['config.toml'])
  })

  test('names cause and cure for an immutable file', ({ skip }) => {
    const home = aHome({ '.codex/config.toml': 'model = "x"\n' })
    const path = home.at('.codex/config.toml')
    if (spawnSync('chattr', ['+i', path]).status !== 0) skip('no chattr here')
    onTestFinished(() => void spawnSync('chattr', ['-i', path]))
    const error = failureOf(() => applyPlan(worldIn(home), aPairPlan(sourceIn(home))))
    spawnSync('chattr', ['-i', path])
    expect(error).toMatchObject({ code: 'not-permitted', filesState: 'unchanged' })
    expect(error.message).toContain('immutable')
    expect(error.hint).toContain(`chattr -ia ${path}`)
    expect(readdirSync(home.at('.codex'))).toEqual(['config.toml'])
  })
})

test('the folder of a new version is created closed to other users', () => {
  const home = aHome({ [settings]: '{}\n' })
  const world = worldIn(home)
  const modes: number[] = []
  const umask = process.umask(0)
  const watching = withCalls(world, {
    createNew: (path, mode) => {
      if (path.includes('.repoint-')) modes.push(lstatSync(dirname(path)).mode & 0o777)
      return world.files.createNew(path, mode)
    },
  })
  try {
    applyPlan(watching, aPlan([settingsEdit(sourceIn(home))]))
  } finally {
    process.umask(umask)
  }
  expect(modes).toEqual([0o700])
})

test("a second home with the same state folder: a rollback never touches the first home's files", () => {
  const firstHome = aHome({ '.codex/config.toml': '# one\n' })
  const secondHome = aHome({ '.codex/config.toml': '# two\n' })
  const state = { REPOINT_STATE_DIR: aHome().at('state') }
  const worldOf = (home: Home) => notAsRoot(worldIn(home, state))
  applyPlan(worldOf(firstHome), aPairPlan(sourceIn(firstHome)))
  const written = firstHome.snapshot()
  for (const kind of ['newest', 'all'] as const)
    for (const force of [false, true])
      expect(planRollback(worldOf(secondHome), { which: { kind }, force })).toBeUndefined()
  expect(firstHome.snapshot()).toEqual(written)
  expect(secondHome.text('.codex/config.toml')).toBe('# two\n')
})
