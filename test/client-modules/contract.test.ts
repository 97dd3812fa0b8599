import { describe, expect, test } from 'vitest'
import type { Client } from '../../src/clients/contract/client.ts'
import type { ConfigFile } from '../../src/clients/contract/files.ts'
import { launchKeyVariable } from '../../src/clients/contract/program.ts'
import { loadAllClients, loadClients } from '../../src/clients/list.ts'
import { describeEdit } from '../../src/edits/describe.ts'
import { formatOf } from '../../src/edits/format.ts'
import { UserError, valueOrError } from '../../src/errors.ts'
import type { Machine } from '../../src/platform/platform.ts'
import { undoOurs } from '../edits/undo-ours.ts'
import { livedInHome } from '../support/fixtures.ts'
import {
  aMachine,
  catalog,
  catalogWithWindows,
  type Disk,
  earlierIn,
  filesOf,
  findingsOn,
  inputFor,
  key,
  planOn,
  readValues,
  type Setup,
  waysOf,
  windows,
  written,
} from './support.ts'

const newKey = 'sk-another-9876543210fedcba'

function homesOf({ family }: Client): readonly (readonly [string, Disk, Machine])[] {
  const livedIn = livedInHome(family)
  return [
    ['an empty home', {}, aMachine()],
    ['a lived-in home', livedIn, aMachine()],
    ['a lived-in home of Windows', livedIn, aMachine(windows)],
  ]
}

/** The files that the client reads on a disk where every file exists. */
function everyFileOf(client: Client, machine: Machine): readonly ConfigFile[] {
  const names = ['a.config.toml', 'a.json', 'a.md']
  return client.files(machine, { exists: () => true, entries: () => names, readStart: () => '' })
}

/** The ways to test on a machine. On Windows only the paths differ, so one key header is enough. */
function waysOn({ os }: Machine, client: Client) {
  return waysOf(client).filter(({ keyHeader }) => os !== 'win32' || keyHeader === 'authorization')
}

/** What a file contains, as its name says. */
function contentByName(path: string): NonNullable<ConfigFile['content']> {
  if (path.endsWith('.md')) return 'agent'
  if (/\/\.env[^/]*$/.test(path)) return 'variables'
  return /\/(?:(?:auth|\.credentials|oauth_creds)\.json|repoint-key)$/.test(path)
    ? 'credentials'
    : 'settings'
}

describe.each((await loadClients()).map((client) => [client.id, client] as const))(
  '%s',
  (_, client) => {
    test.each(homesOf(client))('in %s, the key and the address have a role', (_, disk, machine) => {
      const { edits, target } = planOn(client, disk, { machine })
      const changes = edits.filter(({ scope }) => scope === 'keys').flatMap((edit) => edit.changes)
      const [, host] = target.baseUrl.split('//')
      const withoutRole = changes.filter(({ value, role }) => {
        const written = JSON.stringify(value) ?? ''
        return role === undefined && (written.includes(target.key) || written.includes(host!))
      })
      expect(withoutRole, 'add rows to sensitiveSettings').toEqual([])
    })

    test('each file says whose it is, and what is in it', () => {
      const machine = aMachine()
      const files = everyFileOf(client, machine)

      const otherTargets = files.filter(({ use, owner }) => use === 'editable' && owner !== 'user')
      expect(otherTargets).toEqual([])
      const ofFolder = files.filter(({ path }) => path.startsWith(machine.cwd))
      expect(ofFolder.filter(({ owner }) => owner !== 'folder')).toEqual([])
      const ofSystem = files.filter(({ path }) => /^\/(?:etc|Library)\//.test(path))
      expect(ofSystem.filter(({ owner }) => owner !== 'administrator')).toEqual([])

      for (const { path, content = 'settings' } of files)
        expect([path, content]).toEqual([path, contentByName(path)])
    })

    test('each kind that it names is the kind of one of its files', () => {
      const own = everyFileOf(client, aMachine()).map(({ kind }) => kind)
      const disk = livedInHome(client.family)
      const { machine, edits } = planOn(client, disk)
      const after = filesOf(client, machine, written(disk, machine, edits))

      const ofSettings = client.config.sensitiveSettings.rows.flatMap(({ fileKinds }) => fileKinds)
      const named = {
        sensitiveSettings: [...new Set(ofSettings)],
        gatewaySettings: Object.keys(client.gatewaySettings(after)),
      }
      for (const [member, kinds] of Object.entries(named)) {
        const unknown = kinds.filter((kind) => !own.includes(kind))
        expect(unknown, `${member} of ${client.id} names kinds that files() never returns`).toEqual(
          [],
        )
      }
    })

    test('a model that no rule chooses is an error', () => {
      const error = valueOrError(() => client.resolve(inputFor({ models: [] })))
      expect(['usage', 'model-unknown']).toContain((error as UserError).code)
    })

    describe.each(homesOf(client))('on %s', (_, disk, machine) => {
      describe.each(waysOn(machine, client))('$way', ({ protocol, keyHeader, options }) => {
        const env = { ANTHROPIC_API_KEY: 'sk-x', ANTHROPIC_MODEL: 'x', CODEX_API_KEY: 'sk-y' }
        const shell = { ...machine, env }
        const setup: Setup = { options, target: { keyHeader }, catalog: catalogWithWindows }
        const { edits, target } = planOn(client, disk, { ...setup, machine: shell })
        const after = written(disk, machine, edits)

        test('the client reads back the chosen values, and check finds nothing', () => {
          const state = client.read(filesOf(client, machine, after))
          expect(state.endpoint).toMatchObject({ baseUrl: target.baseUrl, key, keyHeader })
          expect(state.options.protocol ?? client.protocols[0]).toBe(protocol)
          expect(state.endpoint.alsoSendsTo).toBeUndefined()
          expect(state.findings).toEqual([])
          expect(state.login).toBeUndefined()
          const remaining = findingsOn(client, after, machine)
          expect(remaining.filter(({ severity }) => severity === 'error')).toEqual([])
          expect(client.resolve(inputFor(catalog, {}, earlierIn(client, state)))).toMatchObject({
            probeModel: target.resolved.probeModel,
            ...options,
          })
        })

        test('a second setup changes nothing, even in another shell', () => {
          for (const other of machine.os === 'win32' ? [machine] : [shell, machine]) {
            const second = planOn(client, after, { ...setup, machine: other })
            for (const edit of second.edits) expect(edit.after).toEqual(edit.before)
          }
        })

        test('undo restores the earlier bytes', () => {
          for (const edit of edits) {
            const versions = { before: edit.before, written: edit.after, now: edit.after }
            const paths = edit.changes.map(({ path }) => path)
            expect(undoOurs(formatOf(edit.format), versions, paths, edit.path)).toEqual({
              bytes: edit.before,
              kept: [],
            })
          }
        })
      })

      test('a setup keeps every key of other tools', () => {
        const { edits } = planOn(client, disk, { machine })
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

      test('the first request is known for every protocol, and does not contain the key', async () => {
        const { machine, edits, target } = planOn(client, disk)
        const files = filesOf(client, machine, written(disk, machine, edits))
        const { probeModel: model } = target.resolved
        const requests = await Promise.all(
          client.protocols.map((protocol) =>
            client.firstRequest(files, { model, protocol, env: {} }),
          ),
        )
        expect(requests.some(({ body }) => Object.keys(body).length > 0)).toBe(true)
        expect(JSON.stringify(requests)).not.toContain(key)
      })

      test('undo removes only our keys if someone else has changed the file', () => {
        const { edits } = planOn(client, disk, { machine })
        for (const edit of edits.filter(({ scope }) => scope === 'keys')) {
          const format = formatOf(edit.format)
          const now = format.edit(edit.after, [{ path: ['later'], value: 'x' }], edit.path)
          const paths = edit.changes.map(({ path }) => path)
          const undone = undoOurs(
            format,
            { before: edit.before, written: edit.after, now },
            paths,
            '',
          )
          const remaining = format.read(undone.bytes!, edit.path)
          const before = edit.before && format.read(edit.before, edit.path)
          expect({ ...remaining.root }).toEqual({ ...before?.root, later: 'x' })
        }
      })

      test('no description and no finding contains a secret', () => {
        const first = planOn(client, disk, { machine })
        const after = written(disk, machine, first.edits)
        const second = planOn(client, after, { machine, target: { key: newKey } })
        const shown = [first, second].flatMap(({ edits, findings }) => [
          ...edits.flatMap((edit) => describeEdit(edit, { showPath: (path) => path })),
          JSON.stringify(findings),
        ])
        expect(shown.join('\n')).not.toMatch(/sk-(test-0123|another-98|users-own-key)/)
        expect(shown.join('\n')).toContain(first.edits[0]!.path)
      })

      test('a setup writes the same files from every folder, so that all of them can be undone', () => {
        const targetsIn = (cwd: string) =>
          filesOf(client, { ...machine, cwd }, disk).flatMap(({ use, path }) =>
            use === 'editable' ? [path] : [],
          )
        expect(targetsIn(machine.os === 'win32' ? 'D:\\other' : '/srv/other')).toEqual(
          targetsIn(machine.cwd),
        )
      })

      test('a plan edits the files in the order of the list, and writes the key no later than the address', () => {
        const { files, edits, target } = planOn(client, disk, { machine })
        const targets = files.filter(({ use, isOptional }) => use === 'editable' && !isOptional)
        expect(edits.map(({ path }) => path)).toEqual(targets.map(({ path }) => path))
        const firstOnly = written(disk, machine, edits.slice(0, 1))
        const { endpoint } = client.read(filesOf(client, machine, firstOnly))
        if (endpoint.baseUrl === target.baseUrl) expect(endpoint.key).toBe(key)
      })
    })

    test('a hostile model ID stays inside its string', () => {
      const id = 'x"\n[evil]\na = "b\\'
      const { edits, files, machine } = planOn(
        client,
        {},
        {
          catalog: { models: [...catalog.models, { id }] },
          options: { model: id },
        },
      )
      const after = written({}, machine, edits)
      expect(files.length).toBeGreaterThan(0)
      const state = readValues(client, machine, after)
      expect([state.model, ...Object.values(state.slotModels ?? {})]).toContain(id)
    })
  },
)

describe.each((await loadAllClients()).map((client) => [client.id, client] as const))(
  '%s in a run',
  (_, client) => {
    const [, livedIn, onWindows] = homesOf(client)
    const cases = [livedIn!, onWindows!].flatMap(([home, disk, machine]) =>
      waysOn(machine, client).map((way) => ({ ...way, home, disk, machine })),
    )

    test.each(cases)('$way, on $home: no file and no argument contains the key', (run) => {
      const { machine, disk, options, keyHeader } = run
      const { files, target } = planOn(client, disk, { machine, options, target: { keyHeader } })
      const launchInput = { args: [], tempFolder: machine.cwd, env: { [launchKeyVariable]: key } }
      const settings = valueOrError(() => client.launchSettings(files, target, launchInput))
      // Some clients cannot read every value from outside their files.
      if (settings instanceof UserError)
        return expect(settings.code).toMatch(/^(protocol-unsupported|usage)$/)
      expect(JSON.stringify([settings.args, settings.files])).not.toContain(key)
    })
  },
)
