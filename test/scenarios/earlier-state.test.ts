import { createHash } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { aHome, type Home } from '../support/home.ts'
import { runInProcess } from '../support/in-process.ts'

/**
 * Homes that the real repoint of a commit left, one for each shape of the state that has landed:
 * Codex and Claude Code set up at port 9, then a setup at port 8 that was killed between the key and
 * the address. Recorded on 2026-11-23 from 57bccc5, 2fd57fb and 490c3ee, and for version 2.
 */
const shapes = ['1-without-home', '1-with-home', '1-with-roots', '2']

const state = '.local/state/repoint'
const key = 'sk-canary-7f3a9b2c4d5e6f708192a3b4'
const newKey = 'sk-canary-11112222333344445555'

interface Recorded {
  /** Octal. */
  readonly mode: string
  readonly text?: string
  readonly base64?: string
  /** A record or a journal without its sum, in the home `/home/sam`. */
  readonly document?: object
}

function read(shape: string): Readonly<Record<string, Recorded>> {
  return JSON.parse(readFileSync(`test/fixtures/state/${shape}.json`, 'utf8'))
}

function leftBy(shape: string): Home {
  const home = aHome()
  for (const [name, { mode, text, base64, document }] of Object.entries(read(shape))) {
    if (name.endsWith('/')) mkdirSync(home.at(name), { recursive: true })
    else if (base64 !== undefined) home.put(name, Buffer.from(base64, 'base64'))
    else home.put(name, text ?? signed(document!, home))
    chmodSync(home.at(name), Number.parseInt(mode, 8))
  }
  return home
}

function signed(document: object, home: Home): string {
  const text = JSON.stringify(document).replaceAll('/home/sam', home.path)
  const sha256 = createHash('sha256').update(text).digest('hex')
  return `${JSON.stringify({ ...JSON.parse(text), sha256 }, undefined, 1)}\n`
}

async function run(home: Home, ...args: string[]) {
  const { status, stdout, stderr } = await runInProcess(home, [...args, '--json'])
  expect(stdout + stderr).not.toContain('sk-canary')
  return { status, json: JSON.parse(stdout), said: stdout + stderr }
}

/** Everything but the folders that stay. */
function leftOver(home: Home): string[] {
  const all = readdirSync(home.path, { recursive: true, encoding: 'utf8' })
  return all.filter((name) => /repoint-|state\/repoint\/(?!blobs$|models\.txt$)/.test(name))
}

describe.each(shapes)('state of shape %s', (shape) => {
  test('a run that was cut off is taken back, status tells the rest, and rollback leads to before all', async () => {
    const home = leftBy(shape)
    expect(home.text('.codex/auth.json')).toContain(newKey)

    const status = await run(home, 'status')
    expect(status.status).toBe(0)
    expect(status.said).toContain('run-recovered')
    expect(home.text('.codex/auth.json')).toContain(key)
    expect(home.text('.codex/config.toml')).toContain('127.0.0.1:9')
    expect(readdirSync(home.at('.codex')).sort()).toEqual(['auth.json', 'config.toml'])

    const listed = await run(home, 'rollback', '--list')
    expect(listed.json.runs).toHaveLength(2)
    expect((await run(home, 'rollback')).status).toBe(0)
    expect(home.text('.claude/settings.json')).toBe('{\n  "model": "opus",\n  "hooks": {}\n}\n')
    expect((await run(home, 'rollback')).status).toBe(0)
    expect(home.text('.codex/auth.json')).toContain('sk-canary-login')
    expect(home.text('.codex/config.toml')).toBe(
      '# mine\nmodel = "gpt-5.5"\n\n[mcp_servers.a]\ncommand = "x"\n',
    )
  })

  test('rollback --original leads to before all at once', async () => {
    const home = leftBy(shape)
    expect((await run(home, 'rollback', '--original')).status).toBe(0)
    expect(home.text('.codex/auth.json')).toContain('sk-canary-login')
    expect(home.text('.claude/settings.json')).not.toContain(key)
  })

  test('forget --all leaves no record, no copy and no new version', async () => {
    const home = leftBy(shape)
    expect((await run(home, 'forget', '--all', '--yes')).status).toBe(0)
    expect(leftOver(home)).toEqual([])
    expect(home.text('.codex/auth.json')).toContain(key)
  })
})

test('the newest shape is that of a run of today: another one gets a version of its own', async () => {
  const login = '{"tokens": {"access_token": "sk-canary-login"}}\n'
  const home = aHome({
    '.claude/settings.json': '{}\n',
    '.codex/config.toml': 'model = "x"\n',
    '.codex/auth.json': login,
  })
  for (const [client, model] of [
    ['codex', 'gpt-5.6-sol'],
    ['claude', 'claude-sonnet-5-5'],
  ] as const) {
    const args = [client, '--no-verify', '--yes', '--base-url', 'http://127.0.0.1:9']
    const env = { REPOINT_API_KEY: key }
    expect((await runInProcess(home, [...args, '--model', model], { env })).status).toBe(0)
  }

  const names = readdirSync(home.at(state)).filter((name) => name.startsWith('run-'))
  const now = names.map((name) => JSON.parse(home.text(`${state}/${name}`)))
  const newest = Object.entries(read(shapes.at(-1)!)).filter(([name]) => /run-/.test(name))
  const known = newest.flatMap(([, { document }]) => shapeOf(document))
  expect(new Set(now.flatMap(({ sha256: _, ...body }) => shapeOf(body)))).toEqual(new Set(known))
})

/** The members of a value with their kinds: `run.files[].path: string`. */
function shapeOf(value: unknown, path = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => shapeOf(item, `${path}[]`))
  if (typeof value !== 'object' || value === null) return [`${path}: ${typeof value}`]
  return Object.entries(value).flatMap(([name, child]) => shapeOf(child, `${path}.${name}`))
}

describe('forget --all', () => {
  const rubbish: readonly [string, (home: Home) => void][] = [
    ['a journal that is damaged', (home) => home.put(`${state}/journal.json`, '{')],
    ['a draft that is damaged', (home) => home.put(`${state}/draft.json`, '{')],
    [
      'a journal of a newer version',
      (home) => home.put(`${state}/journal.json`, signed({ version: 99, run: null }, home)),
    ],
    [
      'a record of a newer version',
      (home) => home.put(`${state}/run-x.json`, signed({ version: 99 }, home)),
    ],
    [
      'a record that an earlier commit set aside, and half of one',
      (home) => {
        home.put(`${state}/run-20261121T101010Z-0001.json.damaged-0a1b2c`, '{')
        home.put(`${state}/run-20261121T101010Z-0002.part`, '{')
      },
    ],
    ['a list of gateways that is damaged', (home) => home.put(`${state}/gateways.json`, '[null]')],
    [
      'a copy that is gone',
      (home) => {
        for (const name of readdirSync(home.at(`${state}/blobs`)))
          home.put(`${state}/blobs/${name}`, 'x')
      },
    ],
  ]

  test.each(rubbish)('takes %s along', async (_, leave) => {
    const home = leftBy('2')
    leave(home)
    const { status } = await run(home, 'forget', '--all', '--yes')
    expect(status).toBe(0)
    expect(leftOver(home)).toEqual([])
    expect(existsSync(home.at('.codex/config.toml'))).toBe(true)
  })

  test('gives up a run that cannot be taken back, and says that its files stay as they are', async () => {
    const home = leftBy('2')
    renameSync(home.at('.codex'), home.at('away'))
    home.put('.codex', 'a file where the folder was')
    expect((await run(home, 'rollback')).status).toBe(8)
    const { status, said } = await run(home, 'forget', '--all', '--yes')
    expect(status).toBe(0)
    expect(said).toContain('cannot be taken back, and its files stay as they are')
    expect(leftOver(home).filter((name) => name.startsWith('.local'))).toEqual([])
  })
})
