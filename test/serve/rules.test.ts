import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
// @ts-expect-error plain JavaScript, shared with the scripts
import { packageSets } from '../../scripts/install.js'
import type { Protocol } from '../../src/serve/index.ts'
import { builtInCatalog } from '../../src/serve/index.ts'
import { createModelTest } from '../../src/serve/requests/checks/generations.ts'
import combinations from '../../src/serve/requests/data/combinations.json' with { type: 'json' }
import families from '../../src/serve/requests/data/families.json' with { type: 'json' }
import rules from '../../src/serve/requests/data/rules.json' with { type: 'json' }
import sdkRules from '../../src/serve/requests/data/sdk-rules.json' with { type: 'json' }
import shapes from '../../src/serve/requests/data/shapes.json' with { type: 'json' }
import { openGateway } from '../support/gateway.ts'
import { aGateway, ask, jsonOf, paths, saying } from './support/gateway.ts'

/** One gateway for all tests, because these requests leave nothing in it. */
const gateway = await openGateway({})

interface Row {
  readonly source: string
  readonly path: string
  /** The members that are merged into the smallest valid body. */
  readonly more: Readonly<Record<string, unknown>>
  readonly headers: Record<string, string>
  readonly expected: string
  /** `param` and `code`, if the test compares the whole answer. */
  readonly place: string | undefined
}

/** The rows of a file whose headings name a protocol and a source; `=>` precedes the expected result. */
function rowsOf(file: string): readonly Row[] {
  let [path, source] = ['', '']
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line) => {
      const heading = /^== (\w+): (.*) ==$/.exec(line)
      if (heading !== null) [path, source] = [paths[heading[1] as Protocol], heading[2]!]
      if (!line.startsWith('{')) return []
      const [body = '', expected = '', place] = line.split(' => ')
      const { headers = {}, ...more } = JSON.parse(body)
      return [{ source, path, more, headers, expected, place }]
    })
}

/** A model of the vendor of this protocol. */
const modelOf = (path: string) => (path === paths.messages ? 'claude-sonnet-4-6' : 'gpt-5.6')

const answerTo = ({ path, more, headers }: Row) =>
  ask(gateway, path, { ...saying(path, 'hi', modelOf(path)), ...more }, headers)

/** The whole answer to a row whose place is known. */
function wholeOf({ path, expected, place = '' }: Row, { headers }: Response): object {
  const [param, code] = place.split(' ').map((word) => (word === '-' ? undefined : word))
  const message = `${expected} (request id: ${headers.get('x-oneapi-request-id')})`
  const vendorError = { message, type: 'invalid_request_error' }
  if (path.endsWith('messages')) return { type: 'error', error: vendorError }
  return { error: { ...vendorError, param: param ?? '', code: code ?? null } }
}

describe('refused', () => {
  const refused = ['test/fixtures/gateway/refused.txt', 'test/serve/vendor-refused.txt'].flatMap(
    rowsOf,
  )

  test('rules: every row has a source', () => {
    expect(refused.length).toBeGreaterThan(150)
    for (const { source } of refused)
      expect(source).toMatch(/^(https:|types of|words of|inferred: |not done here)/)
  })

  test.each(refused)('rules: $path $more', async (row) => {
    const answer = await answerTo(row)
    const document = await jsonOf(answer)
    const { error } = document
    const status =
      error?.code === 'unsupported_by_local_gateway' || row.source === 'not done here' ? 501 : 400
    expect([answer.status, error?.type]).toEqual([status, 'invalid_request_error'])
    expect(error.message).toContain(row.expected)
    if (row.place !== undefined) expect(document).toEqual(wholeOf(row, answer))
    if (row.source === 'not done here' && !row.path.endsWith('messages'))
      expect(error.code).toBe('unsupported_by_local_gateway')
  })
})

test('rules: the shapes come from the SDKs that the suites run, and each rule has a source', () => {
  // test/sdk/sdk-data.test.ts reads what a newer one within the range says.
  for (const [name, version] of Object.entries(shapes.versions))
    expect([name, packageSets.sdk[name]]).toEqual([name, `^${version}`])
  for (const row of [...rules.chat, ...rules.responses, ...rules.messages, ...combinations])
    expect([row.paths, row.source]).toEqual([
      row.paths,
      expect.stringMatching(/2026-1[12]-\d\d|^not done here|^words of their own/),
    ])
})

describe('taken', () => {
  test.each(Object.values(paths))('rules: %s: null counts as absent', async (path) => {
    const names = ['temperature', 'tools', 'tool_choice', 'stop', 'metadata']
    const nothing = Object.fromEntries(names.map((name) => [name, null]))
    expect((await ask(gateway, path, { ...saying(path, 'hi'), ...nothing })).status).toBe(200)
  })

  test.each(['test/fixtures/gateway/taken.txt', 'test/serve/vendor-taken.txt'].flatMap(rowsOf))(
    'rules: $path accepts $more ($source)',
    async (row) => {
      const answer = await answerTo(row)
      const answerText = await answer.text()
      expect([answer.status, answer.status === 200 ? '' : answerText]).toEqual([200, ''])
    },
  )
})

test('rules: a gateway that rewrites requests accepts what a family rejects', async () => {
  const rewriting = await aGateway({ families: 'rewritten' })
  const tools = [{ type: 'function', function: { name: 'f' } }]
  const ofChat = { ...saying(paths.chat, 'hi'), tools, max_tokens: 9, temperature: 0 }
  expect((await ask(gateway, paths.chat, ofChat)).status).toBe(400)
  expect((await ask(rewriting, paths.chat, ofChat)).status).toBe(200)
  const ofMessages = { ...saying(paths.messages, 'hi', 'claude-opus-5-5'), temperature: 0.5 }
  expect((await ask(rewriting, paths.messages, ofMessages)).status).toBe(200)
  const strict = await rewriting.scope({ families: 'vendor' })
  expect((await ask(strict, paths.messages, ofMessages)).status).toBe(400)
})

test('rules: each row of the families has a source, and counts for a model of the catalog', () => {
  for (const { paths: rowPaths, source } of families)
    expect([rowPaths, source]).toEqual([
      rowPaths,
      expect.stringMatching(/https:.*(read |from an excerpt \()2026-11-\d\d/),
    ])
  for (const { paths: rowPaths, models } of [...families, ...sdkRules.families])
    expect([
      rowPaths,
      models,
      builtInCatalog.some(({ id }) => createModelTest(models)(id)),
    ]).toEqual([rowPaths, models, true])
})

test.each([
  ['/v1/chat/completions', 'gpt-5.4-mini', 400_000, 'context_length_exceeded'],
  ['/v1/responses', 'gpt-5.4-mini', 400_000, 'context_length_exceeded'],
  ['/v1/messages', 'claude-haiku-4-5-20251001', 200_000, undefined],
] as const)(
  'rules: %s: rejects a request that is longer than the window of %s',
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

const json = { type: 'json_schema', name: 'x' }

test.each<[string, string, (schema: object) => object]>([
  [
    paths.chat,
    'response_format',
    (schema) => ({ type: json.type, json_schema: { name: 'x', schema } }),
  ],
  [paths.responses, 'text', (schema) => ({ format: { ...json, schema } })],
  [paths.messages, 'output_config', (schema) => ({ format: { type: json.type, schema } })],
])('refusals: %s: a schema that no value fits', async (path, member, formatOf) => {
  const a = { type: 'string', enum: [] }
  const properties = { a }
  const required = ['a']
  const schema = { type: 'object', properties, required, additionalProperties: false }
  const answer = await ask(gateway, path, { ...saying(path, 'hi'), [member]: formatOf(schema) })
  expect(answer.status).toBe(400)
  expect((await jsonOf(answer)).error.message).toContain('finds no value that fits the schema')
})

/** An object schema with this many properties, all of them required. */
function objectOf(count: number, property: object, name = 'p') {
  const names = Array.from({ length: count }, (_, index) => `${name}${index}`)
  const properties = Object.fromEntries(names.map((one) => [one, property]))
  return { type: 'object', properties, required: names, additionalProperties: false }
}

const words = (count: number, length: number) =>
  Array.from({ length: count }, (_, index) => `${'x'.repeat(length)}${index}`)
const text = { type: 'string' }
const ofOpenai = (schema: object, strict = true) => ({
  tools: [{ type: 'function', name: 'f', strict, parameters: schema }],
})
const ofAnthropic = (...schemas: object[]) => ({
  tools: schemas.map((input_schema, at) => ({ name: `f${at}`, strict: true, input_schema })),
})
const pictures = (count: number, size: number) => {
  const png = Buffer.from('89504e470d0a1a0a0000000d49484452000000010000000108060000', 'hex')
  png.writeUInt32BE(size, 16)
  const source = { type: 'base64', media_type: 'image/png', data: png.toString('base64') }
  return { messages: [{ role: 'user', content: Array(count).fill({ type: 'image', source }) }] }
}

test.each<[what: string, path: string, good: object, bad: object, message: string]>([
  [
    'properties of a strict schema',
    paths.responses,
    ofOpenai(objectOf(5000, text)),
    ofOpenai(objectOf(5001, text)),
    'schema has 5001 object properties, exceeding the limit of 5000.',
  ],
  [
    'names and values of a strict schema',
    paths.responses,
    ofOpenai(objectOf(100, text, 'x'.repeat(1000))),
    ofOpenai(objectOf(100, text, 'x'.repeat(1200))),
    'characters in names and enum values, exceeding the limit of 120000.',
  ],
  [
    'a large enum of a strict schema',
    paths.responses,
    ofOpenai(objectOf(1, { ...text, enum: words(250, 70) })),
    ofOpenai(objectOf(1, { ...text, enum: words(251, 70) })),
    'characters in enums of more than 250 values, exceeding the limit of 15000.',
  ],
  [
    'optional parameters of strict tools',
    paths.messages,
    ofAnthropic({ ...objectOf(20, text), required: [] }, { ...objectOf(4, text), required: [] }),
    ofAnthropic({ ...objectOf(20, text), required: [] }, { ...objectOf(5, text), required: [] }),
    'Schemas contains too many optional parameters (25)',
  ],
  [
    'unions of strict tools',
    paths.messages,
    ofAnthropic(objectOf(16, { type: ['string', 'null'] })),
    ofAnthropic(objectOf(17, { type: ['string', 'null'] })),
    'Schemas contains too many parameters with union types (17)',
  ],
  [
    'strict tools',
    paths.messages,
    ofAnthropic(...Array(20).fill(objectOf(1, text))),
    ofAnthropic(...Array(21).fill(objectOf(1, text))),
    'Too many strict tools (21)',
  ],
  [
    'pixels of an image',
    paths.messages,
    pictures(1, 8000),
    pictures(1, 8001),
    'At least one of the image dimensions exceed max allowed size: 8000 pixels',
  ],
  [
    'pixels of many images',
    paths.messages,
    pictures(20, 2001),
    pictures(21, 2001),
    'max allowed size for many-image requests: 2000 pixels',
  ],
])('rules: the limit of %s', async (_, path, good, bad, message) => {
  const send = (more: object) =>
    ask(gateway, path, { ...saying(path, 'hi', modelOf(path)), ...more })
  const accepted = await send(good)
  expect([accepted.status, accepted.ok ? '' : await accepted.text()]).toEqual([200, ''])
  const answer = await send(bad)
  expect(answer.status).toBe(400)
  expect((await jsonOf(answer)).error.message).toContain(message)
})

test('refusals: the vendor checks last, after price, quota and protocol', async () => {
  const entry = { ownedBy: 'x', endpointTypes: ['openai'] }
  const priceless = { ...entry, id: 'free', hasNoPrice: true }
  const priced = await aGateway({ models: [{ ...entry, id: 'a' }, priceless] })
  const result = { role: 'tool', tool_call_id: 'a', content: 'rain' }
  const broken = { messages: [{ role: 'user', content: 'hi' }, result] }
  const status = async (model: string, path = '/v1/chat/completions') =>
    (await ask(priced, path, { model, ...broken })).status
  expect(await status('free')).toBe(500)
  expect(await status('a', '/v1/messages')).toBe(500)
  priced.setFaults([{ error: 'quota', times: 1 }])
  expect(await status('a')).toBe(403)
  expect(await status('a')).toBe(400)
})

test('rules: definitions that refer to each other twice are searched once', async () => {
  // Each of the ways from the first to the last one would be 2 ** 26 ways.
  const names = Array.from({ length: 26 }, (_, index) => `d${index}`)
  const definitions = names.map((name, index) => {
    const reference = index === 25 ? { type: 'string' } : { $ref: `#/$defs/d${index + 1}` }
    const properties = { a: reference, b: reference }
    const required = ['a', 'b']
    return [name, { type: 'object', additionalProperties: false, required, properties }] as const
  })
  const input_schema = {
    type: 'object',
    additionalProperties: false,
    required: ['c'],
    properties: { c: { $ref: '#/$defs/d0' } },
    $defs: Object.fromEntries(definitions),
  }
  const answer = await ask(gateway, paths.messages, {
    ...saying(paths.messages, 'ping', 'claude-opus-5-5'),
    tools: [{ name: 'deep', strict: true, input_schema }],
  })
  expect(answer.status).toBe(200)
})
