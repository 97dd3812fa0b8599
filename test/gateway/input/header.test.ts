import { describe, expect, test } from 'vitest'
import { UserError } from '../../../src/errors.ts'
import {
  applyHeaderChanges,
  classifyHeader,
  formatHeader,
  type HeaderChange,
  headerDocument,
  includesHeader,
  isCredentialHeader,
  readHeader,
} from '../../../src/gateway/input/header.ts'

const files: Readonly<Record<string, string>> = {
  '/run/pk': 'from-a-file\n',
  '/run/two': 'one\ntwo\n',
  '/run/crlf': ' from-windows \r\n',
  '/run/long': 'x'.repeat(4_096),
  '/run/longer': 'x'.repeat(4_097),
}
const variables: Readonly<Record<string, string>> = {
  PK: 'canary-1',
  EMPTY: '',
  ODD: 'gr\u00fc\u00df',
  BELL: '\u0007openai',
}

function read(text: string): HeaderChange {
  return readHeader(text, {
    variable: (name) => variables[name],
    file: (path) => files[path] ?? '',
  })
}

function rejection(text: string): string {
  try {
    read(text)
  } catch (error) {
    if (error instanceof UserError) return `${error.code}: ${error.message}`
  }
  throw new Error('it was taken')
}

describe('parsing of --header', () => {
  test.each<[string, HeaderChange]>([
    ['X-Portkey-Provider: openai', { name: 'x-portkey-provider', value: 'openai' }],
    ['x-portkey-api-key:$PK', { name: 'x-portkey-api-key', value: 'canary-1', isSecret: true }],
    [
      'cf-aig-authorization: Bearer ${PK}',
      { name: 'cf-aig-authorization', value: 'Bearer canary-1', isSecret: true },
    ],
    ['x-a: @/run/pk', { name: 'x-a', value: 'from-a-file', isSecret: true }],
    ['x-title: my tool, 2nd: of 3', { name: 'x-title', value: 'my tool, 2nd: of 3' }],
    ['x-a:', { name: 'x-a' }],
    [' X-A : openai ', { name: 'x-a', value: 'openai' }],
    ['x-a: @ /run/crlf', { name: 'x-a', value: 'from-windows', isSecret: true }],
    ['x-a: @/run/long', { name: 'x-a', value: 'x'.repeat(4_096), isSecret: true }],
    [`${'x-'.repeat(50)}: 1`, { name: 'x-'.repeat(50), value: '1' }],
    // Names similar to those of headers that the clients send.
    ['my-host: a', { name: 'my-host', value: 'a' }],
    ['host-group: a', { name: 'host-group', value: 'a' }],
  ])('%s', (text, expected) => expect(read(text)).toEqual(expected))

  test.each([
    ['no colon', 'x-portkey-provider openai', "usage: --header needs the form 'name: value'"],
    ['no name', ': openai', "usage: --header needs the form 'name: value'"],
    ['a name with a space', 'x portkey: openai', "usage: --header needs the form 'name: value'"],
    ['a name alone', 'x', "usage: --header needs the form 'name: value'"],
    [
      'a name of 101 characters',
      `${'x'.repeat(101)}: 1`,
      "usage: --header needs the form 'name: value'",
    ],
    ['a value of 4,097 characters', 'x-a: @/run/longer', 'is longer than 4096 characters'],
    ['a header for proxies', 'Proxy-Connection: a', 'You cannot change'],
    [
      'a key in place of a name',
      'sk-live-0123456789: x',
      "usage: --header needs the form 'name: value'",
    ],
    ['a literal with the name of a credential', 'x-portkey-api-key: hunter2', 'may be a secret'],
    ['a literal cookie', 'Cookie: a=b', 'may be a secret'],
    ['a literal like a key', 'x-who: sk-live-0123456789', 'may be a secret'],
    ['a literal with a key in it', 'x-config: {"key":"sk-live-0123456789ab"}', 'may be a secret'],
    [
      'a variable that is not set',
      'x-a: $NOT',
      'key-missing: The environment variable NOT (header x-a) is not set',
    ],
    ['an empty variable', 'x-a: $EMPTY', 'is empty'],
    ['two lines', 'x-a: @/run/two', 'more than one line'],
    ['a line break in the argument', 'x-a: b\r\nhost: c', 'more than one line'],
    ['letters beyond ASCII', 'x-a: $ODD', 'non-ASCII or control characters'],
    ['a control character before letters', 'x-a: $BELL', 'or control characters'],
    ['an empty file', 'x-a: @/run/none', 'is empty'],
    ['the key itself', 'Authorization: $PK', 'authorization contains the key'],
    ['the key under its other name', 'x-api-key: $PK', 'x-api-key contains the key'],
    ['a header of HTTP', 'Host: a', 'You cannot change host:'],
    ['the length', 'content-length: 5', 'You cannot change content-length:'],
    ['a header that the clients send', 'anthropic-version: 1', 'You cannot change'],
  ])('rejected: %s', (_, text, expected) => {
    const message = rejection(text)
    expect(message).toContain(expected)
    expect(message).not.toMatch(/hunter2|live-0123|canary-1|gr\u00fc/)
  })
})

test('a change replaces the saved header, and an empty value removes it', () => {
  const before = [
    { name: 'x-a', value: '1' },
    { name: 'x-b', value: '2', isSecret: true as const },
    { name: 'x-d', value: '5' },
  ]
  expect(applyHeaderChanges(before, [read('x-a: 3'), read('x-b:'), read('x-c: 4')])).toEqual([
    { name: 'x-d', value: '5' },
    { name: 'x-a', value: '3' },
    { name: 'x-c', value: '4' },
  ])
  expect(() => applyHeaderChanges([], [read('x-a: 1'), read('X-A: 2')])).toThrow('x-a twice')
})

test('only the last characters of a secret are shown', () => {
  expect(formatHeader({ name: 'x-a', value: 'openai' })).toBe('x-a: openai')
  expect(formatHeader({ name: 'x-a', value: 'pk-0123456789d5c4', isSecret: true })).toBe(
    'x-a: ....d5c4',
  )
})

test.each([
  ['x-api-token', true],
  ['x-api-tokens', true],
  ['x-credential', true],
  ['X-Credentials', true],
  ['my-secret-header', true],
  ['x-password', true],
  ['authorization', true],
  ['x-author', false],
  ['x-keys-used', false],
  ['monkey', false],
])('%s is the name of a credential: %s', (name, expected) => {
  expect(isCredentialHeader(name)).toBe(expected)
})

test('a header from a file is secret if its name or its value looks like a secret', () => {
  expect(classifyHeader('X-Team', 'blue')).toEqual({ name: 'x-team', value: 'blue' })
  expect(classifyHeader('X-Token', 'blue')).toMatchObject({ name: 'x-token', isSecret: true })
  expect(classifyHeader('x-team', 'sk-live-0123456789ab')).toMatchObject({ isSecret: true })
  expect(classifyHeader('x-team', 'blue; sk-live-0123456789ab')).toMatchObject({ isSecret: true })
})

test.each([
  [{ name: 'x-a', value: '1' }, true],
  [{ name: 'x-a', value: '2' }, false],
  [{ name: 'x-b', value: '1' }, false],
])('%j is in the list: %s', (header, expected) => {
  expect(
    includesHeader(header, [
      { name: 'x-c', value: '2' },
      { name: 'x-a', value: '1' },
    ]),
  ).toBe(expected)
  expect(includesHeader(header)).toBe(false)
})

test('JSON documents have headers by name, with masked secrets', () => {
  const secret = { name: 'x-b', value: 'pk-0123456789d5c4', isSecret: true as const }
  expect(headerDocument([])).toBeUndefined()
  expect(headerDocument([{ name: 'x-a', value: '1' }, secret])).toEqual({
    'x-a': '1',
    'x-b': '....d5c4',
  })
})
