import { expect, test } from 'vitest'
import {
  readStrictly,
  removeSyntax,
  type StrictFile,
  strictJsonProblem,
  syntaxToRemove,
} from '../../src/clients/files/strict-json.ts'
import { bytesOf, show } from '../edits/helpers.ts'
import { failureOf } from '../support/failure.ts'

test.each([
  ['{"a": 1}', undefined],
  ['{\r\n"a": [1, {"b": "//"}]}\r\n', undefined],
  ['{\n  "a": 1 // why\n}', 'a comment (line 2, column 10)'],
  ['/* top */ {"a": 1,}', 'a comment (line 1, column 1)'],
  ['{\n  "a": [1,],\n}', 'a trailing comma (line 2, column 10)'],
  ['{"a": 1, /* c */ }', 'a trailing comma (line 1, column 8)'],
  ['\ufeff{}', 'a byte order mark (line 1, column 1)'],
  ['', 'an empty file'],
  [' \n', 'an empty file'],
  ['// only this', 'a comment (line 1, column 1)'],
  ['[]', 'its root is not an object (line 1, column 1)'],
  ['"x"', 'its root is not an object (line 1, column 1)'],
  ['null', 'its root is not an object (line 1, column 1)'],
  ['{"a" 1}', 'colon expected (line 1, column 6)'],
  ['{"a": 01}', 'comma expected (line 1, column 8)'],
  ['{"a": "x', 'unexpected end of string (line 1, column 7)'],
  ['{"a": 1} {}', 'end of file expected (line 1, column 10)'],
])('strict json: the problem of %j is %j', (text, problem) => {
  expect(strictJsonProblem(bytesOf(text))).toBe(problem)
})

test('strict json: a byte order mark is not a problem if the client accepts it', () => {
  expect(strictJsonProblem(bytesOf('\ufeff{}'), { allowsBom: true })).toBeUndefined()
  expect(strictJsonProblem(bytesOf('\ufeff{,}'), { allowsBom: true })).toBeDefined()
})

test('strict json: invalid UTF-8 is a problem', () => {
  expect(strictJsonProblem(new Uint8Array([0x7b, 0xff]))).toBe(
    'it is not valid UTF-8 (line 1, column 2)',
  )
})

test.each([
  ['{"a": 1}', '{"a": 1}'],
  ['// top\n{\n  "a": 1, // why\n}\n', '{\n  "a": 1\n}\n'],
  [
    '{\r\n  /* one\r\n     two */\r\n  "a": "/* kept */", // x\r\n  "b": [1, 2,],\r\n}',
    '{\r\n  "a": "/* kept */",\r\n  "b": [1, 2]\r\n}',
  ],
  ['{"a": 1} // end', '{"a": 1}'],
  ['{\n  "a": 1 ,\n}', '{\n  "a": 1 \n}'],
  ['{\r  // alone\r  "a": 1 // why\r}\r', '{\r  "a": 1\r}\r'],
  ['{"a": 1 /* x */, "b": 1.0e2 /* y */ , }', '{"a": 1 , "b": 1.0e2   }'],
  [
    '{"a": "\\u0041,}", // ,}\n"n": 12345678901234567890}',
    '{"a": "\\u0041,}",\n"n": 12345678901234567890}',
  ],
])('repair: turns %j into %j', (text, repaired) => {
  expect(show(removeSyntax(bytesOf(text), 'x', 'comments-and-commas'))).toBe(repaired)
})

test.each([
  ['{"a": [1]}', false, { root: { a: [1] }, isRepairable: false }],
  ['\ufeff{"a": 1}', true, { root: { a: 1 }, isRepairable: false }],
  ['{"a": 1,}', false, { whyIgnored: 'a trailing comma (line 1, column 8)', isRepairable: true }],
  [
    '\ufeff{"a": 1}',
    false,
    { whyIgnored: 'a byte order mark (line 1, column 1)', isRepairable: false },
  ],
  ['{"a" 1}', false, { whyIgnored: 'colon expected (line 1, column 6)', isRepairable: false }],
])('strict json: reads %j (byte order mark accepted: %j) as %j', (text, allowsBom, read) => {
  const file = { kind: 'settings', path: '/x', bytes: bytesOf(text) }
  const { root, whyIgnored, isRepairable } = readStrictly(file, { allowsBom })
  expect({ root, whyIgnored, isRepairable }).toEqual({ root: {}, whyIgnored: undefined, ...read })
})

test('strict json: a file that the client ignores has no values, and its document has them', () => {
  const bytes = bytesOf('{"a": {"b": "c"}} // mine')
  const file = { kind: 'settings', path: '/x', bytes }
  const asRead = ({ get, text, table, members }: StrictFile) => [
    get(['a', 'b']),
    text(['a', 'b']),
    table(['a']),
    members(['a']),
  ]
  expect(asRead(readStrictly(file))).toEqual([undefined, undefined, undefined, []])
  expect(readStrictly(file).document?.get(['a', 'b'])).toBe('c')
  const lenient = readStrictly(file, { allowsComments: true })
  expect(asRead(lenient)).toEqual(['c', 'c', { b: 'c' }, [['b', 'c']]])
})

test.each([
  [{ allowsBom: true }, '\ufeff{"a": 1 }'],
  [{ allowsBom: true, allowsComments: true }, '\ufeff{"a": 1 /* mine */}'],
  [{ allowsComments: true }, '{"a": 1 /* mine */}'],
])('repair: for a reader with %j, removes only what it does not accept', (reader, repaired) => {
  const bytes = bytesOf('\ufeff{"a": 1, /* mine */}')
  expect(show(removeSyntax(bytes, 'x', syntaxToRemove(reader)))).toBe(repaired)
})

test('repair: refuses other syntax errors', () => {
  expect(
    failureOf(() => removeSyntax(bytesOf('{"a": 1,, }'), 'x', 'comments-and-commas')).code,
  ).toBe('config-invalid')
})

test('repair: can keep comments, and removes trailing commas and a byte order mark', () => {
  const before = bytesOf('\ufeff{\n  // mine\n  "a": 1, // one\n}\n')
  const after = bytesOf('{\n  // mine\n  "a": 1 // one\n}\n')
  const options = { allowsComments: true }
  expect(strictJsonProblem(before, options)).toContain('byte order mark')
  expect(strictJsonProblem(before, { ...options, allowsBom: true })).toBe(
    'a trailing comma (line 3, column 9)',
  )
  expect(removeSyntax(before, 'FILE', 'commas-and-bom')).toEqual(after)
  expect(strictJsonProblem(after, options)).toBeUndefined()
})
