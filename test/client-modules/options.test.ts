import { expect, test } from 'vitest'
import type { ClientFlag, ClientOptions, ValueKind } from '../../src/clients/contract/options.ts'
import { clientRows, loadClient } from '../../src/clients/list.ts'
import { documentOf } from '../../src/edits/format.ts'
import type { Catalog } from '../../src/gateway/types.ts'
import {
  aMachine,
  catalogWithWindows,
  type Disk,
  filesOf,
  planOn,
  previousIn,
  type Setup,
  text,
  written,
} from './support.ts'

/** A value of each kind, as the command line parses it. */
const samples: Readonly<Record<ValueKind, string | number>> = {
  tokens: 91_234,
  model: 'gpt-5.6-luna',
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

/** They decide about a list or a gateway that an earlier setup wrote. */
const needsEarlierSetup = ['--no-catalog', '--keep-old-gateway']

test.each(cases.filter(({ name }) => !needsEarlierSetup.includes(name)))(
  '$id $name: changes what a setup writes',
  async ({ name, row, flag }) => {
    const client = await loadClient(row)
    const afterSetup = (options: ClientOptions, catalog: Catalog) => {
      const { edits } = planOn(client, {}, { options, catalog })
      return edits.map(({ path, after }) => [path, text(after)])
    }

    // A flag may repeat what is known of a GPT model, or what is the default for an unknown one.
    const catalogs = [catalogWithWindows, { models: [{ id: 'house-1' }] }]
    const usable = flag.takes === 'model' ? catalogs.slice(0, 1) : catalogs
    const options = flag.toOptions(sampleFor(flag))
    const isChanged = usable.map(
      (catalog) =>
        JSON.stringify(afterSetup(options, catalog)) !== JSON.stringify(afterSetup({}, catalog)),
    )
    expect(isChanged, `plan() of ${row.id} does not write ${name}`).toContain(true)
  },
)

/** They choose an entry, its place or its protocol. A later setup leaves other entries as they are. */
const choosesEntry = ['--model [id]', '--provider-id <id>', '--protocol <name>']

test.each(cases.filter(({ name }) => !choosesEntry.includes(name)))(
  '$id $name: after --defaults, the files say what a setup without it writes',
  async ({ row, flag }) => {
    const client = await loadClient(row)
    const machine = aMachine()
    const catalog = catalogWithWindows
    const valuesAfter = (disk: Disk, setup: Setup) => {
      const { edits } = planOn(client, disk, { catalog, ...setup })
      const after = written(disk, machine, edits)
      const values = filesOf(client, machine, after).map((file) => [
        file.path,
        documentOf(file, file.bytes)?.root,
      ])
      return { after, values: Object.fromEntries(values) }
    }

    const first = valuesAfter({}, { options: flag.toOptions(sampleFor(flag)) })
    const input = { requested: {}, resetToDefaults: true }
    const reset = valuesAfter(first.after, { target: { input, earlier: () => [null] } })
    expect(reset.values).toEqual(valuesAfter({}, {}).values)
  },
)
