import { Ajv } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { describe, expect, test } from 'vitest'
import { sampleOf } from '../../../src/serve/model/sample.ts'

const object = (properties: object, more: object = {}) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
  ...more,
})
const tree = { $ref: '#/$defs/tree' }

/** Each schema fits values; ajv, which the gateway does not use, says whether ours is one. */
const schemas: Readonly<Record<string, object>> = {
  'a text': { type: 'string' },
  'a text of a length': { type: 'string', minLength: 3, maxLength: 5 },
  'a text of a pattern': { type: 'string', pattern: '^[A-Z]{2}-\\d{3,}$' },
  'a pattern that looks ahead': { type: 'string', pattern: '^(?!a)[a-c]{2}$' },
  'a pattern with a length': { type: 'string', pattern: '^[a-z]+$', minLength: 12 },
  'a pattern of one of several': { type: 'string', pattern: '^(foo|bar)$' },
  'a pattern that is not anchored': { type: 'string', pattern: 'b+c' },
  'a pattern of any letters': { type: 'string', pattern: '^\\p{L}{2}$' },
  ...Object.fromEntries(
    [
      'date-time',
      'date',
      'time',
      'email',
      'uuid',
      'uri',
      'ipv4',
      'ipv6',
      'hostname',
      'duration',
    ].map((format) => [`a text of the format ${format}`, { type: 'string', format }]),
  ),
  // What zod 4 writes for z.email() and z.iso.datetime().
  'a format and its pattern': {
    type: 'string',
    format: 'email',
    pattern:
      "^(?!\\.)(?!.*\\.\\.)([A-Za-z0-9_'+\\-\\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\\-]*\\.)+[A-Za-z]{2,}$",
  },
  'a number between bounds': { type: 'number', exclusiveMinimum: 0.5, exclusiveMaximum: 0.6 },
  'a number below zero': { type: 'number', maximum: -3 },
  'a number of small steps': { type: 'number', multipleOf: 0.01, minimum: 0.105 },
  'a number of two steps': {
    type: 'integer',
    multipleOf: 6,
    allOf: [{ multipleOf: 4 }],
    minimum: 1,
  },
  'an integer behind a bound': { type: 'integer', exclusiveMinimum: 4 },
  'an integer below a bound': { type: 'integer', exclusiveMaximum: 0 },
  'a number of draft 4': {
    $schema: 'http://json-schema.org/draft-07/schema#',
    type: 'number',
    exclusiveMinimum: 2,
  },
  'a constant': { const: { a: [1] } },
  'a constant that looks like a schema': { const: { items: [1], pattern: 'a+', minLength: 9 } },
  'one of a list': { enum: ['b', 'a'] },
  'one of a list and of a type': { type: 'integer', enum: ['b', 3] },
  'one of two lists': { enum: ['a', 'b'], allOf: [{ enum: ['c', 'b'] }] },
  nothing: { type: 'null' },
  'a text or nothing': { type: ['string', 'null'], minLength: 2 },
  'a list': { type: 'array', items: { type: 'string' } },
  'a list of some': { type: 'array', items: object({ a: { type: 'integer' } }), minItems: 2 },
  'a list of different ones': {
    type: 'array',
    items: { type: 'string' },
    minItems: 3,
    uniqueItems: true,
  },
  'a list of different choices': {
    type: 'array',
    items: { enum: [1, 2, 3] },
    minItems: 3,
    uniqueItems: true,
  },
  'a list that holds one': { type: 'array', contains: { type: 'integer', minimum: 7 } },
  'a tuple': {
    type: 'array',
    prefixItems: [{ type: 'string' }, { type: 'number', minimum: 1 }],
    items: false,
    minItems: 2,
  },
  'a tuple of draft 7': {
    $schema: 'http://json-schema.org/draft-07/schema#',
    type: 'array',
    items: [{ type: 'string' }, { type: 'boolean' }],
    additionalItems: false,
    minItems: 2,
  },
  'an object': object({ a: { type: 'string' }, b: object({ c: { type: 'number' } }) }),
  'an object with a keyword that nobody knows': {
    type: 'object',
    additionalProperties: false,
    'x-kind': { type: 'string' },
  },
  'members called like keywords': object({
    items: { type: 'string', minLength: 1 },
    pattern: { type: 'integer', minimum: 2 },
    minProperties: { type: 'integer', minimum: 3 },
    properties: object({ required: { type: 'boolean' } }),
  }),
  'many members of which each is one of several': object(
    Object.fromEntries(
      [...'abcdefgh'].map((name) => [
        name,
        { oneOf: [{ type: 'integer' }, { type: 'number', minimum: 5 }, { type: 'string' }] },
      ]),
    ),
  ),
  'an object of names': {
    type: 'object',
    propertyNames: { pattern: '^x_[a-z]+$' },
    minProperties: 2,
  },
  'a record': { type: 'object', additionalProperties: { type: 'integer' }, minProperties: 1 },
  'a record by pattern': {
    type: 'object',
    patternProperties: { '^n[0-9]$': { type: 'integer', minimum: 4 } },
    additionalProperties: false,
    minProperties: 2,
  },
  'members that need others': {
    type: 'object',
    required: ['a'],
    properties: { a: { type: 'string' }, b: { type: 'integer', minimum: 5 } },
    dependentRequired: { a: ['b'] },
  },
  'the first of several': { anyOf: [{ type: 'string', minLength: 1 }, { type: 'null' }] },
  'a branch that cannot be': {
    anyOf: [{ type: 'string', minLength: 3, maxLength: 1 }, { type: 'integer' }],
  },
  'just one of several': {
    oneOf: [{ type: 'integer' }, { type: 'integer', minimum: 5 }, { type: 'string' }],
  },
  'one kind of several': {
    oneOf: [
      object({ kind: { const: 'a' }, x: { type: 'string', minLength: 1 } }),
      object({ kind: { const: 'b' }, y: { type: 'integer' } }),
    ],
  },
  'all of several': {
    allOf: [
      { type: 'object', required: ['a'], properties: { a: { type: 'string', minLength: 2 } } },
      {
        type: 'object',
        required: ['b'],
        properties: { a: { pattern: '^q' }, b: { type: 'integer' } },
      },
    ],
  },
  'not that': { type: 'string', not: { const: '' } },
  'if and then': {
    type: 'object',
    properties: { kind: { const: 'card' }, number: { type: 'string', minLength: 3 } },
    required: ['kind'],
    if: { properties: { kind: { const: 'card' } } },
    // biome-ignore lint/suspicious/noThenProperty: the keyword of JSON schema
    then: { required: ['number'] },
  },
  'a reference': {
    $defs: { name: { type: 'string', minLength: 4 } },
    ...object({ a: { $ref: '#/$defs/name' } }),
  },
  'a reference of draft 7': {
    $schema: 'http://json-schema.org/draft-07/schema#',
    definitions: { name: { type: 'string', minLength: 4 } },
    ...object({ a: { $ref: '#/definitions/name' } }),
  },
  'a reference with more beside it': {
    $defs: { name: { type: 'string' } },
    ...object({ a: { $ref: '#/$defs/name', minLength: 4 } }),
  },
  'a tree': {
    $defs: {
      tree: object({ value: { type: 'integer' }, children: { type: 'array', items: tree } }),
    },
    ...tree,
  },
  'a chain with an end': {
    $defs: { tree: object({ next: { anyOf: [tree, { type: 'null' }] } }) },
    ...tree,
  },
  'a chain of itself': object({ next: { anyOf: [{ $ref: '#' }, { type: 'null' }] } }),
  anything: {},
  'anything as a member': object({ a: {} }),
}

describe('a sample fits its schema', () => {
  test.each(Object.entries(schemas))('a sample fits its schema: %s', (_, schema) => {
    const options = { strict: false }
    const ajv = '$schema' in schema ? new Ajv(options) : new Ajv2020(options)
    addFormats.default(ajv)
    const fits = ajv.compile(schema)
    const sample = sampleOf(schema)
    expect([fits(sample), fits.errors, sample]).toEqual([true, null, sample])
    expect(sampleOf(schema)).toEqual(sample)
  })
})

test('a sample is small: no more than is asked for', () => {
  const schema = {
    type: 'object',
    required: ['city', 'days', 'tags'],
    properties: {
      city: { type: 'string' },
      days: { type: 'number' },
      tags: { type: 'array', items: { type: 'string' } },
      more: { type: 'string' },
    },
  }
  expect(sampleOf(schema)).toEqual({ city: '', days: 0, tags: [] })
})

test('a sample of a schema that asks for nothing is an object, as a tool takes', () => {
  expect([sampleOf({}), sampleOf(true), sampleOf({ properties: { a: {} } })]).toEqual([{}, {}, {}])
})

test('a sample fits a schema with many members', () => {
  const names = Array.from({ length: 300 }, (_, index) => `member${index}`)
  const properties = names.map((name) => [name, { type: 'string', minLength: 3 }])
  const sample = sampleOf(object(Object.fromEntries(properties))) as object
  expect(Object.values(sample).filter((text) => text.length >= 3)).toHaveLength(300)
})

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
  { type: 'array', items: { type: 'string' }, minItems: 1e12 },
  { type: 'string', minLength: 1e12 },
])('a schema that cannot be met has no sample: %j', (schema) => {
  const began = performance.now()
  expect(sampleOf(schema)).toBeUndefined()
  expect(performance.now() - began).toBeLessThan(3000)
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
])('limits in a description are kept where they can be: %j', (description, sample) => {
  expect(sampleOf({ type: 'string', description })).toBe(sample)
})

test.each([
  ['greater than 2, lower than 4', 3],
  ['greater than or equal to 7', 7],
  ['greater than or equal to 0.7, multiple of 0.5', 1],
])('limits of a number in a description are kept: %j', (description, sample) => {
  expect(sampleOf({ type: 'number', description })).toBe(sample)
})

test('a sample leaves the schema as it was', () => {
  const schema = { $defs: { a: { type: 'string' } }, $ref: '#/$defs/a' }
  const before = JSON.stringify(schema)
  sampleOf(schema)
  expect(Object.getOwnPropertyNames(schema)).toEqual(['$defs', '$ref'])
  expect(JSON.stringify(schema)).toBe(before)
})
