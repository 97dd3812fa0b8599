import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
// @ts-expect-error plain JavaScript, shared with the script
import { exampleFor, withRow } from '../../scripts/new-client.js'
import type { Client, ClientModule, ClientName } from '../../src/clients/contract/client.ts'
import { formatOf } from '../../src/edits/format.ts'
import { undoOurs } from '../edits/undo-ours.ts'
import { key, planOn, readValues, written } from './support.ts'

const compiler = resolve('node_modules/typescript/bin/tsc')
const biome = resolve('node_modules/@biomejs/biome/bin/biome')

test('the example client in docs/adding-a-client.md has the format of the code', () => {
  const path = 'src/clients/sprout/sprout.ts'
  const { files } = exampleFor('sprout') as { files: Record<string, string> }
  const formatted = spawnSync(process.execPath, [biome, 'format', `--stdin-file-path=${path}`], {
    input: files[path]!,
    encoding: 'utf8',
  })
  expect(formatted.stdout).toBe(files[path])
})

test('the page names members and functions that are there', () => {
  const code = readdirSync('src/clients', { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => readFileSync(join('src/clients', path), 'utf8'))
    .join('\n')
  const [, section = ''] = readFileSync('docs/adding-a-client.md', 'utf8').split('also need:\n')
  const [table = ''] = section.split('\n- ')
  const names = [...table.matchAll(/`(?:\w+\.)?([a-z]\w+)(?:\(\w+\)\.\w+)?`/g)].map(
    ([, name]) => name!,
  )
  expect(names.length).toBeGreaterThan(20)
  expect(names.filter((name) => !new RegExp(`\\b${name}\\b`).test(code))).toEqual([])
})

test('what scripts/new-client.js writes compiles, and can be set up, read back and undone', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'repoint-template-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  const { files, names } = exampleFor('acme') as { files: Record<string, string>; names: string }
  const allNames = `${readFileSync('src/clients/names.ts', 'utf8')}\n${names}`
  for (const [path, text] of Object.entries({ ...files, 'src/clients/acme/names.ts': allNames }))
    writeFileSync(
      join(folder, basename(path)),
      text
        .replace("'../names.ts'", "'./names.ts'")
        .replace("'./contract", `'${resolve('src/clients/contract')}`)
        .replaceAll("'../../", `'${resolve('src')}/`)
        .replaceAll("'../", `'${resolve('src/clients')}/`),
    )
  const config = {
    extends: resolve('tsconfig.json'),
    files: ['acme.ts', resolve('src/edits/dialects/iarna-toml.d.ts')],
    include: [],
    compilerOptions: {
      noEmit: true,
      rewriteRelativeImportExtensions: false,
      typeRoots: [resolve('node_modules/@types')],
    },
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
  const checked = spawnSync(process.execPath, [compiler, '-p', folder], { encoding: 'utf8' })
  expect(checked.stdout).toBe('')

  const { acme } = (await import(join(folder, 'acme.ts'))) as { acme: ClientModule }
  const { acmeName } = (await import(join(folder, 'names.ts'))) as { acmeName: ClientName }
  const client: Client = { ...acme, ...acmeName }

  const disk = { '.acme/settings.json': '{\n  // mine\n  "theme": "dark",\n}\n' }
  const { machine, edits, target } = planOn(client, disk)
  const state = readValues(client, machine, written(disk, machine, edits))
  expect(state).toMatchObject({ baseUrl: target.baseUrl, key, model: target.resolved.model })

  // Before its requests are recorded, a probe sends a minimal one.
  const input = { protocol: 'chat', model: 'gpt-5.6-sol', env: {} } as const
  const { body } = await client.firstRequest([], input)
  expect(body).toMatchObject({ messages: [{ role: 'user' }], stream: true })

  for (const { before, after, changes, format, path } of edits) {
    const paths = changes.map((change) => change.path)
    const versions = { before, written: after, now: after }
    expect(undoOurs(formatOf(format), versions, paths, path).bytes).toEqual(before)
  }
})

test('scripts/new-client.js adds a row, and claims no fact of the example', () => {
  const { files, row } = exampleFor('acme') as { files: Record<string, string>; row: string }
  const before = readFileSync('src/clients/list.ts', 'utf8')
  const after: string = withRow(before, 'acme', row)
  const added = after.split('\n').filter((line) => !before.includes(line))
  expect(after).toContain('acmeName')
  expect(added).toContain("    load: async () => (await import('./modules.ts')).acme,")
  expect(added.length).toBeLessThan(row.split('\n').length + 1)

  expect(Object.keys(files)).toContain('src/clients/acme/first-requests.json')
  const facts = /\d\.\d+\.\d|sprout/i
  expect(Object.entries(files).filter(([, text]) => facts.test(text))).toEqual([])
})
