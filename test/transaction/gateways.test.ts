import { chmodSync, existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import {
  changeGateways,
  gatewayNames,
  readGateways,
  removeGateways,
  type SavedGateway,
} from '../../src/transaction/gateways.ts'
import { stateFolder } from '../../src/transaction/state.ts'
import { aHome, type Home } from '../support/home.ts'
import { withCalls, worldIn } from '../support/world.ts'

const list = '.local/state/repoint/gateways.json'
const work: SavedGateway = { name: 'work', baseUrl: 'https://work.example', key: 'sk-work' }
const mine: SavedGateway = { name: 'mine', baseUrl: 'https://mine.example', maskedKey: '....mine' }

function remember(home: Home, ...gateways: SavedGateway[]): void {
  changeGateways(worldIn(home), (all) => [...gateways, ...all])
}

/** A home whose list says `text`. */
function saying(text: string | Uint8Array): Home {
  const home = aHome({ [list]: text })
  chmodSync(home.at('.local/state/repoint'), 0o700)
  return home
}

describe('the remembered gateways', () => {
  test('are none where nothing is remembered, and looking makes no folder', () => {
    const home = aHome()
    expect(readGateways(worldIn(home))).toEqual([])
    removeGateways(worldIn(home))
    expect(readdirSync(home.path)).toEqual([])
  })

  test('are read as they were given, and lie in a file of their own that is closed to others', () => {
    const home = aHome()
    remember(home, mine)
    remember(home, work)
    expect(readGateways(worldIn(home))).toEqual([work, mine])
    expect(statSync(home.at(list)).mode & 0o777).toBe(0o600)
    expect(readdirSync(stateFolder(worldIn(home).machine)).sort()).toEqual([
      'blobs',
      'gateways.json',
    ])
    expect(home.text(list)).toBe(
      `${JSON.stringify({ version: 1, gateways: [work, mine] }, undefined, 1)}\n`,
    )
  })

  test('that stay as they are are not written', () => {
    const home = aHome()
    remember(home, work)
    const written = statSync(home.at(list)).ino
    changeGateways(worldIn(home), (all) => {
      expect(all).toEqual([work])
      return all
    })
    expect(statSync(home.at(list)).ino).toBe(written)
  })

  test('that are all forgotten leave no file', () => {
    const home = aHome()
    remember(home, work)
    changeGateways(worldIn(home), () => [])
    expect(existsSync(home.at(list))).toBe(false)
    expect(readGateways(worldIn(home))).toEqual([])
    removeGateways(worldIn(home))
  })

  test('what a crash has left of an earlier try goes first', () => {
    const home = saying('{"version":1,"gateways":[]}')
    home.put('.local/state/repoint/gateways-new.json', 'half of it', 0o600)
    remember(home, work)
    expect(readGateways(worldIn(home))).toEqual([work])
    expect(readdirSync(stateFolder(worldIn(home).machine))).not.toContain('gateways-new.json')
  })

  test.each<[string, string | Uint8Array]>([
    ['no JSON', 'broken'],
    ['null', 'null'],
    ['of another version', '{"version":2,"gateways":[]}'],
    ['no list', '{"version":1,"gateways":{}}'],
    ['no text', Uint8Array.of(0xff, 0xfe)],
    ['far too long', ' '.repeat(1_000_001)],
  ])('a file that is %s is told, and left as it is', (_, text) => {
    const home = saying(text)
    const before = readFileSync(home.at(list))
    const damaged = expect.objectContaining({ code: 'record-damaged' })
    expect(() => readGateways(worldIn(home))).toThrow(damaged)
    expect(() => remember(home, work)).toThrow(damaged)
    expect(before.equals(readFileSync(home.at(list)))).toBe(true)

    removeGateways(worldIn(home))
    expect(readGateways(worldIn(home))).toEqual([])
  })

  test('that cannot be read, or not be written, are told by the cause', () => {
    const home = aHome()
    remember(home, work)
    const closed = withCalls(worldIn(home), {
      read: () => {
        throw Object.assign(new Error('EACCES'), { code: 'EACCES', syscall: 'read' })
      },
    })
    expect(() => readGateways(closed)).toThrow(
      expect.objectContaining({
        code: 'not-permitted',
        message: '~/.local/state/repoint/gateways.json cannot be read: permission denied',
      }),
    )
    const full = withCalls(worldIn(home), {
      write: () => {
        throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' })
      },
    })
    expect(() => changeGateways(full, () => [mine])).toThrow(
      expect.objectContaining({ code: 'disk-full' }),
    )
    expect(readGateways(worldIn(home))).toEqual([work])
  })

  test.each([
    ['work', true],
    ['a', true],
    ['9.work_2-b', true],
    ['a'.repeat(63), true],
    ['a'.repeat(64), false],
    ['', false],
    ['-work', false],
    ['.work', false],
    ['a b', false],
    ['a/b', false],
    ['wörk', false],
  ])('%j is a name: %s', (name, is) => {
    expect(gatewayNames.test(name)).toBe(is)
  })
})
