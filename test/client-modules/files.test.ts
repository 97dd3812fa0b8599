import { describe, expect, test } from 'vitest'
import type { Machine } from '../../src/platform/platform.ts'
import { aMachine, byId, type Disk, filesOf, planOn } from './support.ts'

function paths(
  id: string,
  use: 'editable' | 'layer',
  changes: Partial<Machine> = {},
  disk: Disk = {},
) {
  return filesOf(byId(id), aMachine(changes), disk)
    .filter((file) => file.use === use && !file.isOptional)
    .map(({ path }) => path)
}

describe('repoint writes the files that the client reads', () => {
  test.each([
    [
      'codex',
      { env: { CODEX_HOME: '/srv/codex' } },
      ['/srv/codex/auth.json', '/srv/codex/config.toml'],
    ],
    [
      'codex',
      { os: 'win32', home: 'C:\\Users\\Ada', cwd: 'C:\\work' },
      ['C:\\Users\\Ada\\.codex\\auth.json', 'C:\\Users\\Ada\\.codex\\config.toml'],
    ],
    ['claude-gpt', { env: { CLAUDE_CONFIG_DIR: '/srv/cc' } }, ['/srv/cc/settings.json']],
    [
      'claude',
      { os: 'win32', home: 'C:\\Users\\Ada', cwd: 'C:\\work' },
      ['C:\\Users\\Ada\\.claude\\settings.json'],
    ],
    [
      'opencode',
      { env: { XDG_CONFIG_HOME: '/c', XDG_DATA_HOME: '/d' } },
      ['/d/opencode/auth.json', '/c/opencode/opencode.json'],
    ],
    [
      'opencode',
      { env: { OPENCODE_CONFIG: 'mine.json' } },
      ['/home/ada/.local/share/opencode/auth.json', '/home/ada/work/mine.json'],
    ],
    // Every client resolves relative paths against the working folder.
    [
      'codex',
      { env: { CODEX_HOME: 'a/../c' } },
      ['/home/ada/work/c/auth.json', '/home/ada/work/c/config.toml'],
    ],
    [
      'codex',
      { env: { CODEX_HOME: '' } },
      ['/home/ada/.codex/auth.json', '/home/ada/.codex/config.toml'],
    ],
    [
      'codex',
      { os: 'win32', home: 'C:\\Users\\Ada', cwd: 'C:\\work', env: { CODEX_HOME: '..\\c' } },
      ['C:\\c\\auth.json', 'C:\\c\\config.toml'],
    ],
    ['claude', { env: { CLAUDE_CONFIG_DIR: '../cc' } }, ['/home/ada/cc/settings.json']],
    ['claude', { env: { CLAUDE_CONFIG_DIR: '' } }, ['/home/ada/.claude/settings.json']],
    [
      'opencode',
      { env: { XDG_CONFIG_HOME: 'c', XDG_DATA_HOME: './d/' } },
      ['/home/ada/work/d/opencode/auth.json', '/home/ada/work/c/opencode/opencode.json'],
    ],
    [
      'opencode',
      { env: { OPENCODE_CONFIG: '/srv/x/../mine.json' } },
      ['/home/ada/.local/share/opencode/auth.json', '/srv/mine.json'],
    ],
  ] as const)('%s %j', (id, changes, expected) => {
    expect(paths(id, 'editable', changes)).toEqual(expected)
  })

  test('opencode: repoint writes the .jsonc file if it exists, otherwise the .json file', () => {
    const both = {
      '.config/opencode/opencode.json': '{}',
      '.config/opencode/opencode.jsonc': '{}',
      '.config/opencode/config.json': '{}',
    }
    expect(paths('opencode', 'editable', {}, both)[1]).toBe(
      '/home/ada/.config/opencode/opencode.jsonc',
    )
    expect(paths('opencode', 'layer', {}, both)).toEqual([
      '/home/ada/.config/opencode/config.json',
      '/home/ada/.config/opencode/opencode.json',
    ])
  })
})

describe('a folder that belongs to another client', () => {
  test.each([
    { CODEX_HOME: '/home/ada/.claude' },
    { CLAUDE_CONFIG_DIR: '/home/ada/.codex' },
    { CODEX_HOME: '/home/ada/.config/opencode', CLAUDE_CONFIG_DIR: '/home/ada/.config/opencode' },
  ])('%j: no file is editable by two clients', (env) => {
    const all = ['codex', 'claude', 'opencode'].flatMap((id) => paths(id, 'editable', { env }))
    expect(new Set(all).size).toBe(all.length)
  })

  const machine = aMachine({ env: { CODEX_HOME: '/home/ada/.local/share/opencode' } })

  test('a setup of Codex does not replace the logins of opencode', () => {
    const disk = { '.local/share/opencode/auth.json': '{"anthropic":{"type":"oauth"}}' }
    expect(() => planOn(byId('codex'), disk, { machine })).toThrow(
      expect.objectContaining({
        code: 'config-conflict',
        hint: expect.stringContaining('CODEX_HOME'),
      }),
    )
  })

  test.each(['{"OPENAI_API_KEY":"sk-a"}', '{"auth_mode":"chatgpt","tokens":{}}'])(
    'a setup of opencode does not change the login of Codex: %s',
    (content) => {
      const disk = { '.local/share/opencode/auth.json': content }
      expect(() => planOn(byId('opencode'), disk, { machine })).toThrow(
        expect.objectContaining({
          code: 'config-conflict',
          hint: expect.stringContaining('XDG_DATA_HOME'),
        }),
      )
    },
  )
})

describe('layers are the other files that the client reads', () => {
  test("codex: files from the repository's root inwards, profiles, and the administrator's files", () => {
    const disk = {
      '/etc/codex/config.toml': '',
      '/etc/codex/managed_config.toml': '',
      '.codex/deep.config.toml': '',
      '/home/ada/work/.git/HEAD': '',
      '/home/ada/work/.codex/config.toml': '',
      '/home/ada/work/in/.codex/config.toml': '',
      '/home/.codex/config.toml': '',
    }
    expect(paths('codex', 'layer', { cwd: '/home/ada/work/in' }, disk)).toEqual([
      '/etc/codex/config.toml',
      '/home/ada/work/.codex/config.toml',
      '/home/ada/work/in/.codex/config.toml',
      '/home/ada/.codex/deep.config.toml',
      '/etc/codex/managed_config.toml',
    ])
  })

  test('codex: in the home folder, its own configuration is not a project file', () => {
    const disk = { '.codex/config.toml': '' }
    expect(paths('codex', 'layer', { cwd: '/home/ada' }, disk)).toEqual([])
  })

  test("claude: files in the working folder only, and the administrator's file with its drop-ins", () => {
    const disk = {
      '/home/ada/work/.claude/settings.json': '{}',
      '/home/ada/work/.claude/settings.local.json': '{}',
      '/home/ada/work/in/.claude/settings.json': '{}',
      '/etc/claude-code/managed-settings.json': '{}',
      '/etc/claude-code/managed-settings.d/20.json': '{}',
      '/etc/claude-code/managed-settings.d/10.json': '{}',
      '/etc/claude-code/managed-settings.d/.hidden.json': '{}',
    }
    expect(paths('claude', 'layer', { cwd: '/home/ada/work/in' }, disk)).toEqual([
      '/home/ada/work/in/.claude/settings.json',
      '/etc/claude-code/managed-settings.json',
      '/etc/claude-code/managed-settings.d/10.json',
      '/etc/claude-code/managed-settings.d/20.json',
    ])
  })

  test("claude: in the home folder, the user's settings are not project files", () => {
    const disk = { '.claude/settings.json': '{}', '.claude/settings.local.json': '{}' }
    expect(paths('claude', 'layer', { cwd: '/home/ada' }, disk)).toEqual([
      '/home/ada/.claude/settings.local.json',
    ])
  })

  test('opencode: files in every parent folder, even above a repository, because git may not work for opencode', () => {
    const disk = {
      '/home/ada/opencode.json': '{}',
      '/home/ada/work/.git/HEAD': '',
      '/home/ada/work/opencode.jsonc': '{}',
      '/home/ada/work/in/.opencode/opencode.json': '{}',
      '.opencode/opencode.json': '{}',
    }
    expect(paths('opencode', 'layer', { cwd: '/home/ada/work/in' }, disk)).toEqual([
      '/home/ada/.opencode/opencode.json',
      '/home/ada/opencode.json',
      '/home/ada/work/opencode.jsonc',
      '/home/ada/work/in/.opencode/opencode.json',
    ])
  })

  test("claude: of the parent folders, only settings.local.json in the repository's root", () => {
    const disk = {
      '/home/ada/work/.git/HEAD': '',
      '/home/ada/work/.claude/settings.json': '{}',
      '/home/ada/work/.claude/settings.local.json': '{}',
      '/home/ada/work/in/.claude/settings.json': '{}',
    }
    expect(paths('claude', 'layer', { cwd: '/home/ada/work/in' }, disk)).toEqual([
      '/home/ada/work/in/.claude/settings.json',
      '/home/ada/work/.claude/settings.local.json',
    ])
  })

  test('claude: in a linked worktree, also settings.local.json of the main worktree', () => {
    const disk = {
      '/home/ada/linked/.git': 'gitdir: /home/ada/main/.git/worktrees/linked\n',
      '/home/ada/main/.claude/settings.local.json': '{}',
    }
    expect(paths('claude', 'layer', { cwd: '/home/ada/linked' }, disk)).toEqual([
      '/home/ada/main/.claude/settings.local.json',
    ])
  })
})
