import { describe, expect, test } from 'vitest'
import { endOf, historiesOf, isBeside } from '../../src/transaction/history.ts'
import type { RecordedFile, RunRecord } from '../../src/transaction/record.ts'

function aFile(path: string, client = 'codex'): RecordedFile {
  return { client, path } as RecordedFile
}

const auth = aFile('/h/.codex/auth.json')
const config = aFile('/h/.codex/config.toml')
const settings = aFile('/h/.claude/settings.json', 'claude')

function aRun(id: string, files: readonly RecordedFile[], undoes?: string): RunRecord {
  const clients = [...new Set(files.map(({ client }) => client))]
  const run: Partial<RunRecord> = {
    id,
    files,
    clients,
    ...(undoes === undefined ? {} : { undoes }),
  }
  return run as RunRecord
}

/** What stands in a file, as `run/by`, and which undos could be redone. */
function told(file: RecordedFile, ...oldestFirst: RunRecord[]) {
  const { standing, undone } = historiesOf(oldestFirst.toReversed())(file)
  return [
    standing.map(({ run, by }) => (run === by ? run.id : `${run.id}/${by.id}`)).join(' '),
    undone.map(({ id }) => id).join(' '),
  ]
}

describe('what stands in a file', () => {
  const pair = [auth, config]

  test.each<[string, readonly RunRecord[], readonly [string, string]]>([
    ['nothing', [], ['', '']],
    ['setups', [aRun('1', pair), aRun('2', pair)], ['1 2', '']],
    ['another client', [aRun('1', pair), aRun('2', [settings])], ['1', '']],
    ['an undo', [aRun('1', pair), aRun('2', pair), aRun('3', pair, '2')], ['1', '3']],
    [
      'two undos',
      [aRun('1', pair), aRun('2', pair), aRun('3', pair, '2'), aRun('4', pair, '1')],
      ['', '3 4'],
    ],
    [
      'an undo past a newer run',
      [aRun('1', pair), aRun('2', pair), aRun('3', pair, '1')],
      ['', '3'],
    ],
    [
      'a redo',
      [aRun('1', pair), aRun('2', pair), aRun('3', pair, '2'), aRun('4', pair, '3')],
      ['1 2/4', ''],
    ],
    [
      'the first of two redos',
      [
        aRun('1', pair),
        aRun('2', pair),
        aRun('3', pair, '2'),
        aRun('4', pair, '1'),
        aRun('5', pair, '4'),
      ],
      ['1/5', '3'],
    ],
    [
      'an undo of a redo',
      [aRun('1', pair), aRun('2', pair, '1'), aRun('3', pair, '2'), aRun('4', pair, '3')],
      ['', '4'],
    ],
    ['a setup after an undo', [aRun('1', pair), aRun('2', pair, '1'), aRun('3', pair)], ['3', '']],
    [
      'a setup of its other file after an undo',
      [aRun('1', pair), aRun('2', pair, '1'), aRun('3', [auth])],
      ['', ''],
    ],
    [
      'a setup of another client after an undo',
      [aRun('1', pair), aRun('2', pair, '1'), aRun('3', [settings])],
      ['', '2'],
    ],
    [
      'a setup of another installation after an undo',
      [aRun('1', pair), aRun('2', pair, '1'), aRun('3', [aFile('/other/config.toml')])],
      ['', '2'],
    ],
    [
      'an undo that found nothing to change in it',
      [aRun('1', pair), aRun('2', [auth], '1')],
      ['', '2'],
    ],
    [
      'an undo of another client alone',
      [aRun('1', [...pair, settings]), aRun('2', [settings], '1')],
      ['1', ''],
    ],
    [
      'an undo of a run that did not write it',
      [aRun('1', pair), aRun('2', [auth]), aRun('3', [auth], '2')],
      ['1', ''],
    ],
    [
      'an undo of a run that is not recorded any more',
      [aRun('2', pair), aRun('5', pair, '3')],
      ['2', '5'],
    ],
    [
      'an undo of an older run that is not recorded any more',
      [aRun('2', pair), aRun('5', pair, '1')],
      ['', '5'],
    ],
    [
      'an undo of another file by a run that is not recorded any more',
      [aRun('2', pair), aRun('5', [auth], '1')],
      ['2', ''],
    ],
  ])('%s', (_, runs, expected) => {
    expect(told(config, ...runs)).toEqual(expected)
  })
})

describe('a file is beside others', () => {
  test.each<[string, RecordedFile, readonly RecordedFile[], boolean]>([
    ['of the same client and folder', auth, [config], true],
    ['and none are known', auth, [], false],
    ['of another client', settings, [config], false],
    ['of another installation', auth, [aFile('/other/auth.json')], false],
    ['itself', auth, [auth], true],
    ['of the name of another client’s', auth, [config, aFile('/x/auth.json', 'claude')], true],
  ])('%s: %#', (_, file, known, expected) => {
    expect(isBeside(file, aRun('1', [auth, settings]), known)).toBe(expected)
  })
})

test('an undo of an undo comes to the run at its end, made again', () => {
  const runs = [aRun('1', []), aRun('2', [], '1'), aRun('3', [], '2'), aRun('9', [], '7')]
  const ends = runs.map((run) => endOf(run, runs))
  expect(ends).toEqual([
    { id: '1', isUndone: false },
    { id: '1', isUndone: true },
    { id: '1', isUndone: false },
    { id: '7', isUndone: true },
  ])
})

test('the more runs, the longer it takes, and not longer than that', () => {
  const files = Array.from({ length: 12 }, (_, index) => aFile(`/h/.codex/${index}.toml`))
  const looksAt = (count: number) => {
    let looks = 0
    const watched = (run: RunRecord) =>
      Object.defineProperty(run, 'files', {
        get() {
          looks++
          return files
        },
      })
    const runs = Array.from({ length: count }, (_, index) => {
      const id = (number: number) => String(number).padStart(4, '0')
      return watched(aRun(id(index), [], index % 2 === 0 ? undefined : id(index - 1)))
    }).toReversed()

    const historyOf = historiesOf(runs)
    for (const { files: all } of runs) for (const file of all) historyOf(file)
    return looks
  }
  expect(looksAt(200)).toBeLessThan(looksAt(100) * 2.1)
})
