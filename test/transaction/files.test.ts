import { describe, expect, test } from 'vitest'
import { UserError } from '../../src/errors.ts'
import type { Machine } from '../../src/platform/platform.ts'
import {
  createDurably,
  createFolders,
  ignoreFileErrors,
  ignoreMissing,
  isInside,
  removeEmptyFolders,
  toFileError,
  withFilesState,
} from '../../src/transaction/files.ts'
import { ForgetfulFiles } from '../support/forgetful-files.ts'
import { aHome } from '../support/home.ts'
import { worldIn } from '../support/world.ts'

const machine: Machine = { os: 'linux', env: {}, home: '/home/me', cwd: '/' }

function nodeError(code: string, syscall = 'open'): Error {
  return Object.assign(new Error(code), { code, syscall })
}

describe("toFileError turns Node's errors into errors that the user can act on", () => {
  const place = '~/a.toml'
  const room = 'Make room on the disk, then run the same command again.'
  const owner =
    'Check the owner and the mode: ls -ld /home/me/a.toml. If another tool generates the file, change it in that tool.'
  const mount = 'Mount the file system as writable.'
  const away = 'Move it away, then run the same command again.'
  const mounted = `${place} is a mount point, as in a container, so repoint cannot replace it`
  const noFile = `${place} is not a regular file in a folder`

  test.each<[string, string, string, string, string]>([
    ['ENOSPC', 'write', 'disk-full', 'cannot be written: no space is left on the disk', room],
    ['EDQUOT', 'write', 'disk-full', 'cannot be written: the disk quota is used up', room],
    [
      'EFBIG',
      'write',
      'disk-full',
      'cannot be written: the limit for the size of a file is reached',
      room,
    ],
    ['EACCES', 'open', 'not-permitted', 'cannot be written: permission denied', owner],
    ['EACCES', 'read', 'not-permitted', 'cannot be read: permission denied', owner],
    ['EACCES', 'rename', 'not-permitted', 'cannot be written: permission denied', owner],
    ['EPERM', 'fchown', 'not-permitted', 'cannot be written: permission denied', owner],
    ['EROFS', 'mkdir', 'not-permitted', 'cannot be written: the file system is read-only', mount],
  ])('%s in %s', (code, syscall, ours, problem, hint) => {
    const error = nodeError(code, syscall)
    const userError = toFileError(machine, '/home/me/a.toml', error) as UserError
    expect([userError.code, userError.message, userError.hint]).toEqual([
      ours,
      `${place} ${problem}`,
      hint,
    ])
    expect(userError.cause).toBe(error)
  })

  test.each(['lstat', 'stat', 'scandir', 'readlink', 'realpath', 'read'])(
    '%s is always reported as reading',
    (syscall) => {
      const userError = toFileError(machine, '/x', nodeError('EACCES', syscall)) as UserError
      expect(userError.message).toBe('/x cannot be read: permission denied')
    },
  )

  test.each(['ELOOP', 'ENOTDIR', 'EISDIR', 'EINVAL', 'ENAMETOOLONG'])('%s', (code) => {
    const userError = toFileError(machine, '/home/me/a.toml', nodeError(code)) as UserError
    expect([userError.code, userError.message, userError.hint]).toEqual([
      'config-conflict',
      noFile,
      away,
    ])
  })

  test.each(['rename', 'unlink'])(
    'a %s that is refused although the folder may be written',
    (call) => {
      for (const code of ['EBUSY', 'EXDEV']) {
        const userError = toFileError(
          machine,
          '/home/me/a.toml',
          nodeError(code, call),
        ) as UserError
        expect([userError.code, userError.message]).toEqual(['config-conflict', mounted])
        expect(userError.hint).toContain('Mount the folder')
      }
      const userError = toFileError(
        machine,
        '/home/me/a.toml',
        nodeError('EPERM', call),
      ) as UserError
      expect(userError.code).toBe('not-permitted')
      expect(userError.message).toContain('immutable or append-only')
      expect(userError.hint).toContain('chattr -ia /home/me/a.toml')
    },
  )

  test('names other errors by their code, and calls a busy file mounted only in a rename', () => {
    for (const error of [nodeError('EIO'), nodeError('EBUSY')]) {
      const { code } = error as NodeJS.ErrnoException
      const userError = toFileError(machine, '/home/me/a.toml', error) as UserError
      expect([userError.code, userError.message, userError.hint, userError.cause]).toEqual([
        'io-failed',
        `Cannot read or write ${place} (${code})`,
        'Check the disk, then run the same command again.',
        error,
      ])
    }
    const withoutCall = Object.assign(new Error('EBUSY'), { code: 'EBUSY' })
    expect((toFileError(machine, '/x', withoutCall) as UserError).code).toBe('io-failed')
  })

  test('returns a UserError, and a bug of ours, unchanged', () => {
    const userError = new UserError({ code: 'locked', message: 'x' })
    for (const error of [userError, new Error('ours'), new RangeError('too long')])
      expect(toFileError(machine, '/x', error)).toBe(error)
  })
})

test('withFilesState changes only the state of the files', () => {
  const cause = new Error('why')
  const given = new UserError({ code: 'locked', message: 'm', hint: 'h', cause })
  const changed = withFilesState(given, 'pending') as UserError
  expect([changed.code, changed.message, changed.hint, changed.filesState]).toEqual([
    'locked',
    'm',
    'h',
    'pending',
  ])
  expect(changed.cause).toBe(cause)
  expect(withFilesState(cause, 'pending')).toBe(cause)
})

describe('createDurably', () => {
  /** The calls on one file, in order. `replaced` replaces some of them. */
  function made(replaced: Record<string, () => unknown> = {}) {
    const { files } = worldIn(aHome())
    const home = aHome()
    const calls: string[] = []
    const watched = new Proxy(files, {
      get: (target, name) => {
        const call = target[name as keyof typeof target] as (...args: unknown[]) => unknown
        return (...args: unknown[]) => {
          calls.push(String(name))
          const replacement = replaced[String(name)]
          if (replacement) return replacement()
          return call(...args)
        }
      },
    })
    let failure: unknown
    try {
      createDurably(watched, home.at('a'), Buffer.from('text'), { mode: 0o600 })
    } catch (error) {
      failure = error
    }
    return { calls, failure, home }
  }

  test('writes, flushes and closes the file', () => {
    const { calls, home } = made()
    expect(calls).toEqual(['createNew', 'write', 'fsync', 'close'])
    expect(home.text('a')).toBe('text')
  })

  const fails = () => {
    throw nodeError('EIO')
  }

  test('removes the file after a failure, and closes it once', () => {
    for (const [call, expected] of [
      ['write', ['createNew', 'write', 'close', 'unlink']],
      ['fsync', ['createNew', 'write', 'fsync', 'close', 'unlink']],
      ['close', ['createNew', 'write', 'fsync', 'close', 'unlink']],
    ] as const) {
      const { calls, failure, home } = made({ [call]: fails })
      expect(calls).toEqual(expected)
      expect(failure).toMatchObject({ code: 'EIO' })
      expect(() => home.text('a')).toThrow('ENOENT')
    }
  })

  test('fails if a write writes nothing, instead of waiting', () => {
    expect(made({ write: () => 0 }).failure).toMatchObject({ code: 'EIO' })
  })

  test('does not touch an existing file', () => {
    const { calls, failure } = made({ createNew: fails })
    expect([calls, failure]).toEqual([['createNew'], nodeError('EIO')])
  })
})

describe('folders', () => {
  function watched() {
    const files = new ForgetfulFiles()
    files.put('/home/a/file', '')
    const flushed: string[] = []
    const proxy = new Proxy(files, {
      get: (target, name) => {
        const call = target[name as keyof typeof target]
        if (name === 'fsyncFolder') return (path: string) => flushed.push(path)
        return typeof call === 'function' ? call.bind(target) : call
      },
    })
    return { files: proxy, flushed }
  }

  test('are created if missing, and each parent is flushed', () => {
    const { files, flushed } = watched()
    createFolders(files, ['/home/a', '/home/a/b', '/home/a/b/c'])
    expect(flushed).toEqual(['/home/a', '/home/a/b'])
    expect(files.names('/home/a/b')).toEqual(['c'])
  })

  test('may have been created by another run', () => {
    const { files, flushed } = watched()
    const racing = (code: string) =>
      new Proxy(files, {
        get: (target, name) =>
          name === 'mkdir'
            ? () => {
                throw nodeError(code)
              }
            : target[name as keyof typeof target],
      })
    createFolders(racing('EEXIST'), ['/home/new'])
    expect(flushed).toEqual(['/home'])
    expect(() => createFolders(racing('EACCES'), ['/home/new'])).toThrow('EACCES')
  })

  test('are removed innermost first if they are empty', () => {
    const { files, flushed } = watched()
    createFolders(files, ['/home/x', '/home/x/y', '/home/a/z'])
    flushed.length = 0
    removeEmptyFolders(files, ['/home/a', '/home/a/z', '/home/x', '/home/x/y'])
    expect(flushed).toEqual(['/home/x', '/home', '/home/a'])
    expect(files.names('/home')).toEqual(['a'])
  })
})

test.each([
  ['/a/b', '/a', true],
  ['/a/b', '/a/', true],
  ['/a', '/a', false],
  ['/a/', '/a/', false],
  ['/a/', '/a', false],
  ['/ab', '/a', false],
  ['/b', '/a', false],
  ['/b', '/', true],
  ['C:\\a\\b', 'C:\\a', true],
  ['C:\\ab', 'C:\\a', false],
  ['C:\\a', 'C:\\', true],
])('%s lies in %s: %s', (path, folder, is) => {
  expect(isInside(path, folder)).toBe(is)
})

test('ignoreFileErrors hides file errors, but not a bug of ours', () => {
  const failing = (error: Error) => () => {
    throw error
  }
  ignoreFileErrors(failing(nodeError('EIO')))
  expect(() => ignoreFileErrors(failing(new Error('ours')))).toThrow('ours')
  expect(ignoreMissing(failing(nodeError('ENOENT')))).toBe(false)
  expect(ignoreMissing(() => {})).toBe(true)
  expect(() => ignoreMissing(failing(nodeError('EIO')))).toThrow('EIO')
})
