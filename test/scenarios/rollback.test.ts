import { spawnSync } from 'node:child_process'
import { chmodSync, renameSync, rmSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { applyPlan } from '../../src/transaction/apply-plan.ts'
import { withLock } from '../../src/transaction/lock.ts'
import { limitRuns } from '../../src/transaction/records/prune.ts'
import { listRuns } from '../../src/transaction/records/records.ts'
import { openState } from '../../src/transaction/records/state-folder.ts'
import { aPlan, authEdit } from '../support/a-plan.ts'
import { withGateway } from '../support/gateway.ts'
import { aHome, type Home } from '../support/home.ts'
import { runInProcess } from '../support/in-process.ts'
import { setUp } from '../support/setup.ts'
import { sourceIn, worldIn } from '../support/world.ts'

const login = '{"auth_mode":"chatgpt","OPENAI_API_KEY":null,"tokens":{"id_token":"x"}}'
const newerLogin = login.replace('"x"', '"newer"')
const pair = { '.codex/auth.json': login, '.codex/config.toml': '# mine\nmodel = "gpt-5.5"\n' }
const key = 'sk-canary-9f1c7ad20b6e4553'
const gateway = await withGateway({ key })
const { url } = gateway

/** Runs a command line that has no quotes. */
const repoint = (home: Home, line: string) => runInProcess(home, line.split(' '))

test('rollback --original names the newest runs, and counts the others', async () => {
  const home = aHome(pair)
  await setUp(home, 'codex', gateway)
  const changeKey = (index: number) =>
    applyPlan(worldIn(home), aPlan([authEdit(sourceIn(home), `sk-canary-${index}`)]))
  for (let index = 1; index < 6; index++) changeKey(index)
  const first = await repoint(home, 'rollback --original --dry-run')
  expect(first.stdout.match(/^ {2}and /gm)).toHaveLength(5)
  expect(first.stdout).not.toContain('earlier runs')

  changeKey(6)
  const { stdout } = await repoint(home, 'rollback --original --dry-run')
  expect(stdout.match(/^ {2}and /gm)).toHaveLength(5)
  expect(stdout).toContain('\n  and 2 earlier runs\n')
})

test('a rollback names some of many entries of a list, and all of them in JSON', async () => {
  const home = aHome()
  await setUp(home, 'opencode', gateway)
  const { stdout } = await repoint(home, 'rollback --dry-run')
  expect(stdout).toMatch(/models: \d+ entries: .+ and \d+ others\n/)
  const { json } = await repoint(home, 'rollback --dry-run --json')
  expect(JSON.stringify(json)).not.toContain(' others')
})

test.each(['--force', '--dry-run'])('rollback %s does not ask which run to undo', async (flag) => {
  const home = aHome(pair)
  await setUp(home, 'codex', gateway)
  await setUp(home, 'codex --model gpt-5.4', gateway)
  const questions: string[] = []
  const answer = async ({ message }: { message: string }) => {
    questions.push(message)
    return message === 'Undo this?'
  }
  const ask = { confirm: answer, search: async () => expect.unreachable() }
  expect((await runInProcess(home, ['rollback', flag], { ask })).status).toBe(0)
  expect(questions).toEqual(flag === '--force' ? ['Undo this?'] : [])
})

test('only a rollback of all clients to the beginning says how to delete what is left', async () => {
  const home = aHome(pair)
  const advice = 'repoint forget --all'
  await setUp(home, 'codex', gateway)
  const newest = await repoint(home, 'rollback --yes')
  expect(newest.stdout).not.toContain(advice)
  await setUp(home, 'codex', gateway)
  const ofClient = await repoint(home, 'rollback codex --original --yes')
  expect(ofClient.stdout).not.toContain(advice)
  await setUp(home, 'codex', gateway)
  const all = await repoint(home, 'rollback --original --yes')
  expect(all.stdout).toContain(advice)
})

describe('a rollback after changes by others', () => {
  test('keeps and names an edited name, and restores everything else: status 10', async () => {
    const home = aHome(pair)
    await setUp(home, 'codex', gateway)
    home.replace('.codex/config.toml', /^name = .*/m, 'name = "Work"')
    const { status, json } = await repoint(home, 'rollback --yes --json')
    expect(status).toBe(10)
    expect(json).toMatchObject({
      changed: true,
      files: [{ kept: ['model_providers.gateway.name'] }, { kept: [] }],
      heldBack: [
        {
          path: home.at('.codex/config.toml'),
          setting: 'model_providers.gateway.name',
          why: 'you changed it after the setup',
        },
      ],
      warnings: [{ code: 'rollback-held', message: expect.stringContaining('gateway.name') }],
    })
    expect(home.text('.codex/auth.json')).toBe(login)
    expect(home.text('.codex/config.toml')).not.toContain(url)
  })

  test('keeps everything after a login and another address, and the hint names the command', async () => {
    const home = aHome(pair)
    await setUp(home, 'codex', gateway)
    home.put('.codex/auth.json', newerLogin)
    home.replace('.codex/config.toml', /^base_url = .*/m, 'base_url = "https://mine.example/v1"')
    const before = home.snapshot()
    const { status, json } = await repoint(home, 'rollback --yes --json')
    expect(status).toBe(10)
    expect(json).toMatchObject({
      changed: false,
      run: expect.any(String),
      warnings: expect.arrayContaining([
        expect.objectContaining({
          code: 'rollback-held',
          hint: expect.stringContaining('repoint rollback codex --force'),
        }),
      ]),
    })
    expect(home.snapshot()).toEqual(before)
    const { warnings } = json as { warnings: readonly { message: string }[] }
    const ofLogin = warnings.filter(({ message }) => message.includes('auth.json'))
    expect(ofLogin).toEqual([
      expect.objectContaining({ message: expect.not.stringContaining('base_url') }),
    ])
  })

  test('removes and restores a change in a provider that we gave to pi, which could not read the rest', async () => {
    const models = '.pi/agent/models.json'
    const provider = {
      baseUrl: 'https://mine.example/v1',
      api: 'openai-completions',
      apiKey: 'sk-b',
      models: [{ id: 'm' }],
    }
    const home = aHome({
      [models]: JSON.stringify({ providers: { mine: provider } }),
      '.pi/agent/settings.json': '{"theme":"dark"}\n',
    })
    const before = home.snapshot()
    await setUp(home, 'pi', gateway)
    home.replace(models, /"contextWindow":\s*\d+/, '"contextWindow": 5000')
    const changed = home.snapshot()

    const { status, json } = await repoint(home, 'rollback --yes --json')
    expect({ status, json }).toMatchObject({
      status: 0,
      json: { changed: true, warnings: [{ code: 'changes-go-too' }] },
    })
    expect(home.snapshot()).toEqual(before)
    await repoint(home, 'rollback --yes --redo')
    expect(home.snapshot()).toEqual(changed)
  })

  test('names several edited settings in one line', async () => {
    const home = aHome(pair)
    await setUp(home, 'codex', gateway)
    home.replace('.codex/config.toml', /^name = .*/m, 'name = "Work"')
    home.replace('.codex/config.toml', /^wire_api = .*/m, 'wire_api = "chat"')
    const names = 'model_providers.gateway.name, model_providers.gateway.wire_api'
    const { stdout } = await repoint(home, 'rollback --dry-run')
    expect(stdout).toContain(`${names} stay: you changed them after the setup`)
    const { json } = await repoint(home, 'rollback --dry-run --json')
    expect(json).toMatchObject({
      warnings: [{ code: 'rollback-held', message: expect.stringContaining(names) }],
    })
  })
})

describe('a rollback in another place', () => {
  test('restores every byte of a home that was moved', async () => {
    const home = aHome(pair)
    const before = home.snapshot()
    await setUp(home, 'codex', gateway)
    const moved = aHome()
    renameSync(home.path, moved.path)
    const { status, stdout } = await repoint(moved, 'rollback --yes')
    expect({ status, stdout }).toMatchObject({ status: 0 })
    expect(moved.snapshot()).toEqual(before)
  })

  test('--original in one installation undoes nothing of the other, whose old records are removed', async () => {
    const home = aHome({ ...pair, 'b/config.toml': '# B\n' })
    const before = home.snapshot()
    const inB = { CODEX_HOME: home.at('b') }
    await setUp(home, 'codex', gateway, inB)
    await setUp(home, 'codex', gateway)
    const world = worldIn(home)
    for (let index = 1; index < 9; index++)
      applyPlan(world, aPlan([authEdit(sourceIn(home), `sk-canary-${index}`)]))
    const paths = openState(world)
    withLock(world, paths, () => limitRuns(world, paths, 3))
    expect(listRuns(world).runs.length).toBeLessThan(7)

    const original = ['rollback', '--original', '--yes']
    expect(await runInProcess(home, original, { env: inB })).toMatchObject({ status: 0 })
    expect(home.text('b/config.toml')).toBe('# B\n')
    expect(home.text('.codex/auth.json')).toContain('sk-canary-8')
    const { status, stdout } = await runInProcess(home, original)
    expect({ status, stdout }).toEqual({ status: 0, stdout })
    expect(stdout).toContain('To delete them: repoint forget --all')
    expect(home.snapshot()).toEqual(before)
  })

  test('names the run elsewhere if there is nothing to undo here', async () => {
    const home = aHome()
    await setUp(home, 'codex', gateway, { CODEX_HOME: home.at('b') })
    const { status, json } = await repoint(home, 'rollback --yes --json')
    expect(status).toBe(0)
    expect(json).toMatchObject({
      changed: false,
      warnings: [{ code: 'other-installation', message: expect.stringContaining('b/config.toml') }],
    })
  })
})

test('a run with a file elsewhere and one here is named if nothing of the client is here', async () => {
  const home = aHome()
  await setUp(home, 'setup codex claude', gateway, { CODEX_HOME: home.at('b') })
  const { json } = await repoint(home, 'rollback codex --yes --json')
  expect(json).toMatchObject({ changed: false, warnings: [{ code: 'other-installation' }] })
})

test('with nothing to redo or undo, the error does not say that a run of this place is elsewhere', async () => {
  const home = aHome(pair)
  await setUp(home, 'codex', gateway)
  const redo = await repoint(home, 'rollback --yes --redo --json')
  expect(redo.json).toMatchObject({ changed: false, warnings: [] })
  expect((await repoint(home, 'rollback --yes')).status).toBe(0)
  const undo = await repoint(home, 'rollback --yes codex --json')
  expect(undo.json).toMatchObject({ changed: false, warnings: [] })
})

describe("someone renamed opencode's file after the setup, and everything is undone by force", () => {
  const [plain, renamed] = ['.config/opencode/opencode.json', '.config/opencode/opencode.jsonc']
  const auth = '.local/share/opencode/auth.json'
  const undo = ['rollback', '--yes', 'opencode', '--original', '--force', '--json']
  const aRenamedHome = async (address: string) => {
    const options = { baseURL: address }
    const provider = { gateway: { npm: '@ai-sdk/openai-compatible', options } }
    const home = aHome({
      [plain]: JSON.stringify({ model: 'gateway/mine', provider }),
      [auth]: '{"gateway": {"type": "api", "key": "sk-own-0123456789"}}',
    })
    const before = home.snapshot()
    const args = ['opencode', '--model', 'gpt-5.6-sol', '--base-url', url, '--yes']
    const { status } = await runInProcess(home, args, { env: { REPOINT_API_KEY: key } })
    expect(status).toBe(0)
    renameSync(home.at(plain), home.at(renamed))
    return { home, before }
  }

  test('the earlier key returns to the address that it was for', async () => {
    const { home, before } = await aRenamedHome(`${url}/v1`)
    expect((await runInProcess(home, undo)).status).toBe(0)
    const { [renamed]: _, ...others } = home.snapshot()
    expect(others).toEqual(before)
  })

  test('rollback refuses to send the earlier key to our address, until the file is deleted', async () => {
    const { home, before } = await aRenamedHome('https://own.example/v1')
    const now = home.snapshot()
    const { status, json } = await runInProcess(home, undo)
    expect({ status, json }).toMatchObject({
      status: 8,
      json: {
        error: {
          code: 'config-conflict',
          message: expect.stringMatching(/^opencode would use .* with a key that repoint did not/),
          hint: `Set it up instead: repoint opencode --base-url ${url}`,
        },
      },
    })
    expect(home.snapshot()).toEqual(now)

    rmSync(home.at(renamed))
    expect((await runInProcess(home, undo)).status).toBe(0)
    expect(home.snapshot()).toEqual(before)
  })
})

test('rollback never says that nothing is left while something is held back', async () => {
  const home = aHome(pair)
  const before = home.snapshot()
  await setUp(home, 'codex', gateway)
  home.replace('.codex/config.toml', /^base_url = .*/m, 'base_url = "https://mine.example/v1"')
  expect((await repoint(home, 'rollback --yes')).status).toBe(10)
  for (const args of [[], ['--original']]) {
    const { status, stdout, json } = await runInProcess(home, [
      'rollback',
      ...args,
      '--yes',
      '--json',
    ])
    expect(status).toBe(10)
    expect(stdout).toContain('repoint rollback codex --force')
    expect(json).toMatchObject({
      changed: false,
      heldBack: expect.arrayContaining([
        expect.objectContaining({ setting: 'OPENAI_API_KEY', why: expect.any(String) }),
      ]),
    })
  }
  await repoint(home, 'rollback codex --force --yes')
  expect(home.snapshot()).toEqual(before)
  expect((await repoint(home, 'rollback --yes --json')).json).toMatchObject({
    heldBack: [],
  })
})

test('a foreign member in a file that `off` deleted does not hold back its undo', async () => {
  const config =
    'model_provider = "mine"\n\n[model_providers.mine]\nname = "Mine"\nbase_url = "https://mine.example/v1"\nrequires_openai_auth = true\n'
  const home = aHome({
    '.codex/config.toml': config,
    '.codex/auth.json': '{"OPENAI_API_KEY":"sk-canary-of-mine-1","tokens":null}',
  })
  await repoint(home, 'off --yes')
  home.put('.codex/auth.json', '{"auth_mode":"apikey"}')
  expect((await repoint(home, 'rollback --yes')).status).toBe(0)
  expect(home.text('.codex/config.toml')).toBe(config)
  expect(JSON.parse(home.text('.codex/auth.json'))).toEqual({
    auth_mode: 'apikey',
    OPENAI_API_KEY: 'sk-canary-of-mine-1',
    tokens: null,
  })

  await repoint(home, 'off --yes')
  home.put('.codex/auth.json', login)
  expect((await repoint(home, 'rollback --yes')).status).toBe(10)
  expect(home.text('.codex/auth.json')).toBe(login)
})

test('a redo of a forced undo reports the file that it keeps', async () => {
  const home = aHome()
  const file = '.pi/agent/models.json'
  await setUp(home, 'pi', gateway)
  chmodSync(home.at(file), 0o644)
  await repoint(home, 'doctor --fix --no-verify --yes --json')
  home.replace(file, key, 'sk-canary-by-hand-1')
  expect((await repoint(home, 'rollback --force --yes')).status).toBe(0)
  expect(home.text(file)).toContain(key)
  const { status, json } = await repoint(home, 'rollback --redo --yes --json')
  expect(status).toBe(10)
  expect(json).toMatchObject({
    changed: false,
    heldBack: [{ path: home.at(file) }],
    warnings: [{ message: expect.stringContaining('the file stays: the client would have') }],
  })
})

test("a member next to Cline's settings keeps only what Cline needs to read it", async () => {
  const home = aHome()
  const file = '.cline/data/settings/providers.json'
  await setUp(home, 'cline', gateway)
  home.replace(file, '"openai-compatible": {', '$& "mine": 1,')
  const { status, json } = await repoint(home, 'rollback --yes --json')
  expect({ status, json }).toMatchObject({ status: 0, json: { heldBack: [] } })
  expect(JSON.parse(home.text(file))).toEqual({
    version: 1,
    providers: {
      'openai-compatible': {
        mine: 1,
        settings: { provider: 'openai-compatible' },
        updatedAt: expect.any(String),
        tokenSource: 'manual',
      },
    },
  })
})

test('nothing is held back any more once the setup before it is undone', async () => {
  const home = aHome({ ...pair, '.codex/auth.json': '{"OPENAI_API_KEY":"sk-own"}' })
  await setUp(home, 'codex', gateway)
  expect((await repoint(home, 'off --yes')).status).toBe(0)
  home.put('.codex/auth.json', login)
  const undo = async (...flags: readonly string[]) => {
    const { status, stdout } = await runInProcess(home, ['rollback', ...flags, '--yes', '--json'])
    const { heldBack, undoes } = JSON.parse(stdout)
    return { status, held: heldBack.length, undoes }
  }
  expect(await undo()).toMatchObject({ status: 10 })
  expect(await undo('--force')).toMatchObject({ status: 0 })
  expect(await undo()).toMatchObject({ status: 0, held: 0 })
  expect(await undo()).toEqual({ status: 0, held: 0, undoes: null })
  expect(home.text('.codex/config.toml')).toBe(pair['.codex/config.toml'])
})

test('what is held back because of a wrong key names commands that work, not --force', async () => {
  const home = aHome()
  await setUp(home, 'opencode', gateway)
  rmSync(home.at('.local/share/opencode/auth.json'))
  await repoint(home, 'doctor --fix --no-verify --yes --json')
  const { status, json } = await repoint(home, 'rollback --yes --json')
  expect(status).toBe(10)
  const hint =
    'Set it up instead: repoint opencode. Or point it back at its own service: repoint off opencode'
  expect(json).toMatchObject({
    heldBack: expect.arrayContaining([
      expect.objectContaining({ why: expect.stringContaining('or none') }),
    ]),
    warnings: [{ code: 'rollback-held', hint }],
  })
  expect((await repoint(home, 'off opencode --yes')).status).toBe(0)
  expect(home.everything().filter((name) => name.endsWith('auth.json'))).toEqual([])
})

test('--original ends the stack, also after `off`, and --redo takes that back', async () => {
  const home = aHome(pair)
  await setUp(home, 'codex', gateway)
  await repoint(home, 'off --yes')
  expect(home.text('.codex/auth.json')).toBe(login)
  expect((await repoint(home, 'rollback --original --yes')).status).toBe(0)
  await repoint(home, 'rollback --yes')
  expect(home.text('.codex/auth.json')).toBe(login)
  await repoint(home, 'rollback --redo --yes')
  await repoint(home, 'rollback --yes')
  expect(home.text('.codex/config.toml')).toContain(url)
})

test('--original reports a record that someone deleted', async () => {
  const home = aHome(pair)
  const before = home.snapshot()
  await setUp(home, 'codex', gateway)
  const run = home.everything().find((name) => /run-[^/]+\.json$/.test(name))!
  await setUp(home, 'codex --model gpt-5.4', gateway)
  rmSync(home.at(run))
  const { status, json } = await repoint(home, 'rollback --original --yes --json')
  expect({ status, json }).toMatchObject({ status: 8, json: { error: { code: 'record-damaged' } } })
  await repoint(home, 'rollback --original --force --yes')
  expect(home.snapshot()).toEqual(before)
})

test('rollback reports an unreadable record once', async () => {
  const home = aHome(pair)
  await setUp(home, 'codex', gateway)
  home.put('.local/state/repoint/run-20200101T000000Z-0000.json', 'broken')
  const { json } = await repoint(home, 'rollback --dry-run --json')
  const { warnings } = json as { warnings: readonly { code: string }[] }
  expect(warnings.filter(({ code }) => code === 'record-damaged')).toHaveLength(1)
})

test('the JSON document of a failed rollback names the command and says that nothing changed', async () => {
  const failure = async (args: string[]) => (await runInProcess(aHome(), args)).json
  expect(await failure(['rollback', '--yes', '--run', 'nope', '--json'])).toMatchObject({
    command: 'rollback',
    changed: false,
    error: { code: 'usage', filesChanged: false },
  })
  expect(await failure(['codex', '--json'])).toMatchObject({ command: 'codex', changed: false })
  const key = ['sk', 'canary', '0123456789abcdef'].join('-')
  expect(await failure([key, '--json'])).toMatchObject({ command: null, changed: false })
})

describe('repoint forget', () => {
  test('names no gateway for a run that set none up', async () => {
    const home = aHome(pair)
    await setUp(home, 'codex', gateway)
    await repoint(home, 'off --yes')
    const dry = await repoint(home, 'forget --all --dry-run')
    expect(dry.stdout).toMatch(/run \S+: off \(codex\)$/m)
  })

  test('says what can no longer be undone, asks, and removes records and copies', async () => {
    const home = aHome(pair)
    await setUp(home, 'codex', gateway)
    const after = home.snapshot()
    const withoutConsent = await repoint(home, 'forget --all --json')
    expect(withoutConsent).toMatchObject({
      status: 2,
      json: { error: { code: 'confirmation-needed' } },
    })
    const dry = await repoint(home, 'forget --all --dry-run')
    expect(dry.stdout).toMatch(/Deletes run \S+: codex/)
    expect(dry.stdout).toContain('Afterwards you cannot undo these runs.')
    expect(dry.stdout).toContain('~/.codex/auth.json to its content before these runs')
    expect(dry.stdout).not.toContain(key)
    const forgetResult = await repoint(home, 'forget --all --yes --json')
    expect(forgetResult.json).toMatchObject({
      changed: true,
      runs: [expect.any(String)],
      damaged: [],
    })
    expect(home.snapshot()).toEqual(after)
    expect((await repoint(home, 'rollback --list --json')).json).toMatchObject({
      runs: [],
    })
    const remainingFiles = spawnSync('find', [home.at('.local/state/repoint'), '-type', 'f'])
    expect(remainingFiles.stdout.toString()).not.toMatch(/run-|blobs/)
  })

  test('by age, keeps the newer runs, and removes a damaged record by its time', async () => {
    const home = aHome(pair)
    await setUp(home, 'codex', gateway)
    home.put('.local/state/repoint/run-20200101T000000Z-0000.json', 'broken')
    const { json } = await repoint(home, 'forget --older-than 30 --yes --json')
    expect(json).toMatchObject({ changed: true, runs: [], damaged: [expect.any(String)] })
    expect((await repoint(home, 'rollback --yes')).status).toBe(0)
    expect(home.text('.codex/auth.json')).toBe(login)
    const again = await repoint(home, 'forget --older-than 30 --json')
    expect(again.json).toMatchObject({ changed: false, runs: [] })
  })
})

test('a rollback and its redo say what they do, and which command takes it back', async () => {
  const home = aHome(pair)
  await setUp(home, 'codex', gateway)
  const undo = await repoint(home, 'rollback --yes')
  expect(undo.stdout).toContain("This undoes Codex's setup of a moment ago\n")
  expect(undo.stdout).toContain('Codex will use its own service again, with a ChatGPT login.\n')
  expect(undo.stdout).toContain('Undone. Set it up again: repoint rollback --redo\n')
  expect(undo.stdout).not.toMatch(/^ +$/m)

  const redo = await repoint(home, 'rollback --yes --redo')
  expect(redo.stdout).toContain("This sets up again what was undone: Codex's setup\n")
  expect(redo.stdout).toContain(`Codex will use ${url} again.\n`)
  expect(redo.stdout).toContain('Done. Undo: repoint rollback\n')

  await repoint(home, 'off --yes')
  const undoOfOff = await repoint(home, 'rollback --yes')
  expect(undoOfOff.stdout).toContain('Undone. Do it again: repoint rollback --redo\n')
  await repoint(home, 'rollback --yes --redo')
  const undoOfBoth = await repoint(home, 'rollback --original --force --yes')
  expect(undoOfBoth.stdout).toContain('Undone. Set it up again: repoint rollback --redo\n')
})

test('the list of runs shows what each did, or that there is none', async () => {
  const home = aHome(pair)
  const list = async () => (await repoint(home, 'rollback --list')).stdout
  expect(await list()).toBe('repoint has recorded no run.\n')
  await setUp(home, 'codex', gateway)
  await repoint(home, 'rollback --yes')
  const [head, undo, setup] = (await list()).split('\n')
  expect(head).toMatch(/^WHEN +WHAT +RUN$/)
  expect(undo).toMatch(/^a moment ago +the undo of Codex's setup +\S+$/)
  expect(setup).toMatch(/^a moment ago +Codex's setup, http\S+, gpt-5\.6-sol +\S+$/)
})

test('on a terminal, rollback offers each run, and everything', async () => {
  const home = aHome(pair)
  const before = home.snapshot()
  await setUp(home, 'codex', gateway)
  await setUp(home, 'pi', gateway)
  let names: readonly string[] = []
  const ask = {
    search: async ({ choices }: { choices: readonly { name: string; value: string }[] }) => {
      names = choices.map(({ name }) => name)
      return choices.at(-1)!.value
    },
    confirm: async () => true,
  }
  expect((await runInProcess(home, ['rollback'], { ask })).status).toBe(0)
  expect(names).toEqual([
    "pi's setup of a moment ago",
    "Codex's setup of a moment ago",
    'everything: restore your original files',
  ])
  expect(home.snapshot()).toEqual(before)
})
