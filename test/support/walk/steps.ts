import { chmodSync, existsSync, rmSync } from 'node:fs'
import type fc from 'fast-check'
import { expect } from 'vitest'
import { fc as check } from '../fast-check.ts'
import { foreignHome } from '../foreign-homes.ts'
import { clientOfFile, clients, connectionsOf, type Files, filesOf } from './client-files.ts'
import { type Expectation, type Undoing, withoutFolders } from './expectation.ts'
import { gateways, handAddress, handKey, type Machine, type Result } from './machine.ts'

export type Step = fc.AsyncCommand<Expectation, Machine, true>

function step(name: string, run: (expected: Expectation, machine: Machine) => Promise<void>): Step {
  return {
    check: async () => true,
    run: async (expected, machine) => {
      await run(expected, machine)
      if (!/^(edit|open|delete)/.test(name)) expected.checkFiles(name)
    },
    toString: () => name,
  }
}

/** A command that changes clients. `statuses` are those that it may end with. */
interface Change {
  readonly args: readonly string[]
  readonly key?: string
  /** The text of team.json. */
  readonly teamFile?: string
  readonly statuses: readonly number[]
  /** Checks a finished command. */
  readonly after?: (expected: Expectation, machine: Machine, result: Result) => void
  /** The same command again changes nothing. */
  readonly isStable?: boolean
}

function writeTeamFile(
  expected: Expectation,
  machine: Machine,
  { teamFile }: Pick<Change, 'teamFile'>,
): void {
  if (teamFile === undefined) return
  machine.home.put('team.json', teamFile)
  expected.othersWrote()
}

async function runChange(expected: Expectation, machine: Machine, change: Change): Promise<void> {
  const { args, key, statuses, after, isStable } = change
  writeTeamFile(expected, machine, change)
  const before = machine.files()
  const result = await machine.run(args, key)
  expect(statuses, JSON.stringify(result)).toContain(result.status)
  if (key !== undefined) expected.knows(key)
  expected.changed(before, result)
  if (result.status !== 0) return

  after?.(expected, machine, result)
  if (!isStable) return
  const files = machine.files()
  const again = await machine.run(args, key)
  expect(again.json, JSON.stringify(again)).toMatchObject({ changed: false })
  expect(machine.files()).toEqual(files)
}

/** One client with flags, or several with a team's file. */
function setupOf(ids: readonly string[], gateway: 0 | 1, key: 0 | 1, model: string): Change {
  const { name, url, keys } = gateways[gateway]
  const isAlone = ids.length === 1
  const models = ids[0] === 'claude' ? [] : ['--model', model]
  const alone = [ids[0]!, '--base-url', url, '--name', name, ...models]
  const common = ['--no-verify', '--yes']
  return {
    args: isAlone ? [...alone, ...common] : ['setup', ...ids, '--from', 'team.json', ...common],
    ...(!isAlone && { teamFile: teamFileOf(ids, { name, url, model }) }),
    key: keys[key],
    // 8: someone left a file that cannot be edited.
    statuses: [0, 8],
    isStable: true,
    after: (_, machine) => {
      for (const id of ids) {
        const active = connectionsOf(id, machine.files()).filter(({ isActive }) => isActive)
        const pairs = active.map(({ address = '', credential }) => [
          address.startsWith(url),
          credential,
        ])
        expect(pairs, `${id} is not set up`).toContainEqual([true, keys[key]])
      }
    },
  }
}

function teamFileOf(
  ids: readonly string[],
  { name, url, model }: { name: string; url: string; model: string },
): string {
  const options = ids.map((id) => [id, id === 'claude' ? { slot: 'opus' } : { model }] as const)
  return JSON.stringify({ version: 1, name, baseUrl: url, clients: Object.fromEntries(options) })
}

const anIndex = check.constantFrom(0 as const, 1 as const)
const aModel = check.constantFrom('gpt-5.6-sol', 'gpt-5.4')

/** The commands that change clients, for the clients of a walk. */
function changes(ids: readonly string[]): fc.Arbitrary<Change> {
  const some = check.subarray([...ids], { minLength: 1, maxLength: 2 })
  const one = check.constantFrom(...ids).map((id) => [id])
  const anySetup = check
    .tuple(check.oneof({ weight: 3, arbitrary: one }, some), anIndex, anIndex, aModel)
    .map((values) => setupOf(...values))
  const key = check.tuple(anIndex, anIndex).map(([gateway, index]): Change => {
    const { name, keys } = gateways[gateway]
    return {
      args: ['key', name, '--no-verify', '--yes'],
      key: keys[index],
      statuses: [0, 2, 8],
    }
  })
  const use = check.tuple(anIndex, check.subarray([...ids], { maxLength: 2 })).map(
    ([gateway, of]): Change => ({
      args: ['use', gateways[gateway].name, ...of, '--no-verify', '--yes'],
      statuses: [0, 2, 8],
    }),
  )
  const off = check.subarray([...ids], { maxLength: 1 }).map(
    (of): Change => ({
      args: ['off', ...of, '--yes'],
      statuses: [0, 8],
      after: (expected, _, result) => expected.checkOff(result, of),
    }),
  )
  const fix = check.constant<Change>({
    args: ['doctor', '--fix', '--no-verify', '--yes'],
    statuses: [0, 2, 3, 4, 5, 6, 7, 8, 10, 11],
  })
  return check.oneof(
    { weight: 5, arbitrary: anySetup },
    key,
    use,
    { weight: 2, arbitrary: off },
    fix,
  )
}

function undoings(ids: readonly string[]): fc.Arbitrary<Omit<Undoing, 'run'> & { nth: number }> {
  return check.record({
    what: check.oneof(
      { weight: 5, arbitrary: check.constant('newest' as const) },
      { weight: 2, arbitrary: check.constant('redo' as const) },
      check.constantFrom('run' as const, 'original' as const),
    ),
    client: check.oneof(
      { weight: 2, arbitrary: check.constant(undefined) },
      check.constantFrom(...ids),
    ),
    isForced: check.oneof({ weight: 4, arbitrary: check.constant(false) }, check.constant(true)),
    nth: check.nat(3),
  })
}

function argsOf({ what, client, isForced, run }: Undoing): readonly string[] {
  return [
    'rollback',
    ...(client === undefined ? [] : [client]),
    ...(what === 'newest' ? [] : [`--${what}`]),
    ...(run === undefined ? [] : [run]),
    ...(isForced ? ['--force'] : []),
    '--yes',
  ]
}

export async function rollBack(
  expected: Expectation,
  machine: Machine,
  undoing: Undoing,
): Promise<Result> {
  const before = machine.files()
  const result = await machine.run(argsOf(undoing))
  expected.rolledBack(undoing, before, result)
  const { what, client, isForced } = undoing
  if (what === 'original' && result.status === 0) {
    if (isForced) expected.checkFirstCopies(client, argsOf(undoing).join(' '))
    const of = client === undefined ? [] : [client]
    const next = await machine.run(['rollback', ...of, '--dry-run'])
    expect(next.json, `after ${argsOf(undoing).join(' ')}`).toMatchObject({ undoes: null })
  }
  return result
}

/** Rolls back, and often redoes it and rolls back again: the files must be the same. */
function rollbacks(ids: readonly string[]): fc.Arbitrary<Step> {
  return check.tuple(undoings(ids), check.boolean()).map(([{ nth, ...undoing }, redoes]) => {
    const name = `${argsOf(undoing).join(' ')}${undoing.what === 'run' ? ` #${nth}` : ''}`
    return step(name, async (expected, machine) => {
      const run = expected.activeRuns(undoing.client)[nth]
      if (undoing.what === 'run' && run === undefined) return
      const named = undoing.what === 'run' ? { ...undoing, run: run! } : undoing
      const before = machine.files()
      const { status, json } = await rollBack(expected, machine, named)
      if (!redoes || undoing.what === 'redo' || status !== 0 || !json.changed) return

      const after = machine.files()
      const redo = { what: 'redo', client: undoing.client, isForced: false } as const
      const redone = await rollBack(expected, machine, redo)
      if (redone.status === 0)
        expect(withoutFolders(machine.files()), `redo after ${name}`).toEqual(
          withoutFolders(before),
        )
      const again = await rollBack(expected, machine, { ...redo, what: 'newest' })
      if (
        redone.status === 0 &&
        again.status === 0 &&
        undoing.what === 'newest' &&
        !undoing.isForced
      )
        expect(machine.files(), `${name} again`).toEqual(after)
    })
  })
}

/** Kills a command, sometimes lets someone write before the next start, and starts repoint again. */
function kills(ids: readonly string[]): fc.Arbitrary<Step> {
  const anyChange = changes(ids)
  const undo = undoings(ids)
    .filter(({ what }) => what !== 'run')
    .map((undoing): Change => ({ args: argsOf(undoing), statuses: [] }))
  const edit = check.oneof({ weight: 2, arbitrary: check.constant(undefined) }, edits())
  return check
    .tuple(check.oneof(anyChange, undo), check.integer({ min: 1, max: 90 }), edit)
    .map(([change, at, others]) => {
      const { args, key } = change
      const name = `kill ${args.join(' ')} at ${at}${others ? `, then ${others}` : ''}`
      return step(name, async (expected, machine) => {
        const list = async () => (await machine.run(['rollback', '--list'])).json.runs
        const known = (await list()).map(({ run }: { run: string }) => run)
        writeTeamFile(expected, machine, change)
        const before = machine.files()
        if (key !== undefined) expected.knows(key)
        await machine.kill(args, at, key)
        expected.checkTornFiles(name)
        const torn = machine.files()
        if (others) await others.run(expected, machine)
        const isEdited = JSON.stringify(torn) !== JSON.stringify(machine.files())

        const [newest] = await list()
        if (newest === undefined || known.includes(newest.run)) {
          if (!isEdited) expect(machine.files(), name).toEqual(before)
          return
        }
        const { run, kind, files } = newest
        if (kind === 'change') expected.recordChange(run, before, machine.files(), files, isEdited)
        else expected.recordKilledUndo(newest, before, isEdited)
      })
    })
}

function forgets(): fc.Arbitrary<Step> {
  const name = check.constantFrom(...gateways.map((gateway) => gateway.name))
  return check.oneof({ weight: 2, arbitrary: name }, check.constant('--all')).map((what) =>
    step(`forget ${what}`, async (expected, machine) => {
      const before = machine.files()
      const { status, json } = await machine.run(['forget', what, '--yes'])
      expect(what === '--all' ? [0] : [0, 2], JSON.stringify(json)).toContain(status)
      expect(machine.files(), `forget ${what}`).toEqual(before)
      if (what !== '--all') return
      expected.forgotAll()
      const left = machine.home
        .everything()
        .filter((path) => /state\/repoint\/.*[^/]*(run-|gateways|blobs\/)/.test(path))
      expect(left, 'forget --all').toEqual([])
    }),
  )
}

type Edit = (text: string, name: string, nth: number) => string

/** Files whose clients accept comments. */
const commented = /\.(toml|jsonc)$|models\.json$|openclaw\.json$|\.factory\/|\.qwen\//

/** How users and clients change a file. None of them makes it unreadable. */
const fileEdits: Readonly<Record<string, Edit>> = {
  'our key': (text) => text.replaceAll(/sk-canary-(one|two)-\w+/g, handKey),
  'our address': (text) => text.replaceAll(/https:\/\/(one|two)\.example/g, handAddress),
  'our model': (text) => text.replaceAll('gpt-5.6-sol', 'gpt-5.5').replaceAll('"sonnet"', '"opus"'),
  'member at the root': (text, name, nth) =>
    name.endsWith('.toml')
      ? `${text}\n[zzz${nth}]\nx = 1\n`
      : text.replace(/^([^{]*)\{(\s*\})?/, (_, start: string, end?: string) => {
          return `${start}{ "zzz${nth}": 1${end === undefined ? ',' : ' }'}`
        }),
  'member next to our key': (text, name, nth) =>
    name.endsWith('.toml')
      ? text.replace(/^\[model_providers\.\w+\]\n/m, `$&request_max_retries = ${nth}\n`)
      : text.replace(
          /("?(?:gateway|openai-compatible|env|options)"?\s*:\s*\{)(\s*\})?/,
          (_, start: string, end?: string) =>
            `${start} "zzz${nth}": "1"${end === undefined ? ',' : ' }'}`,
        ),
  comment: (text, name, nth) => {
    if (!commented.test(name)) return text
    return `${name.endsWith('.toml') ? '#' : '//'} mine ${nth}\n${text}`
  },
  reformat: (text) => {
    try {
      return `${JSON.stringify(JSON.parse(text), undefined, 3)}\n`
    } catch {
      return text
    }
  },
  'line ends': (text) => text.replaceAll(/\r?\n/g, '\r\n'),
  'auth mode': (text, name) =>
    name === '.codex/auth.json' && !text.includes('auth_mode')
      ? text.replace(/\{/, '{ "auth_mode": "apikey",').replace(/,\s*\}/, '}')
      : text,
  login: (text, name) =>
    name === '.codex/auth.json'
      ? '{"auth_mode":"chatgpt","OPENAI_API_KEY":null,"tokens":{"refresh_token":"users-login"}}'
      : text,
}

/** Changes by users and clients. */
function edits(): fc.Arbitrary<Step> {
  const whole = check
    .tuple(check.constantFrom(...Object.keys(fileEdits)), check.nat(9), check.boolean())
    .map(([what, nth, isEverywhere]) =>
      step(
        `edit ${isEverywhere ? 'every file' : `file ${nth}`}: ${what}`,
        async (expected, machine) => {
          for (const [index, name] of fileNames(machine.files()).entries()) {
            if (!isEverywhere && index !== nth % fileNames(machine.files()).length) continue
            const text = machine.home.text(name)
            const changed = fileEdits[what]!(text, name, nth)
            if (changed !== text) machine.home.put(name, changed)
          }
          expected.othersWrote()
        },
      ),
    )
  const one = (what: string, work: (machine: Machine, name: string) => void) =>
    check.nat(9).map((nth) =>
      step(`${what} ${nth}`, async (expected, machine) => {
        const names = fileNames(machine.files())
        const name = names[nth % Math.max(1, names.length)]
        if (name === undefined) return
        work(machine, name)
        expected.othersWrote(...(what === 'open file' ? [name] : []))
      }),
    )
  const remove = one('delete file', ({ home }, name) => rmSync(home.at(name)))
  const open = one('open file', ({ home }, name) => chmodSync(home.at(name), 0o644))
  const takeOver = check.constantFrom(...clients).map((client) =>
    step(`edit ${client}: another tool's address`, async (expected, machine) => {
      if (Object.keys(filesOf(client, machine.files())).length === 0) return
      for (const [name, text] of Object.entries(foreignHome(client)))
        if (existsSync(machine.home.at(name))) machine.home.put(name, text)
      expected.othersWrote()
    }),
  )
  return check.oneof({ weight: 8, arbitrary: whole }, remove, open, takeOver)
}

function fileNames(files: Files): readonly string[] {
  return Object.keys(files).filter(
    (name) => files[name]!.startsWith('file') && clientOfFile(name) !== undefined,
  )
}

/** The steps of a walk over these clients. */
export function steps(ids: readonly string[]): fc.Arbitrary<Step>[] {
  const change = changes(ids).map((one) =>
    step(one.args.join(' '), (expected, machine) => runChange(expected, machine, one)),
  )
  const repeat = <T>(count: number, arbitrary: T): T[] =>
    Array.from({ length: count }, () => arbitrary)
  return [
    ...repeat(6, change),
    ...repeat(6, edits()),
    ...repeat(5, rollbacks(ids)),
    ...repeat(2, kills(ids)),
    forgets(),
  ]
}
