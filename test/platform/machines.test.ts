import { describe, expect, test } from 'vitest'
import { loadClients } from '../../src/clients/list.ts'
import { Session } from '../../src/commands/screen/session.ts'
import { wslFinding } from '../../src/commands/status/wsl.ts'
import { nodePlatform } from '../../src/platform/node.ts'
import { nodeFiles } from '../../src/platform/node-files.ts'
import type { Machine } from '../../src/platform/platform.ts'

const windows: Machine = {
  os: 'win32',
  env: { USERPROFILE: 'C:\\Users\\me' },
  home: 'C:\\Users\\me',
  cwd: 'C:\\work',
}

describe('on Windows', () => {
  test('opencode: the files are below %USERPROFILE%', async () => {
    const opencode = (await loadClients()).find(({ id }) => id === 'opencode')!
    const files = opencode.files(windows, {
      exists: () => false,
      entries: () => [],
      readStart: () => '',
    })
    expect(files.filter(({ use }) => use === 'editable').map(({ path }) => path)).toEqual([
      'C:\\Users\\me\\.local\\share\\opencode\\auth.json',
      'C:\\Users\\me\\.local\\share\\opencode\\repoint-key',
      'C:\\Users\\me\\.config\\opencode\\opencode.json',
    ])
  })

  test('a path below the home is shown with a tilde', () => {
    const session = new Session({ ...nodePlatform(), machine: windows }, { isJson: false })
    expect(session.showPath('C:\\Users\\me\\.codex\\auth.json')).toBe('~\\.codex\\auth.json')
    expect(session.showPath('C:\\Users\\metoo\\x')).toBe('C:\\Users\\metoo\\x')
  })
})

describe('under WSL', () => {
  const wsl: Machine = {
    os: 'linux',
    env: { WSL_DISTRO_NAME: 'Debian' },
    home: '/home/me',
    cwd: '/home/me',
  }
  const messageWith = (readdir: () => string[], machine = wsl) =>
    [...wslFinding({ machine, files: { ...nodeFiles('linux'), readdir } })][0]?.message

  test('names both homes', () => {
    const message = messageWith(() => ['Public', 'Default', 'me'])
    expect(message).toContain('/home/me')
    expect(message).toContain('/mnt/c/Users/me')
  })

  test('names the folder if Windows has several users, or none that is visible', () => {
    const unseen = () => {
      throw new Error('ENOENT')
    }
    for (const readdir of [() => ['anna', 'me'], unseen])
      expect(messageWith(readdir)).toContain('/mnt/c/Users/<you>')
  })

  test('says nothing on other systems', () => {
    for (const other of [
      { ...wsl, env: {} },
      { ...wsl, os: 'darwin' as const },
    ])
      expect(messageWith(() => ['me'], other)).toBeUndefined()
  })
})
