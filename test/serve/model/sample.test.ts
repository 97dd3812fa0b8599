import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { expect, test } from 'vitest'
import { findSample } from '../../../src/serve/model/sample.ts'

const object = (properties: object, more: object = {}) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
  ...more,
})
const oneOf = [{ type: 'integer' }, { type: 'number', minimum: 5 }, { type: 'string' }]
const several = object(Object.fromEntries([...'abcdefgh'].map((name) => [name, { oneOf }])))

const written = readFileSync('test/fixtures/gateway/schemas.txt', 'utf8').matchAll(
  /^([^#:]+): (.*)$/gm,
)
const schemas = [...written].map(([, name, schema]) => [name!, JSON.parse(schema!)] as const)

/** Some value fits each of these schemas. ajv, which the gateway does not use, checks ours. */
test.each([...schemas, ['many members, each with several allowed values', several] as const])(
  'a sample fits its schema: %s',
  (_, schema) => {
    const options = { strict: false }
    const ajv = '$schema' in schema ? new Ajv(options) : new Ajv2020(options)
    addFormats.default(ajv)
    const fits = ajv.compile(schema)
    const sample = findSample(schema)
    expect([fits(sample), fits.errors, sample]).toEqual([true, null, sample])
    expect(findSample(schema)).toEqual(sample)
  },
)

test('a sample is small: it has only required members', () => {
  const text = { type: 'string' }
  const properties = { city: text, days: { type: 'number' }, tags: { type: 'array', items: text } }
  const required = Object.keys(properties)
  const schema = { type: 'object', required, properties: { ...properties, more: text } }
  expect(findSample(schema)).toEqual({ city: '', days: 0, tags: [] })
})

test('a sample of an empty schema is an object, as a tool needs', () => {
  expect([findSample({}), findSample(true), findSample({ properties: { a: {} } })]).toEqual([
    {},
    {},
    {},
  ])
})

test('a sample fits a schema with many members', () => {
  const names = Array.from({ length: 300 }, (_, index) => `member${index}`)
  const properties = names.map((name) => [name, { type: 'string', minLength: 3 }])
  const sample = findSample(object(Object.fromEntries(properties))) as object
  expect(Object.values(sample).filter((text) => text.length >= 3)).toHaveLength(300)
})

const long = 'a'.repeat(34)

test.each([
  false,
  { type: 'string', minLength: 3, maxLength: 2 },
  { type: 'integer', minimum: 1, maximum: 0 },
  { type: 'integer', exclusiveMinimum: 0, exclusiveMaximum: 1 },
  { enum: [] },
  { allOf: [{ type: 'string' }, { type: 'integer' }] },
  { type: 'object', required: ['a'], properties: { a: false } },
  { type: 'array', items: { const: 1 }, minItems: 2, uniqueItems: true },
  { $ref: '#/$defs/nowhere' },
  { $ref: '#' },
  {
    $defs: { a: { type: 'object', required: ['a'], properties: { a: { $ref: '#/$defs/a' } } } },
    $ref: '#/$defs/a',
  },
  { type: 'string', pattern: '(' },
  // Patterns whose matching would never end.
  { type: 'string', allOf: [{ pattern: '^(a|a)*$' }, { pattern: `^${long}b$` }] },
  { type: 'string', const: `${long}!`, pattern: '^(a+)+$' },
  { ...object({ [`${long}!`]: { type: 'string' } }), patternProperties: { '^(a+)+$': {} } },
  { type: 'array', items: { type: 'string' }, minItems: 1e12 },
  { type: 'string', minLength: 1e12 },
])('an unsatisfiable schema has no sample: %j', (schema) => {
  const began = process.cpuUsage()
  expect(findSample(schema)).toBeUndefined()
  // Seconds instead of hours.
  expect(process.cpuUsage(began).user / 1_000).toBeLessThan(3000)
  expect(findSample({ type: 'string', pattern: '^b{3}$' })).toBe('bbb')
})

test.each([
  ['A name.\nmin length: 3; max length: 5.', 'aaa'],
  ['A name.\n\n{minLength: 2, pattern: "^b{2}$"}', 'bb'],
  ['pattern: ^[x-z]; [1-3]$.', 'x; 1'],
  ['minimum length 3, maximum length 5', 'aaa'],
  ['exact length 4', 'aaaa'],
  ['a valid email', 'user@example.com'],
  ['a valid starts_with, input must match this regex ^ab.*', 'ab'],
  ['Such as: a, b: c.', ''],
  ['min length: 9; max length: 2.', ''],
])('limits in a description are applied if possible: %j', (description, sample) => {
  expect(findSample({ type: 'string', description })).toBe(sample)
})

test.each([
  ['greater than 2, lower than 4', 3],
  ['greater than or equal to 7', 7],
  ['greater than or equal to 0.7, multiple of 0.5', 1],
])('limits of a number in a description are applied: %j', (description, sample) => {
  expect(findSample({ type: 'number', description })).toBe(sample)
})

test('a sample does not change the schema', () => {
  const schema = { $defs: { a: { type: 'string' } }, $ref: '#/$defs/a' }
  const before = JSON.stringify(schema)
  findSample(schema)
  expect(Object.getOwnPropertyNames(schema)).toEqual(['$defs', '$ref'])
  expect(JSON.stringify(schema)).toBe(before)
})
