import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
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

/** The files of the example module in docs/adding-a-client.md, by their path. */
function templateFiles(): Readonly<Record<string, string>> {
  const page = readFileSync('docs/adding-a-client.md', 'utf8')
  const blocks = page.matchAll(/`src\/clients\/sprout\/(.+?)`:\n\n```ts\n([\s\S]+?)```/g)
  return Object.fromEntries([...blocks].map(([, name, text]) => [name!, text!]))
}

test('the example client in docs/adding-a-client.md has the format of the code', () => {
  const files = Object.entries(templateFiles())
  expect(files.length).toBeGreaterThan(1)
  for (const [name, text] of files) {
    const path = `src/clients/sprout/${name}`
    const formatted = spawnSync(process.execPath, [biome, 'format', `--stdin-file-path=${path}`], {
      input: text,
      encoding: 'utf8',
    })
    expect([path, formatted.stdout]).toEqual([path, text])
  }
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
  const { body } = client.firstRequest(await client.loadRecordings(), [], input)
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
  expect(added).toContain("    load: async () => (await import('./acme/acme.ts')).acme,")
  expect(added.length).toBeLessThan(row.split('\n').length + 1)

  expect(Object.keys(files)).toContain('src/clients/acme/first-requests.json')
  const facts = /\d\.\d+\.\d|sprout/i
  expect(Object.entries(files).filter(([, text]) => facts.test(text))).toEqual([])
})
