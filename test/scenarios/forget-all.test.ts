import { chmodSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { applyPlan } from '../../src/transaction/apply-plan.ts'
import { sha256Of } from '../../src/transaction/files.ts'
import { aPairPlan, bytesOf } from '../support/a-plan.ts'
import { aHome, type Home } from '../support/home.ts'
import { runInProcess } from '../support/in-process.ts'
import { sourceIn, withCalls, worldIn } from '../support/world.ts'

const state = '.local/state/repoint'
const key = 'sk-canary-7f3a9b2c4d5e6f708192a3b4'

/** Codex and Claude Code are set up and saved, and a second run of Codex was killed half way. */
async function aLivedInHome(): Promise<Home> {
  const home = aHome({ '.codex/config.toml': '# mine\n', '.claude/settings.json': '{}\n' })
  for (const [client, model] of [
    ['codex', 'gpt-5.6-sol'],
    ['claude', 'claude-sonnet-5-5'],
  ] as const) {
    const args = [client, '--no-verify', '--yes', '--base-url', 'http://127.0.0.1:9']
    const env = { REPOINT_API_KEY: key }
    const { status } = await runInProcess(home, [...args, '--model', model], { env })
    expect(status).toBe(0)
  }

  const world = worldIn(home)
  const killed = withCalls(world, {
    rename: (from, to) => {
      if (to.endsWith('config.toml') || to.endsWith('draft.json')) throw new Error('killed')
      world.files.rename(from, to)
    },
  })
  expect(() => applyPlan(killed, aPairPlan(sourceIn(home), `${key}-new`))).toThrow('killed')
  return home
}

/** A document of another version, with a valid checksum. */
function ofVersion(version: number, members: object = { run: null }): string {
  const body = { version, ...members }
  return JSON.stringify({ ...body, sha256: sha256Of(bytesOf(JSON.stringify(body))) })
}

async function run(home: Home, ...args: string[]) {
  const { status, stdout, stderr } = await runInProcess(home, [...args, '--json'])
  expect(stdout + stderr).not.toContain('sk-canary')
  return { status, json: JSON.parse(stdout), text: stdout + stderr }
}

/** The remaining files of the state, and new versions next to the clients' files. */
function leftOver(home: Home): readonly string[] {
  return home.everything().filter((name) => /repoint-|state\/repoint\/(?!blobs$)/.test(name))
}

describe('forget --all', () => {
  const states: readonly [string, (home: Home) => void][] = [
    ['a run that was killed', () => {}],
    ['a damaged journal', (home) => home.put(`${state}/journal.json`, '{')],
    ['a damaged draft', (home) => home.put(`${state}/draft.json`, '{')],
    ...[0, 3, 99].flatMap((version): [string, (home: Home) => void][] => [
      [
        `a journal of version ${version}`,
        (home) => home.put(`${state}/journal.json`, ofVersion(version)),
      ],
      [
        `a record of version ${version}`,
        (home) => home.put(`${state}/run-20200101T000000Z-0001.json`, ofVersion(version)),
      ],
      [
        `lists of version ${version}`,
        (home) => {
          home.put(`${state}/gateways.json`, ofVersion(version, { gateways: {} }))
          home.put(`${state}/folders.json`, ofVersion(version, { folders: {} }))
        },
      ],
    ]),
    ['a damaged list of gateways', (home) => home.put(`${state}/gateways.json`, '[null]')],
    [
      'a list of gateways that is a link to nothing',
      (home) => {
        rmSync(home.at(`${state}/gateways.json`))
        home.put(`${state}/gateways.json`, { link: 'nowhere' })
      },
    ],
    [
      'copies that are damaged',
      (home) => {
        for (const name of readdirSync(home.at(`${state}/blobs`)))
          home.put(`${state}/blobs/${name}`, 'x')
      },
    ],
  ]

  test.each(states)('removes %s', async (_, change) => {
    const home = await aLivedInHome()
    change(home)
    home.put(`${state}/models.txt`, 'gpt-5.6-sol\n')
    expect(await run(home, 'forget', '--all', '--yes')).toMatchObject({ status: 0 })
    expect(leftOver(home)).toEqual([])
    expect(home.text('.claude/settings.json')).toContain(key)
    expect(await run(home, 'status')).toMatchObject({ status: 0, json: { warnings: [] } })
  })

  test('gives up a run that cannot be undone, and reports that its files stay as they are', async () => {
    const home = await aLivedInHome()
    renameSync(home.at('.codex'), home.at('away'))
    home.put('.codex', 'a file instead of the folder')
    expect(await run(home, 'rollback')).toMatchObject({ status: 8 })
    const { status, text } = await run(home, 'forget', '--all', '--yes')
    expect(status).toBe(0)
    expect(text).toContain('Its files stay as they are')
    expect(leftOver(home).filter((name) => name.startsWith('.local'))).toEqual([])
  })
})

describe.each([0, 3, 99])('state of version %s', (version) => {
  const hint = expect.stringContaining('repoint forget --all')

  test('a record is reported, stops a rollback that it may concern, and is kept', async () => {
    const home = await aLivedInHome()
    const record = `${state}/run-20990101T000000Z-0001.json`
    home.put(record, ofVersion(version))
    const warnings = expect.arrayContaining([
      expect.objectContaining({ code: 'record-damaged', hint }),
    ])
    expect(await run(home, 'status')).toMatchObject({ status: 0, json: { warnings } })
    expect(await run(home, 'rollback')).toMatchObject({
      status: 8,
      json: { error: { code: 'record-damaged' } },
    })
    expect(home.text(record)).toBe(ofVersion(version))
  })

  test('a journal is reported and moved aside', async () => {
    const home = await aLivedInHome()
    home.put(`${state}/journal.json`, ofVersion(version))
    expect(await run(home, 'use', 'x')).toMatchObject({
      status: 8,
      json: { error: { code: 'record-damaged', hint, filesChanged: 'unknown' } },
    })
  })

  test.each(['gateways', 'folders'])('a list of %s is reported and kept', async (name) => {
    const home = aHome()
    mkdirSync(home.at(state), { recursive: true })
    chmodSync(home.at(state), 0o700)
    const text = ofVersion(version, { [name]: [] })
    home.put(`${state}/${name}.json`, text)
    const command = [name === 'gateways' ? 'gateways' : 'folder']
    expect(await run(home, ...command)).toMatchObject({
      status: 8,
      json: { error: { code: 'record-damaged', hint } },
    })
    expect(home.text(`${state}/${name}.json`)).toBe(text)
  })
})
