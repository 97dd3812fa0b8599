import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { maxConfigBytes } from '../../src/edits/text.ts'
import type { ErrorCode } from '../../src/error-codes.ts'
import type { FilesState } from '../../src/errors.ts'
import { applyPlan } from '../../src/transaction/apply-plan.ts'
import { listFirstCopies, listRuns } from '../../src/transaction/records/records.ts'
import { stateFolder } from '../../src/transaction/records/state-folder.ts'
import { aPairPlan, aPlan, authEdit, bytesOf, configEdit, keysEdit } from '../support/a-plan.ts'
import { failureOf } from '../support/failure.ts'
import { aHome, type Home } from '../support/home.ts'
import { notAsRoot, sourceIn, withCalls, worldIn, worldWithAttributes } from '../support/world.ts'

const oldAuth = '{"tokens": {"access_token": "old-login"}}\n'
const oldConfig = '# mine\nmodel = "gpt-5.5"\n\n[mcp_servers.a]\ncommand = "x"\n'
const oldPair = { '.codex/auth.json': oldAuth, '.codex/config.toml': oldConfig }

function expectFailure(work: () => unknown, code: ErrorCode, files: FilesState = 'unchanged') {
  const error = failureOf(work)
  expect({ code: error.code, files: error.filesState }).toEqual({ code, files })
  return error
}

function apply(home: Home, world = worldIn(home)) {
  return applyPlan(world, aPairPlan(sourceIn(home)))
}

describe('apply', () => {
  test('switches the pair and records the run', () => {
    const home = aHome(oldPair)
    const applied = apply(home)
    expect(applied.files.map(({ action }) => action)).toEqual(['updated', 'updated'])
    expect(home.text('.codex/auth.json')).toContain('sk-canary')
    expect(home.text('.codex/config.toml')).toContain('https://gateway.example/v1')
    expect(listRuns(worldIn(home))).toEqual({ runs: [applied.run], damaged: [] })
    expect(readdirSync(home.at('.codex')).sort()).toEqual(['auth.json', 'config.toml'])
  })

  test('records a run that changes a list of thousands of models so that it can be read again', () => {
    const home = aHome()
    const settings = Array.from({ length: 25_000 }, (_, n) => ({
      path: ['models', `${'m'.repeat(260)}-${n}`],
      value: n,
    }))
    const edit = keysEdit(sourceIn(home), 'a.json', [{ path: ['model'], value: 'm' }])
    const plan = aPlan([{ ...edit, format: 'json', changes: [...edit.changes, ...settings] }])
    const { run } = applyPlan(worldIn(home), plan)
    const names = readdirSync(stateFolder(worldIn(home).machine))
    const sizes = names.map((name) => statSync(join(stateFolder(worldIn(home).machine), name)).size)
    expect(Math.max(...sizes)).toBeGreaterThan(8_000_000)
    expect(listRuns(worldIn(home))).toEqual({ runs: [run], damaged: [] })
    expect(listFirstCopies(worldIn(home)).files).toHaveLength(1)
  })

  test('records a file that stays unchanged, even if it could not be replaced', () => {
    const home = aHome(oldPair)
    apply(home)
    linkSync(home.at('.codex/auth.json'), home.at('other.json'))
    const source = sourceIn(home)
    const plan = aPlan([authEdit(source), configEdit(source, 'https://other.example/v1')])
    expect(applyPlan(worldIn(home), plan).run?.files).toMatchObject([
      { realPath: home.at('.codex/auth.json') },
      { realPath: home.at('.codex/config.toml') },
    ])
  })

  test('switches more than two files, of several clients, in one run', () => {
    const home = aHome({ ...oldPair, '.claude/settings.json': '{"model": "opus"}\n' })
    const source = sourceIn(home)
    const token = { path: ['env', 'ANTHROPIC_AUTH_TOKEN'], value: 'sk-canary', isSecret: true }
    const settings = keysEdit(source, '.claude/settings.json', [token], {
      client: 'claude',
      holdsSecret: true,
    })
    const other = keysEdit(
      source,
      '.config/opencode/opencode.json',
      [{ path: ['model'], value: 'm' }],
      {
        client: 'opencode',
      },
    )
    const { run } = applyPlan(
      worldIn(home),
      aPlan([authEdit(source), configEdit(source), settings, other], 'setup'),
    )
    expect(run?.clients).toEqual(['codex', 'claude', 'opencode'])
    expect(run?.folders).toEqual([home.at('.config'), home.at('.config/opencode')])
    expect(run?.files).toHaveLength(4)
  })

  test('closes a new file with a secret, and its folder, to other users', () => {
    const home = aHome()
    apply(home)
    expect(home.snapshot()).toMatchObject({
      '.codex': 'folder 700',
      '.codex/auth.json': expect.stringMatching(/^file 600 /),
      '.codex/config.toml': expect.stringMatching(/^file 644 /),
    })
  })

  test('applies the umask to a new file without a secret', () => {
    const home = aHome()
    const umask = process.umask(0o077)
    onTestFinished(() => void process.umask(umask))
    apply(home)
    expect(statSync(home.at('.codex/config.toml')).mode & 0o777).toBe(0o600)
  })

  test('keeps the mode, but removes the rights of others when a secret is written', () => {
    const home = aHome(oldPair)
    chmodSync(home.at('.codex/config.toml'), 0o664)
    chmodSync(home.at('.codex/auth.json'), 0o640)
    const { files } = apply(home)
    expect(statSync(home.at('.codex/config.toml')).mode & 0o777).toBe(0o664)
    expect(statSync(home.at('.codex/auth.json')).mode & 0o777).toBe(0o600)
    expect(files[0]?.note).toBe('Only you can read it now (mode 0640 became 0600).')
  })

  test.skipIf(process.getuid?.() !== 0)('keeps owner and group', () => {
    const home = aHome(oldPair)
    chownSync(home.at('.codex/config.toml'), 0, 5678)
    apply(home)
    const { uid, gid } = statSync(home.at('.codex/config.toml'))
    expect([uid, gid]).toEqual([0, 5678])
  })

  test.skipIf(process.getuid?.() !== 0)(
    'does not keep a group that we are not in, if the group has no more rights than everybody',
    () => {
      for (const { mode, isRefused } of [
        { mode: 0o644, isRefused: false },
        { mode: 0o640, isRefused: true },
      ]) {
        const home = aHome(oldPair)
        chownSync(home.at('.codex/config.toml'), 0, 5678)
        chmodSync(home.at('.codex/config.toml'), mode)
        const asUser = withCalls(worldIn(home), {
          fchown: () => {
            throw Object.assign(new Error(), { code: 'EPERM' })
          },
        })
        if (isRefused) {
          const error = expectFailure(() => apply(home, asUser), 'not-permitted')
          expect(error.message).toContain('(5678)')
        } else {
          apply(home, asUser)
          expect(statSync(home.at('.codex/config.toml')).mode & 0o777).toBe(mode)
        }
      }
    },
  )

  test('replaces a read-only file in a writable folder, and keeps it read-only', () => {
    const home = aHome(oldPair)
    chmodSync(home.at('.codex/config.toml'), 0o444)
    apply(home)
    expect(statSync(home.at('.codex/config.toml')).mode & 0o777).toBe(0o444)
  })

  test('keeps symlinks, and replaces the files that they lead to', () => {
    const home = aHome({
      'dotfiles/auth': oldAuth,
      'dotfiles/codex/config': oldConfig,
      '.codex/auth.json': { link: '../dotfiles/auth' },
      '.codex/folder': { link: '../dotfiles/codex' },
      '.codex/config.toml': { link: 'folder/config' },
    })
    apply(home)
    expect(lstatSync(home.at('.codex/config.toml')).isSymbolicLink()).toBe(true)
    expect(lstatSync(home.at('.codex/auth.json')).isSymbolicLink()).toBe(true)
    expect(home.text('dotfiles/codex/config')).toContain('https://gateway.example/v1')
    expect(home.text('dotfiles/auth')).toContain('sk-canary')
  })

  test('follows a folder that is a symlink', () => {
    const home = aHome({
      'dotfiles/codex/config.toml': oldConfig,
      '.codex': { link: 'dotfiles/codex' },
    })
    apply(home)
    expect(lstatSync(home.at('.codex')).isSymbolicLink()).toBe(true)
    expect(readdirSync(home.at('dotfiles/codex')).sort()).toEqual(['auth.json', 'config.toml'])
  })

  test('creates the target of a dangling symlink', () => {
    const home = aHome({ 'dotfiles/.keep': '', '.codex/auth.json': { link: '../dotfiles/auth' } })
    apply(home)
    expect(lstatSync(home.at('.codex/auth.json')).isSymbolicLink()).toBe(true)
    expect(statSync(home.at('dotfiles/auth')).mode & 0o777).toBe(0o600)
  })

  test('works if the files are on another file system than the state folder', ({ skip }) => {
    const home = aHome()
    const { dev } = statSync(home.path)
    const folder = ['/dev/shm', '/var/tmp', process.cwd()].find(
      (path) => existsSync(path) && statSync(path).dev !== dev,
    )
    if (folder === undefined) return skip('all folders are on one file system')
    const otherDisk = mkdtempSync(`${folder}/repoint-test-`)
    onTestFinished(() => rmSync(otherDisk, { recursive: true, force: true }))
    home.put('.codex', { link: otherDisk })
    apply(home, notAsRoot(worldIn(home)))
    expect(readdirSync(otherDisk).sort()).toEqual(['auth.json', 'config.toml'])
  })

  test('accepts names with blanks, quotes and non-ASCII letters', () => {
    const home = aHome()
    const name = `.co dex'"; ü\n/config.toml`
    applyPlan(
      worldIn(home),
      aPlan([keysEdit(sourceIn(home), name, [{ path: ['model'], value: 'm' }])]),
    )
    expect(home.text(name)).toContain('model = "m"')
  })

  test('keeps extended attributes', ({ skip }) => {
    const home = aHome(oldPair)
    const path = home.at('.codex/config.toml')
    if (!setAttribute(path)) skip('no python3, or no extended attributes here')
    apply(home, worldWithAttributes(home))
    expect(attributesOf(path)).toBe("['user.repoint-test']")
  })
})

describe('apply refuses', () => {
  test('a file that appeared after planning', () => {
    const home = aHome()
    const plan = aPairPlan(sourceIn(home))
    home.put('.codex/config.toml', '')
    expectFailure(() => applyPlan(worldIn(home), plan), 'changed-underneath')
  })

  test('a plan if another run changed the files since', () => {
    const home = aHome(oldPair)
    const overtaken = aPairPlan(sourceIn(home), 'sk-canary-other')
    const { run } = apply(home)
    const error = expectFailure(() => applyPlan(worldIn(home), overtaken), 'locked')
    expect(error.message).toContain(run?.id)
  })

  test('a file that changes just before its switch, and restores the others', () => {
    const home = aHome(oldPair)
    const world = worldIn(home)
    const config = home.at('.codex/config.toml')
    const interfering = withCalls(world, {
      rename: (from, to) => {
        world.files.rename(from, to)
        if (to.endsWith('auth.json') && home.text('.codex/auth.json').includes('canary'))
          home.put('.codex/config.toml', 'changed = true\n')
      },
    })
    const before = home.snapshot('.codex')
    expectFailure(() => apply(home, interfering), 'changed-underneath')
    expect(readFileSync(config, 'utf8')).toBe('changed = true\n')
    expect({ ...home.snapshot('.codex'), '.codex/config.toml': '' }).toEqual({
      ...before,
      '.codex/config.toml': '',
    })
    expect(listRuns(world).runs).toEqual([])
    expect(readdirSync(stateFolder(world.machine)).sort()).toEqual(['blobs'])
  })

  test('a configuration that is far too large', () => {
    const home = aHome()
    const source = sourceIn(home)
    const edit = { ...configEdit(source), before: bytesOf('# small\n') }
    home.put('.codex/config.toml', '#'.repeat(maxConfigBytes + 1))
    expectFailure(() => applyPlan(worldIn(home), aPlan([edit])), 'config-conflict')
  })
})

function setAttribute(path: string): boolean {
  return (
    python(`import os,sys; os.setxattr(sys.argv[1], b"user.repoint-test", b"1")`, path) !==
    undefined
  )
}

function attributesOf(path: string): string | undefined {
  return python('import os,sys; print(os.listxattr(sys.argv[1]))', path)
}

/** Node has no call for extended attributes. */
function python(program: string, path: string): string | undefined {
  const { spawnSync } = process.getBuiltinModule('node:child_process')
  const result = spawnSync('python3', ['-c', program, path], { encoding: 'utf8' })
  return result.status === 0 ? result.stdout.trim() : undefined
}
