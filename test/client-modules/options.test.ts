import { expect, test } from 'vitest'
import type { ClientFlag, ValueKind } from '../../src/clients/client.ts'
import { clientRows, loadClient } from '../../src/clients/list.ts'
import {
  aMachine,
  catalogWithWindows,
  filesOf,
  planOn,
  previousIn,
  text,
  written,
} from './support.ts'

/** A value of each kind, as the command line parses it. */
const samples: Readonly<Record<ValueKind, string | number>> = {
  tokens: 91_234,
  model: 'gpt-5.4-mini',
}

function sampleFor({ flag, choices, takes }: ClientFlag): string | number | boolean {
  if (flag.startsWith('--no-')) return false
  const hasValue = /[<[]/.test(flag)
  if (!hasValue) return true
  return takes === undefined ? (choices?.[0] ?? 'chosen') : samples[takes]
}

/**
 * `--catalog` needs the installed Codex. Without images or reasoning, an entry lacks a member, which the next setup
 * adds again if the model is known to have the ability.
 */
const notKept = ['--catalog', '--no-images', '--no-reasoning']

const cases = clientRows.flatMap((row) => {
  const kept = row.flags.filter(({ flag }) => !notKept.includes(flag))
  return kept.map((flag) => ({ id: row.id, name: flag.flag, row, flag }))
})

test.each(cases)(
  '$id $name: the next setup keeps what it chose',
  async ({ id, name, row, flag }) => {
    const client = await loadClient(row)
    const machine = aMachine()
    const catalog = catalogWithWindows
    const options = flag.toOptions(sampleFor(flag))
    const first = planOn(client, {}, { options, catalog })
    const disk = written({}, machine, first.edits)
    const state = client.read(filesOf(client, machine, disk))

    const previous = previousIn(client, state)
    const target = { providerId: previous.options.providerId ?? 'gateway' }
    const second = planOn(client, disk, { previous, target, catalog })
    const lost = second.edits.filter(({ before, after }) => text(before) !== text(after))
    expect(
      lost.map(({ path }) => path),
      `read() of ${id} does not return the option of ${name}`,
    ).toEqual([])
  },
)
