import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
// @ts-expect-error plain JavaScript, shared with the scripts
import { packageSets } from '../../scripts/install.js'
import type { Gateway } from '../../src/serve/index.ts'
import { startGateway } from '../../src/serve/index.ts'
import rules from '../../src/serve/requests/rules.json' with { type: 'json' }
import shapes from '../../src/serve/requests/shapes.json' with { type: 'json' }
import { ask, jsonOf, saying } from './support/gateway.ts'

/** One gateway for all: nothing that is asked here stays in it. */
let gateway: Gateway

beforeAll(async () => {
  gateway = await startGateway()
  return () => gateway.close()
})

const paths: Readonly<Record<string, string>> = {
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
  messages: '/v1/messages',
}

interface Row {
  readonly source: string
  readonly path: string
  /** What goes over the smallest good body. */
  readonly more: Readonly<Record<string, unknown>>
  readonly headers: Record<string, string>
  readonly expected: string
}

/** The rows of a file whose headings name a protocol and a source; `=>` stands before what is expected. */
function rowsOf(file: string): readonly Row[] {
  let [path, source] = ['', '']
  return readFileSync(`test/fixtures/gateway/${file}`, 'utf8')
    .split('\n')
    .flatMap((line) => {
      const heading = /^== (\w+): (.*) ==$/.exec(line)
      if (heading !== null) [path, source] = [paths[heading[1]!]!, heading[2]!]
      if (!line.startsWith('{')) return []
      const [body = '', expected = ''] = line.split(' => ')
      const { headers = {}, ...more } = JSON.parse(body)
      return [{ source, path, more, headers, expected }]
    })
}

const answerTo = ({ path, more, headers }: Row) =>
  ask(gateway, path, { ...saying(path, 'hi'), ...more }, headers)

describe('refused', () => {
  const refused = rowsOf('refused.txt')

  test('rules: every row has a source', () => {
    expect(refused.length).toBeGreaterThan(150)
    for (const { source } of refused) expect(source).toMatch(/^(https:|types of|not done here)/)
  })

  test.each(refused)('rules: $path $more', async (row) => {
    const answer = await answerTo(row)
    const { error } = await jsonOf(answer)
    expect([answer.status, error?.type]).toEqual([400, 'invalid_request_error'])
    expect(error.message).toContain(row.expected)
    if (row.source === 'not done here' && !row.path.endsWith('messages'))
      expect(error.code).toBe('unsupported_by_local_gateway')
  })
})

test('rules: the shapes are of the SDKs that the suites run, and each row of rules says its source', () => {
  for (const [name, version] of Object.entries(shapes.versions))
    expect([name, packageSets.sdk[name], packageSets.schemas[name]]).toEqual([
      name,
      version,
      version,
    ])
  for (const row of [...rules.chat, ...rules.responses, ...rules.messages])
    expect([row.at, row.source]).toEqual([
      row.at,
      expect.stringMatching(/2026-1[12]-\d\d|^not done here|^words of their own/),
    ])
})

describe('taken', () => {
  test.each(rowsOf('taken.txt'))('rules: $path takes $more ($source)', async (row) => {
    const answer = await answerTo(row)
    const said = await answer.text()
    expect([answer.status, answer.status === 200 ? '' : said]).toEqual([200, ''])
  })
})

test.each([
  ['/v1/chat/completions', 'gpt-5.4-mini', 400_000, 'context_length_exceeded'],
  ['/v1/responses', 'gpt-5.4-mini', 400_000, 'context_length_exceeded'],
  ['/v1/messages', 'claude-haiku-4-5-20251001', 200_000, undefined],
] as const)(
  'rules: %s: what is longer than the window of %s',
  async (path, model, window, code) => {
    const fitting = await ask(gateway, path, saying(path, 'x'.repeat(4 * (window - 1)), model))
    expect(fitting.status).toBe(200)
    const answer = await ask(gateway, path, saying(path, 'x'.repeat(4 * window), model))
    const { error } = await jsonOf(answer)
    expect([answer.status, error.code]).toEqual([400, code])
    expect(error.message).toMatch(
      /^(prompt is too long: 200001 tokens > 200000 maximum|Your input exceeds the context window|This model's maximum context length is 400000 tokens\.)/,
    )
  },
)
