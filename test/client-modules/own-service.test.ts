import { describe, expect, test } from 'vitest'
import type { Client } from '../../src/clients/contract/client.ts'
import { loadClients } from '../../src/clients/list.ts'
import { isAtGateway, planOwnService } from '../../src/clients/plan/own-service.ts'
import { describeEdit } from '../../src/edits/describe.ts'
import { formatOf } from '../../src/edits/format.ts'
import type { FileEdit, SettingPath } from '../../src/edits/types.ts'
import { uniquePaths } from '../../src/edits/values/paths.ts'
import { undoOurs } from '../edits/undo-ours.ts'
import { livedInHome } from '../support/fixtures.ts'
import {
  aMachine,
  filesOf,
  key,
  planOn,
  readValues,
  text,
  waysOf,
  windows,
  written,
} from './support.ts'

/** There are no records, as if another tool had written the files of a setup. */
describe.each((await loadClients()).map((client) => [client.id, client] as const))(
  '%s',
  (_, client) => {
    const livedIn = livedInHome(client.family)
    const ways = waysOf(client)
    // On Windows only the paths differ, so one home and one key header are enough.
    const onWindows = ways.filter(({ keyHeader }) => keyHeader === 'authorization')
    const homes = [
      ...ways.map((way) => ({ ...way, machine: aMachine(), disk: {} })),
      ...ways.map((way) => ({ ...way, machine: aMachine(), disk: livedIn })),
      ...onWindows.map((way) => ({ ...way, machine: aMachine(windows), disk: livedIn })),
    ]

    test.each(homes)('$way, on $machine.os: the plan removes everything of the gateway', (home) => {
      const { machine, disk, options, keyHeader } = home
      const headers = [{ name: 'x-team', value: 'tools-of-the-gateway', isSecret: true as const }]
      const setUp = planOn(client, disk, { machine, options, target: { keyHeader, headers } })
      const before = written(disk, machine, setUp.edits)
      const files = filesOf(client, machine, before)
      expect(isAtGateway(client, files)).toBe(true)

      const edits = planOwnService(client, files)
      const after = filesOf(client, machine, written(before, machine, edits))
      const state = client.read(after)
      expect(state.endpoint.baseUrl).toBeUndefined()
      expect(state.findings).toEqual([])
      expect(isAtGateway(client, after)).toBe(false)
      const remaining = after
        .filter(({ use }) => use === 'editable')
        .map(({ bytes }) => text(bytes))
      expect(remaining.join('\n')).not.toMatch(/gw\.example|sk-test-0123|tools-of-the-gateway/)

      const second = planOwnService(client, after)
      for (const edit of second) expect(edit.after).toEqual(edit.before)
    })

    test('the plan keeps every setting of the user next to those of the gateway', () => {
      const { machine, edits: onEmptyHome } = planOn(client, {})
      const ofUser = onEmptyHome.map((edit) => {
        const neighbors = tablesIn(client, edit).map((table) => [...table, 'mine'])
        const changes = neighbors.map((path) => ({ path, value: 'kept' }))
        return { ...edit, neighbors, after: formatOf(edit.format).edit(null, changes, edit.path) }
      })
      const withNeighbors = ofUser.filter(({ neighbors }) => neighbors.length > 0)
      const disk = written({}, machine, withNeighbors)

      const before = written(disk, machine, planOn(client, disk).edits)
      const edits = planOwnService(client, filesOf(client, machine, before))
      for (const { path, format, neighbors } of withNeighbors) {
        const after = formatOf(format).read(edits.find((edit) => edit.path === path)!.after!, path)
        const removed = neighbors.filter((neighbor) => after.get(neighbor) !== 'kept')
        expect(removed, `gatewaySettings() of ${client.id} has settings of the user`).toEqual([])
      }
    })

    test('the plan removes the address first, shows no secret, and undo restores every byte', () => {
      const { machine, edits: setUp } = planOn(client, livedIn)
      const before = written(livedIn, machine, setUp)
      const files = filesOf(client, machine, before)
      const edits = planOwnService(client, files)

      const first = written(before, machine, edits.slice(0, 1))
      expect(readValues(client, machine, first).baseUrl).toBeUndefined()

      const shown = edits.flatMap((edit) => describeEdit(edit, { showPath: (path) => path }))
      expect(shown.join('\n')).not.toContain(key)
      for (const { changes, before: old, after, format, path } of edits) {
        expect(JSON.stringify(changes.map((change) => change.path))).not.toContain(key)
        const versions = { before: old, written: after, now: after }
        const paths = changes.map((change) => change.path)
        expect(undoOurs(formatOf(format), versions, paths, path).bytes).toEqual(old)
      }
    })
  },
)

/** The tables that hold a changed setting, other than the root, a list, and what belongs to one provider. */
function tablesIn(client: Client, { changes, scope }: FileEdit): readonly SettingPath[] {
  const { rows } = client.config.sensitiveSettings
  const providers = rows
    .map(({ path }) => path.split('.'))
    .filter((path) => path.includes(':provider'))
    .map((path) => path.slice(0, path.indexOf(':provider')))
  const isOfProviders = (path: SettingPath) =>
    providers.some((table) => table.every((name, index) => name === path[index]))

  const tables = changes
    .filter(({ path, value }) => value !== undefined && scope !== 'whole' && path.length > 1)
    .map(({ path }) => path.slice(0, -1))
  return uniquePaths(tables).filter(
    (path) => path.every((name) => typeof name === 'string') && !isOfProviders(path),
  )
}
