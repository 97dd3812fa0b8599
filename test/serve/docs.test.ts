import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { define } from '../../src/commands/serve.ts'
import { flagNames, parseFault, wordNames } from '../../src/serve/faults/fault-members.ts'
import { type Fault, faultNames } from '../../src/serve/index.ts'
import { readScenario } from '../../src/serve/scenarios/scenario.ts'
import { readCatalogFile } from '../../src/serve/settings/catalog-file.ts'
import { blocksOf, moduleOf, needsSdk } from '../support/doc-blocks.ts'
import { aGateway, ask, jsonOf, saying } from './support/gateway.ts'

/** Runs every example in docs/gateway.md that can be run. */

const page = 'docs/gateway.md'
const blocks = blocksOf(page)
const scripts = blocks.filter(({ language }) => language === 'js')

// An example registers its own tests; those with SDKs run in test/sdk.
for (const block of scripts.filter((one) => !needsSdk(one)))
  describe(`the example in line ${block.line}`, async () => {
    await import(/* @vite-ignore */ moduleOf(block))
  })

test('docs/gateway.md: each example has its own tests', () => {
  expect(scripts.length).toBeGreaterThan(3)
  for (const { text } of scripts) expect(text).toMatch(/\btest(\.concurrent)?\('/)
})

test('docs/gateway.md: each YAML block is a scenario or a catalog', () => {
  const written = blocks.filter(({ language }) => language === 'yaml')
  expect(written.length).toBeGreaterThan(2)
  for (const { text } of written) {
    const data = parse(text)
    if (Array.isArray(data)) expect(readCatalogFile(data).length).toBeGreaterThan(0)
    else expect(readScenario(data).answers.length).toBeGreaterThan(0)
  }
})

describe('docs/gateway.md: commands', () => {
  const lines = blocks
    .filter(({ language }) => language === '')
    .flatMap(({ text }) => text.replaceAll('\\\n', ' ').trim().split('\n'))

  test.each(lines.filter((line) => !line.startsWith('curl')))('%s', (line) => {
    const words = line.replace(/ +# .*/, '').split(/ +/)
    const known = ['repoint', 'npm', 'codex', 'REPOINT_UPSTREAM_KEY=…']
    expect(known).toContain(words[0])
    const at = words.indexOf('serve')
    if (!words.includes('repoint') || at === -1) return
    const command = define()
      .exitOverride()
      .configureOutput({ writeErr: () => {} })
    expect(() => command.parse(words.slice(at + 1), { from: 'user' })).not.toThrow()
  })

  test.each(lines.filter((line) => line.startsWith('curl')))('%s', async (line) => {
    const gateway = await aGateway()
    const env = { REPOINT_BASE_URL: gateway.url, REPOINT_API_KEY: gateway.key }
    const script = line.replaceAll(/\$(\w+)/g, (_, name: keyof typeof env) => env[name])
    const parts = /^curl -X (\w+) (\S+) -H "([^:]+): ([^"]+)"\s+-d '([^']+)'$/.exec(script)!
    const [, method = '', url = '', name = '', value = '', body = ''] = parts
    const answer = await fetch(url, { method, headers: { [name]: value }, body })
    expect([answer.status, await answer.json()]).toEqual([200, JSON.parse(body)])
  })
})

describe('docs/gateway.md: faults', () => {
  const text = readFileSync(page, 'utf8')
  const section = text.slice(text.indexOf('\n## Faults'), text.indexOf('\n## The catalog'))
  const rows = section
    .split('\n')
    .filter((line) => /^\| (?!`--fault`|---|Name)/.test(line))
    .map((line) => line.split(/ *\| */).slice(1, -1))
  const codes = (cell: string) => [...cell.matchAll(/`([^`]+)`/g)].map(([, code]) => code!)
  const errors = rows.filter(([, cell]) => /^\d{3}/.test(cell!))
  const effects = rows.filter((row) => !errors.includes(row))

  test('the table names every word of --fault, and its form in JSON', () => {
    const words = effects.flatMap(([cell]) => codes(cell!))
    const members = effects.flatMap(([, cell]) => codes(cell!))
    const documented = words.map((word, index) => [
      word.split('=')[0]!,
      members.filter((one) => one !== 'error: NAME')[index]!.split(':')[0]!,
    ])
    const known = [...flagNames, ...wordNames].map((pair) => [...pair])
    expect(documented.sort()).toEqual(known.sort())
  })

  test('the tables name every error', () => {
    expect(errors.flatMap(([cell]) => codes(cell!))).toEqual([...faultNames])
  })

  test.each(errors)('%s: has the status and the message of the tables', async (name, ...cells) => {
    const isVendors = cells[1]!.startsWith('4') || cells[1]!.startsWith('5')
    const gateway = await aGateway({ faults: [{ error: codes(name)[0] } as Fault] })
    const openai = await ask(gateway, '/v1/responses', { model: 'gpt-5.6', input: 'ping' })
    const { error } = await jsonOf(openai)
    if (!isVendors) {
      expect([String(openai.status), error.code]).toEqual([cells[0], codes(cells[1]!)[0] ?? ''])
      return
    }

    const [type, code] = codes(cells[1]!)
    const sameName = cells[1]!.includes('of the same name') ? codes(name)[0] : null
    const [ofAnthropic, ofOpenai] = cells.map((cell) => Number.parseInt(cell, 10))
    const said = [openai.status, error.type, error.code]
    expect(said).toEqual([ofOpenai, type, code ?? sameName])
    const body = saying('/v1/messages', 'ping', 'claude-opus-5-5')
    const anthropic = await ask(gateway, '/v1/messages', body)
    expect(anthropic.status).toBe(ofAnthropic)
    expect((await jsonOf(anthropic)).error.type).toBe(codes(cells[0]!)[0])
  })

  test('every --fault on the page is valid', () => {
    const shown = [...text.matchAll(/--fault ([a-z][\w=,-]*)/g)].map(([, fault]) => fault!)
    expect(shown.length).toBeGreaterThan(0)
    for (const fault of shown) expect(() => parseFault(fault)).not.toThrow()
  })
})
