import { cpSync, existsSync, readFileSync, rmSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { onTestFinished } from 'vitest'
import { familyRows, loadClients } from '../../src/clients/list.ts'
import { UserError } from '../../src/errors.ts'
import { gatewayList } from '../../src/state/gateway-list.ts'
import { readList } from '../../src/state/saved-list.ts'
import { applyRollback, planRollback } from '../../src/transaction/plan-rollback.ts'
import { listRuns } from '../../src/transaction/records/records.ts'
import { recoverRun } from '../../src/transaction/recover.ts'
import { livedInHome } from '../support/fixtures.ts'
import { type Given, Home } from '../support/home.ts'
import { worldIn } from '../support/world.ts'
import { type Command, runCommand } from './command.ts'

export const canary = 'sk-canary-7f3a9b2c4d5e6f708192a3b4'

const program = resolve('bin/repoint.js')

/** The command line of a setup. It sends no request, because these tests are about files. */
export function setupOf(client: string): readonly string[] {
  const flags = '--no-verify --yes --json --base-url http://127.0.0.1:9 --model'.split(' ')
  return [...client.split(' '), ...flags, client === 'claude' ? 'claude-sonnet-5-5' : 'gpt-5.6-sol']
}

export const undo = ['rollback', '--yes', '--json']
/** A command that changes nothing, except that it recovers. */
export const look = ['rollback', '--list', '--json']

/** Homes of clients whose files have several forms. */
export const severalForms: Homes = {
  'codex, an existing pair': {
    '.codex/auth.json': '{"tokens": {"access_token": "old-login"}}\n',
    '.codex/config.toml': '# mine\nmodel = "gpt-5.5"\n\n[mcp_servers.a]\ncommand = "x"\n',
  },
  'codex, a fresh home': {},
  'codex, a symlinked pair': {
    'dotfiles/auth': '{"tokens": {"access_token": "old-login"}}\n',
    'dotfiles/codex/config': '# mine\nmodel = "gpt-5.5"\n',
    '.codex/auth.json': { link: '../dotfiles/auth' },
    '.codex/folder': { link: '../dotfiles/codex' },
    '.codex/config.toml': { link: 'folder/config' },
  },
  'codex --catalog, an existing pair': {
    'bin/codex': { link: resolve('test/crash/codex') },
    '.codex/auth.json': '{"OPENAI_API_KEY": "sk-old"}\n',
    '.codex/config.toml': '# mine\nmodel_catalog_json = "/srv/models.json"\n',
  },
  'claude, existing settings': {
    '.claude/settings.json': '{\n  "model": "opus",\n  "hooks": {}\n}\n',
  },
  'claude, a fresh home': {},
  'claude, symlinked settings': {
    'dotfiles/settings.json': '{\n  "model": "opus",\n  "hooks": {}\n}\n',
    '.claude/settings.json': { link: '../dotfiles/settings.json' },
  },
  'opencode, a fresh home': {},
  'opencode, a symlinked pair': {
    'dotfiles/opencode.json': '{\n  "theme": "x"\n}\n',
    'dotfiles/auth': '{"other": {"type": "api", "key": "theirs"}}\n',
    '.config/opencode/opencode.json': { link: '../../dotfiles/opencode.json' },
    '.local/share/opencode/auth.json': { link: '../../../dotfiles/auth' },
  },
  'opencode, an existing pair': {
    '.config/opencode/opencode.jsonc': '{\n  // mine\n  "theme": "x"\n}\n',
    '.local/share/opencode/auth.json': '{"other": {"type": "api", "key": "theirs"}}\n',
  },
}

type Homes = Readonly<Record<string, Readonly<Record<string, Given>>>>

/** The homes before a setup, of every client in the table. */
export const homes: Homes = {
  ...severalForms,
  ...Object.fromEntries(
    familyRows
      .filter(({ id }) => severalForms[`${id}, a fresh home`] === undefined)
      .map(({ id }) => [`${id}, existing files`, livedInHome(id)] as const)
      .filter(([, given]) => Object.keys(given).length > 0),
  ),
}

export function clientOf(name: string): string {
  return name.split(',')[0]!
}

export const clientsAtHome = [...new Set(Object.keys(homes).map(clientOf))]

/** The files of every client in one home. */
export const fullHome: Readonly<Record<string, Given>> = Object.assign(
  {},
  ...Object.entries(homes).flatMap(([name, given]) => (/existing/.test(name) ? [given] : [])),
)

type Snapshot = Record<string, string>

/** Copies of a home: at the start, and after one kill or two. */
type Saved = 'saved' | 'cut' | 'cut-twice'

/** One home, its state before the command, and its state after it. */
export class Scene {
  readonly home: Home
  /** The number of recorded runs before the command. */
  readonly #runsBefore: number
  readonly #old: Snapshot
  #new: Snapshot = {}
  readonly #oldGateways: string
  #newGateways = ''
  /** The number of committed runs whose gateway is not in the list. */
  unsaved = 0

  private constructor(home: Home) {
    this.home = home
    this.save('saved')
    this.#runsBefore = listRuns(worldIn(home)).runs.length
    this.#old = home.snapshot()
    this.#oldGateways = gatewaysIn(home)
  }

  /** @param before commands that have already run */
  static async ready(
    given: Readonly<Record<string, Given>>,
    before: readonly (readonly string[])[],
  ): Promise<Scene> {
    const home = new Home(given)
    for (const args of before) await runCommand(commandIn(home, args))
    const scene = new Scene(home)
    onTestFinished(() => {
      for (const ending of ['', '.saved', '.cut', '.cut-twice', '.calls'])
        rmSync(home.path + ending, { recursive: true, force: true })
    })
    return scene
  }

  command(args: readonly string[], env: Readonly<Record<string, string>> = {}): Command {
    const { argv, env: commandEnv } = commandIn(this.home, args)
    return { argv, env: { ...commandEnv, ...env } }
  }

  /** Remembers the current files as the expected result of the command. */
  learnEnd(): void {
    this.#new = this.home.snapshot()
    this.#newGateways = gatewaysIn(this.home)
  }

  /** Restores the home as it was at the start, or as `save` has saved it. */
  reset(name: Saved = 'saved'): void {
    rmSync(this.home.path, { recursive: true, force: true })
    const saved = `${this.home.path}.${name}`
    cpSync(saved, this.home.path, { recursive: true, verbatimSymlinks: true })
  }

  save(name: Saved): void {
    const saved = `${this.home.path}.${name}`
    rmSync(saved, { recursive: true, force: true })
    cpSync(this.home.path, saved, { recursive: true, verbatimSymlinks: true })
  }

  isUnsettled(): boolean {
    const state = this.home.at('.local/state/repoint')
    return existsSync(`${state}/journal.json`) || existsSync(`${state}/draft.json`)
  }

  isNew(): boolean {
    return isSame(this.home.snapshot(), this.#new)
  }

  isOld(): boolean {
    return isSame(this.home.snapshot(), this.#old)
  }

  /** Every problem after the next start of repoint. Do not use the home afterwards. */
  problems(): string[] {
    const world = worldIn(this.home)
    const found = secretProblems(this.home)
    try {
      recoverRun(world)
      const now = this.home.snapshot()
      const isNew = isSame(now, this.#new)
      if (!isNew && !isSame(now, this.#old))
        return [...found, `neither old nor new: ${JSON.stringify(now)}`]
      const { runs, damaged } = listRuns(world)
      if (damaged.length > 0) found.push('a record is damaged')
      // A run saves its gateway after the commit. A kill in between loses only the name.
      const gateways = gatewaysIn(this.home)
      const isSaved = isNew && gateways === this.#newGateways
      if (isNew && !isSaved) this.unsaved++
      if (gateways !== this.#oldGateways && !isSaved) found.push('the list of gateways is wrong')
      if (runs.length !== this.#runsBefore + (isNew ? 1 : 0)) found.push(`${runs.length} runs`)
      if (this.isUnsettled()) found.push('not settled')
      found.push(...secretProblems(this.home))
      if (isNew) {
        const kind = runs[0]?.undoes === undefined ? 'newest' : 'newest-undo'
        applyRollback(world, planRollback(world, { which: { kind } })!)
        if (!isSame(this.home.snapshot(), this.#old)) found.push('the undo is not exact')
      }
    } catch (error) {
      if (!(error instanceof UserError)) throw error
      found.push(`${error.code}: ${error.message}`)
    }
    return found
  }
}

function commandIn(home: Home, args: readonly string[]): Command {
  return {
    argv: [process.execPath, program, ...args],
    env: {
      HOME: home.path,
      PATH: `${home.at('bin')}:${process.env['PATH']}`,
      REPOINT_API_KEY: canary,
    },
  }
}

function isSame(one: Snapshot, other: Snapshot): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

/** The names of the files in which clients keep their keys. `auth` is behind a link. */
const secretNames = new Set([
  'auth',
  ...(await loadClients()).flatMap((client) =>
    client
      .files(
        { os: 'linux', env: {}, home: '/', cwd: '/' },
        { exists: () => false, entries: () => [], readStart: () => '' },
      )
      .filter(({ holdsSecret }) => holdsSecret)
      .map(({ path }) => basename(path)),
  ),
])

function gatewaysIn(home: Home): string {
  return JSON.stringify(readList(worldIn(home), gatewayList))
}

/** Reports the key in a file that others can read, or in a record. */
export function secretProblems(home: Home): string[] {
  return everyFile(home).flatMap(({ name, mode }) => {
    if (!readFileSync(home.at(name)).includes(canary)) return []
    if (mode & 0o077) return [`${name} holds the key and has mode ${mode.toString(8)}`]
    const isMeant = secretNames.has(basename(name)) || /(^|\/)\.repoint-\w+\/\w+$/.test(name)
    const isCopy = /^\.local\/state\/repoint\/blobs\/(new-)?[0-9a-f]+$/.test(name)
    const isList = /^\.local\/state\/repoint\/gateways(-new)?\.json$/.test(name)
    return isMeant || isCopy || isList ? [] : [`${name} holds the key`]
  })
}

function everyFile(home: Home): { name: string; mode: number }[] {
  const { readdirSync, lstatSync } = process.getBuiltinModule('node:fs')
  const names = readdirSync(home.path, { recursive: true, encoding: 'utf8' })
  return names.flatMap((name) => {
    const status = lstatSync(home.at(name))
    return status.isFile() ? [{ name, mode: status.mode & 0o777 }] : []
  })
}
