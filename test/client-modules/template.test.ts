import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
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
  expect(files.length).toBeGreaterThan(2)
  for (const [name, text] of files) {
    const path = `src/clients/sprout/${name}`
    const formatted = spawnSync(process.execPath, [biome, 'format', `--stdin-file-path=${path}`], {
      input: text,
      encoding: 'utf8',
    })
    expect([path, formatted.stdout]).toEqual([path, text])
  }
})

test('the example client in docs/adding-a-client.md compiles, and can be set up, read back and undone', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'repoint-template-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  writeFileSync(join(folder, 'tested.json'), '{ "rows": [] }')
  const recordings = { date: '', newest: '', tools: {}, requests: [] }
  writeFileSync(join(folder, 'first-requests.json'), JSON.stringify(recordings))
  for (const [name, text] of Object.entries(templateFiles()))
    writeFileSync(
      join(folder, name),
      text
        .replaceAll("'../../", `'${resolve('src')}/`)
        .replaceAll("'../", `'${resolve('src/clients')}/`),
    )
  const config = {
    extends: resolve('tsconfig.json'),
    files: ['sprout.ts', resolve('src/edits/dialects/iarna-toml.d.ts')],
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

  const { sprout } = (await import(join(folder, 'sprout.ts'))) as { sprout: ClientModule }
  const { sproutName } = (await import(join(folder, 'name.ts'))) as { sproutName: ClientName }
  const client: Client = { ...sprout, ...sproutName }

  const disk = { '.sprout/settings.json': '{\n  // mine\n  "theme": "dark",\n}\n' }
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
