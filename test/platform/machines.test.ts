import { describe, expect, test } from 'vitest'
import { loadClients } from '../../src/clients/list.ts'
import { Session } from '../../src/commands/screen/session.ts'
import { wslFinding } from '../../src/commands/status/wsl.ts'
import { nodePlatform } from '../../src/platform/node.ts'
import { nodeFiles } from '../../src/platform/node-files.ts'
import { findProgram } from '../../src/platform/node-processes.ts'
import type { Machine } from '../../src/platform/platform.ts'
import { stateFolder } from '../../src/transaction/records/state-folder.ts'

const windows: Machine = {
  os: 'win32',
  env: {
    USERPROFILE: 'C:\\Users\\me',
    LOCALAPPDATA: 'C:\\Users\\me\\AppData\\Local',
    Path: 'C:\\Windows\\system32;tools;C:\\Users\\me\\AppData\\Roaming\\npm',
    PATHEXT: '.COM;.EXE;.BAT;.CMD',
  },
  home: 'C:\\Users\\me',
  cwd: 'C:\\work',
}
const macos: Machine = { os: 'darwin', env: {}, home: '/Users/me', cwd: '/Users/me/work' }
const nothingThere = { exists: () => false, entries: () => [], readStart: () => '' }

const clients = await loadClients()

function targets(id: string, machine: Machine): string[] {
  return clients
    .find((client) => client.id === id)!
    .files(machine, nothingThere)
    .filter(({ use }) => use === 'editable')
    .map(({ path }) => path)
}

describe('on Windows', () => {
  test.each([
    [
      'codex',
      ['auth.json', 'repoint-key', 'repoint-models.json', 'config.toml'].map(
        (name) => `C:\\Users\\me\\.codex\\${name}`,
      ),
    ],
    ['claude', ['C:\\Users\\me\\.claude\\settings.json']],
    ['claude-gpt', ['C:\\Users\\me\\.claude\\settings.json']],
    [
      'opencode',
      [
        'C:\\Users\\me\\.local\\share\\opencode\\auth.json',
        'C:\\Users\\me\\.local\\share\\opencode\\repoint-key',
        'C:\\Users\\me\\.config\\opencode\\opencode.json',
      ],
    ],
  ])('%s: the files are below %USERPROFILE%', (id, paths) => {
    expect(targets(id, windows)).toEqual(paths)
  })

  test('codex: CODEX_HOME moves its files', () => {
    const machine = { ...windows, env: { ...windows.env, CODEX_HOME: 'D:\\codex' } }
    expect(targets('codex', machine)).toEqual([
      'D:\\codex\\auth.json',
      'D:\\codex\\repoint-key',
      'D:\\codex\\repoint-models.json',
      'D:\\codex\\config.toml',
    ])
  })

  test('the state folder is in %LOCALAPPDATA%, or in its default location', () => {
    expect(stateFolder(windows)).toBe('C:\\Users\\me\\AppData\\Local\\repoint')
    expect(stateFolder({ ...windows, env: {} })).toBe('C:\\Users\\me\\AppData\\Local\\repoint')
    expect(stateFolder({ ...windows, env: { REPOINT_STATE_DIR: 'D:\\state' } })).toBe('D:\\state')
  })

  test('a path below the home is shown with a tilde', () => {
    const session = new Session({ ...nodePlatform(), machine: windows }, { isJson: false })
    expect(session.showPath('C:\\Users\\me\\.codex\\auth.json')).toBe('~\\.codex\\auth.json')
    expect(session.showPath('C:\\Users\\metoo\\x')).toBe('C:\\Users\\metoo\\x')
  })

  test('which: finds the .cmd shim that npm installs, whatever the case of PATH', () => {
    const shim = 'C:\\Users\\me\\AppData\\Roaming\\npm\\codex.CMD'
    expect(findProgram(windows, 'codex', (path) => path === shim)).toBe(shim)
  })

  test('which: prefers a program over a shim in the same folder, and does not search the working folder', () => {
    const asked: string[] = []
    findProgram(windows, 'codex', (path) => {
      asked.push(path)
      return false
    })
    expect(asked.slice(0, 4).map((path) => path.slice(-4))).toEqual([
      '.COM',
      '.EXE',
      '.BAT',
      '.CMD',
    ])
    expect(asked.filter((path) => !/^C:\\/.test(path))).toEqual([])
  })
})

describe('on macOS', () => {
  test('the files are in the home, as on Linux', () => {
    expect(targets('codex', macos)).toEqual([
      '/Users/me/.codex/auth.json',
      '/Users/me/.codex/repoint-key',
      '/Users/me/.codex/repoint-models.json',
      '/Users/me/.codex/config.toml',
    ])
    expect(targets('claude', macos)).toEqual(['/Users/me/.claude/settings.json'])
    expect(stateFolder(macos)).toBe('/Users/me/.local/state/repoint')
  })

  test('which: finds the exact name in the folders of PATH', () => {
    const machine = { ...macos, env: { PATH: '/opt/homebrew/bin:/usr/bin' } }
    expect(findProgram(machine, 'codex', (path) => path === '/usr/bin/codex')).toBe(
      '/usr/bin/codex',
    )
  })
})

describe('under WSL', () => {
  const wsl: Machine = {
    os: 'linux',
    env: { WSL_DISTRO_NAME: 'Debian' },
    home: '/home/me',
    cwd: '/home/me',
  }
  const files = (entries: string[]) => ({ ...nodeFiles('linux'), readdir: () => entries })

  test('names both homes', () => {
    const [notice] = wslFinding({ machine: wsl, files: files(['Public', 'Default', 'me']) })
    expect(notice?.message).toContain('/home/me')
    expect(notice?.message).toContain('/mnt/c/Users/me')
  })

  test('names the folder if Windows has several users, or none that is visible', () => {
    const [several] = wslFinding({ machine: wsl, files: files(['anna', 'me']) })
    expect(several?.message).toContain('/mnt/c/Users/<you>')
    const [unseen] = wslFinding({
      machine: wsl,
      files: {
        ...nodeFiles('linux'),
        readdir: () => {
          throw new Error('ENOENT')
        },
      },
    })
    expect(unseen?.message).toContain('/mnt/c/Users/<you>')
  })

  test('says nothing on other systems', () => {
    expect([...wslFinding({ machine: { ...wsl, env: {} }, files: files(['me']) })]).toEqual([])
    expect([...wslFinding({ machine: macos, files: files(['me']) })]).toEqual([])
  })
})
