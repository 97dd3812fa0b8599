import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { undoNewest } from '../../../src/transaction/undo/choose-runs.ts'
import { endpointSituations } from '../../../src/transaction/undo/run-situations.ts'
import {
  isRefused,
  isSafe,
  type Situation,
  undoSafety,
} from '../../../src/transaction/undo/undo-safety.ts'
import { authPath, settingsPath, UndoMachine } from '../../support/undo-values.ts'

const ourLogin = '{"key": "k1"}'

/** A client after a setup that wrote its address and its key into two files. */
function aClient(addressBefore?: string, loginBefore: string | null = null): UndoMachine {
  const settings = addressBefore === undefined ? {} : { url: addressBefore }
  const machine = new UndoMachine({
    [settingsPath]: `${JSON.stringify(settings)}\n`,
    [authPath]: loginBefore,
  })
  machine.setUp({ url: 'gw', limit: 1 }, ourLogin)
  return machine
}

/** What leads to the situations that the transaction finds in the files of the run. */
const changes: Partial<Record<Situation, () => UndoMachine>> = {
  'endpoint-changed': () => {
    const machine = aClient()
    machine.edit({ url: 'other' })
    return machine
  },
  'key-gone': () => {
    const machine = aClient()
    machine.write(authPath, '{"login": "me"}')
    return machine
  },
  'key-gone-earlier-address': () => {
    const machine = aClient('vendor')
    machine.write(authPath, '{"login": "me"}')
    return machine
  },
  'our-key-stays': () => {
    const machine = aClient(undefined, 'broken {')
    machine.write(authPath, '{"key": "k1", "more": true}')
    return machine
  },
}

const situations = Object.keys(undoSafety) as Situation[]
const verdicts = situations.map((situation) => ({ situation, verdict: undoSafety[situation] }))

describe('the table of an undo', () => {
  test.each(verdicts)('$situation: $verdict', ({ situation, verdict }) => {
    const change = changes[situation]
    const machine = change === undefined ? aClient() : change()
    const findSituations = () => (change === undefined ? [situation] : [])

    const { runs, contents } = machine
    const plan = undoNewest(runs, contents, { findSituations })!
    const limit = plan.kept.find(({ path }) => path[0] === 'limit')
    expect(limit === undefined).toBe(verdict === 'safe')
    expect(isSafe([situation])).toBe(verdict === 'safe')
    expect(isRefused([situation])).toBe(verdict === 'never')

    const forced = undoNewest(runs, contents, { findSituations, force: true })!
    const { copies } = machine
    expect(forced.kept).toEqual([])
    for (const { path, before } of runs[0]!.files)
      expect(copies.bytesOf(forced.result.get(path))).toEqual(copies.bytesOf(before))
  })

  test.each<Situation>(['endpoint-changed', 'key-gone', 'key-gone-earlier-address'])(
    'finds %s before an undo',
    (situation) => {
      const { runs, contents } = changes[situation]!()
      expect(endpointSituations(runs[0]!.files, contents)).toEqual([situation])
    },
  )

  test('is the same in docs/transaction.md', () => {
    const page = readFileSync('docs/transaction.md', 'utf8')
    const rows = [...page.matchAll(/^\| `([a-z-]+)` \| [^|]+ \| `([a-z-]+)` \|$/gm)]
    const documented = rows.map(([, situation, verdict]) => ({ situation, verdict }))
    expect(documented).toEqual(verdicts)
  })
})
