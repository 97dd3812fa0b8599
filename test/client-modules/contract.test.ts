import { describe, expect, test } from 'vitest'
import { loadClients } from '../../src/clients/list.ts'
import { describeEdit } from '../../src/edits/describe.ts'
import { formatOf } from '../../src/edits/format.ts'
import { livedInHome } from '../support/fixtures.ts'
import {
  aMachine,
  catalog,
  catalogWithWindows,
  type Disk,
  key,
  obstaclesOn,
  planOn,
  textsOf,
  wanted,
  written,
} from './support.ts'

const newKey = 'sk-another-9876543210fedcba'

describe.each((await loadClients()).map((client) => [client.id, client] as const))(
  '%s',
  (_, client) => {
    const homes: readonly (readonly [string, Disk])[] = [
      ['an empty home', {}],
      ['a lived-in home', livedInHome(client.family)],
    ]

    describe.each(homes)('on %s', (_, disk) => {
      test('what the client reads back is what was chosen, with nothing in the way', () => {
        const { machine, edits, choice } = planOn(client, disk)
        const after = written(disk, machine, edits)
        const settings = client.readBack(textsOf(client, machine, after))
        expect(settings).toMatchObject({ root: choice.root, key })
        expect(settings.broken).toBeUndefined()
        expect(settings.login).toBeUndefined()
        expect(obstaclesOn(client, after).filter(({ weight }) => weight === 'blocks')).toEqual([])
        expect(client.choose(wanted(catalog, {}, client.asConfigured(settings))).probeModel).toBe(
          choice.models.probeModel,
        )
      })

      test('a second run changes nothing, in another shell too', () => {
        const shell = aMachine({
          env: { ANTHROPIC_API_KEY: 'sk-x', ANTHROPIC_MODEL: 'x', CODEX_API_KEY: 'sk-y' },
        })
        const first = planOn(client, disk, { machine: shell })
        const after = written(disk, shell, first.edits)
        for (const machine of [shell, aMachine()]) {
          const second = planOn(client, after, { machine })
          for (const edit of second.edits) expect(edit.after).toEqual(edit.before)
        }
      })

      test('every key of others survives', () => {
        const { edits } = planOn(client, disk)
        for (const edit of edits.filter(({ scope }) => scope === 'keys')) {
          if (edit.before === null) continue
          const before = formatOf(edit.format).read(edit.before, edit.path)
          const after = formatOf(edit.format).read(edit.after!, edit.path)
          const ours = (path: readonly string[]) =>
            edit.changes.some((change) => change.path.join('\0').startsWith(path.join('\0')))
          const foreign = Object.keys(before.root).filter((name) => !ours([name]))
          expect(foreign).not.toEqual([])
          for (const name of foreign) expect(after.get([name])).toEqual(before.get([name]))
        }
      })

      test('undo gives the bytes from before', () => {
        const { edits } = planOn(client, disk, { catalog: catalogWithWindows })
        for (const edit of edits) {
          const versions = { before: edit.before, written: edit.after, current: edit.after }
          const paths = edit.changes.map(({ path }) => path)
          expect(formatOf(edit.format).undo(versions, paths, edit.path)).toEqual({
            bytes: edit.before,
            kept: [],
          })
        }
      })

      test('undo after someone else wrote to the file takes out our keys alone', () => {
        const { edits } = planOn(client, disk)
        for (const edit of edits.filter(({ scope }) => scope === 'keys')) {
          const format = formatOf(edit.format)
          const current = format.edit(edit.after, [{ path: ['later'], value: 'x' }], edit.path)
          const paths = edit.changes.map(({ path }) => path)
          const undone = format.undo(
            { before: edit.before, written: edit.after, current },
            paths,
            '',
          )
          const left = format.read(undone.bytes!, edit.path)
          const before = edit.before && format.read(edit.before, edit.path)
          expect({ ...left.root }).toEqual({ ...before?.root, later: 'x' })
        }
      })

      test('no secret stands in any description or obstacle', () => {
        const first = planOn(client, disk)
        const after = written(disk, first.machine, first.edits)
        const second = planOn(client, after, { choice: { key: newKey } })
        const shown = [first, second].flatMap(({ edits, obstacles }) => [
          ...edits.flatMap((edit) => describeEdit(edit, { showPath: (path) => path })),
          JSON.stringify(obstacles),
        ])
        expect(shown.join('\n')).not.toMatch(/sk-(test-0123|another-98|users-own-key)/)
        expect(shown.join('\n')).toContain(first.edits[0]!.path)
      })

      test('the files switch in the order of the list, the key never after the address', () => {
        const { texts, edits, machine, choice } = planOn(client, disk)
        const targets = texts.filter(({ use, isOptional }) => use === 'target' && !isOptional)
        expect(edits.map(({ path }) => path)).toEqual(targets.map(({ path }) => path))
        const firstOnly = written(disk, machine, edits.slice(0, 1))
        const settings = client.readBack(textsOf(client, machine, firstOnly))
        if (settings.root === choice.root) expect(settings.key).toBe(key)
      })
    })

    test('a hostile model id stays inside its value', () => {
      const id = 'x"\n[evil]\na = "b\\'
      const { edits, texts, machine } = planOn(
        client,
        {},
        {
          catalog: { models: [...catalog.models, { id }] },
          options: { model: id },
        },
      )
      const after = written({}, machine, edits)
      expect(texts.length).toBeGreaterThan(0)
      const settings = client.readBack(textsOf(client, machine, after))
      expect([settings.model, ...Object.values(settings.slotModels ?? {})]).toContain(id)
    })
  },
)
