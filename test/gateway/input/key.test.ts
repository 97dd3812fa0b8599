import { describe, expect, test } from 'vitest'
import type { UserError } from '../../../src/errors.ts'
import { cleanKey } from '../../../src/gateway/input/key.ts'
import { maskSecret } from '../../../src/text.ts'
import { fc } from '../../support/fast-check.ts'

const key = 'sk-Ab12Cd34Ef56Gh78Ij90'

function rejection(input: string): UserError {
  try {
    cleanKey(input)
  } catch (error) {
    return error as UserError
  }
  throw new Error(`accepted: ${input}`)
}

describe('key: accepted input', () => {
  test.each([
    [key, []],
    [`${key}\n`, []],
    [`${key}\r\n`, []],
    [` ${key}  `, ['spaces']],
    [`\n\n${key}\n\n`, ['spaces']],
    [`"${key}"`, ['quotes']],
    [`'${key}'`, ['quotes']],
    [`“${key}”`, ['quotes']],
    [`\`${key}\``, ['quotes']],
    [`${key},`, ['punctuation']],
    [`${key};`, ['punctuation']],
    [`"${key}",`, ['quotes', 'punctuation']],
    [`OPENAI_API_KEY="${key}";`, ['the assignment', 'quotes', 'punctuation']],
    [`OPENAI_API_KEY=${key}\n`, ['the assignment']],
    [`# from the web page\n\n${key}\n`, ['comment lines']],
    [`${key}\n# from the web page`, ['spaces', 'comment lines']],
    [`# mine\r\nOPENAI_API_KEY=${key}\r\n`, ['the assignment', 'comment lines']],
    [`{\n  "OPENAI_API_KEY": "${key}"\n}\n`, ['the assignment', 'quotes']],
    [`Bearer ${key}`, ['"Bearer"']],
    [`bearer   ${key}`, ['"Bearer"']],
    [`Authorization: Bearer ${key}`, ['"Bearer"']],
    [`x-api-key: ${key}`, ['the assignment']],
    [`"Bearer ${key}"`, ['quotes', '"Bearer"']],
    [`OPENAI_API_KEY=${key}`, ['the assignment']],
    [`export OPENAI_API_KEY=${key}`, ['the assignment']],
    [`export ANTHROPIC_AUTH_TOKEN="${key}"`, ['the assignment', 'quotes']],
    [`set OPENAI_API_KEY=${key}`, ['the assignment']],
    [`$env:OPENAI_API_KEY = "${key}"`, ['the assignment', 'quotes']],
    [`"OPENAI_API_KEY": "${key}"`, ['the assignment', 'quotes']],
    [`{"OPENAI_API_KEY": "${key}"}`, ['the assignment', 'quotes']],
    [`api_key: ${key}`, ['the assignment']],
    [`${key.slice(0, 9)}\n${key.slice(9)}`, ['line breaks']],
    [`${key.slice(0, 9)}\r\n  ${key.slice(9)}`, ['line breaks']],
    [`\ufeff${key}\u200b`, ['invisible characters']],
    [`${key.slice(0, 5)}\u200b${key.slice(5)}`, ['invisible characters']],
    [`\u001b[200~${key}\u001b[201~`, ['invisible characters']],
    [`" ${key} "`, ['quotes']],
    [`""${key}''`, ['quotes']],
    [`${key} ;`, ['punctuation']],
    [`${key},;`, ['punctuation']],
    [`{"OPENAI_API_KEY": "${key}" }`, ['the assignment', 'quotes']],
    [`setx  OPENAI_API_KEY "${key}"`, ['the assignment', 'quotes']],
    [`export  OPENAI_API_KEY=${key}`, ['the assignment']],
    [`Authorization : Bearer ${key}`, ['"Bearer"']],
    [`authorization:${key}`, ['"Bearer"']],
    // Keys with an unusual form.
    ['QWIxMkNkMzQ=', []],
    ['sk-Gh"12', []],
    ['sk-Gh12**Cd34', []],
    ['sk-Gh12..Cd34', []],
    ['sk-Gh12#', []],
    ['sk-Gh12=34', []],
    ['sk-Gh12,Cd34', []],
    ['k-https://x', []],
    ['k-$HOME', []],
    ['$HOME-k', []],
    ['k%a%', []],
    ['%a%k', []],
    ['k<a>', []],
    ['<a>k', []],
    ['k-$env:a', []],
    ['$env:a-k', []],
    ['xxx1', []],
    ['1xxx', []],
    ['sk-x', []],
    ['my-own-words', []],
    ['hi-your-key', []],
    ['paste-me-1', []],
    ['key-1', []],
    ['todo-1', []],
    ['sk-bearer', []],
    // Local servers accept any key.
    ['ollama', []],
    ['sk-1234', []],
    ['a'.repeat(300), []],
    ['abc+/==.~_-', []],
  ])('%j', (input, removed) => {
    const isOurs = /sk-Ab/.test(input)
    const result = cleanKey(input)
    expect(result.key).toBe(isOurs ? key : input)
    expect(result.findings.map(({ message }) => message)).toEqual(
      removed.length === 0
        ? []
        : [`Removed ${new Intl.ListFormat('en').format(removed)} from the key`],
    )
  })
})

const gap = 'The key is a placeholder from instructions'

describe('key: rejected input', () => {
  test.each([
    ['"# a comment"', 'key-missing', 'The key is empty'],
    ['export  OPENAI_API_KEY=', 'key-missing', 'The key is empty'],
    ['_-..__', 'key-placeholder', gap],
    ['sk-xxxx-xxxx', 'key-placeholder', gap],
    ['insert_your_key', 'key-placeholder', gap],
    ['replace-me', 'key-placeholder', gap],
    ['ReplaceMe', 'key-placeholder', gap],
    ['change-me', 'key-placeholder', gap],
    ['MySecretToken', 'key-placeholder', gap],
    ['access_token', 'key-placeholder', gap],
    ['api key', 'key-placeholder', gap],
    ['key-goes-here', 'key-placeholder', gap],
    ['tokenhere', 'key-placeholder', gap],
    ['http://gw.example', 'usage', 'The key is a web address'],
    ['', 'key-missing', 'The key is empty'],
    [' \n ', 'key-missing', 'The key is empty'],
    ['""', 'key-missing', 'The key is empty'],
    ['Bearer ', 'key-missing', 'The key is empty'],
    ['OPENAI_API_KEY=', 'key-missing', 'The key is empty'],
    ['<API_KEY>', 'key-placeholder', gap],
    ['<your api key>', 'key-placeholder', gap],
    ['{api_key}', 'key-placeholder', gap],
    ['{{API_KEY}}', 'key-placeholder', gap],
    ['[API KEY]', 'key-placeholder', gap],
    ['sk-xxxx', 'key-placeholder', gap],
    ['sk-xxxxxxxxxxxxxxxxxxxx', 'key-placeholder', gap],
    ['XXXX', 'key-placeholder', gap],
    ['sk-...', 'key-placeholder', gap],
    ['sk-…', 'key-placeholder', gap],
    ['sk-***', 'key-placeholder', gap],
    ['YOUR_KEY', 'key-placeholder', gap],
    ['YOUR_API_KEY', 'key-placeholder', gap],
    ['your-api-key-here', 'key-placeholder', gap],
    ['sk-your-key', 'key-placeholder', gap],
    ['api_key', 'key-placeholder', gap],
    ['API_KEY', 'key-placeholder', gap],
    ['${OPENAI_API_KEY}', 'key-placeholder', gap],
    ['$OPENAI_API_KEY', 'key-placeholder', gap],
    ['$env:OPENAI_API_KEY', 'key-placeholder', gap],
    ['%OPENAI_API_KEY%', 'key-placeholder', gap],
    ['export OPENAI_API_KEY=<API_KEY>', 'key-placeholder', gap],
    ['Bearer $TOKEN', 'key-placeholder', gap],
    ['changeme', 'key-placeholder', gap],
    ['你的密钥', 'key-placeholder', gap],
    ['sk-你的API密钥', 'key-placeholder', gap],
    // As shown on a web page.
    ['sk-Ab12****Ij90', 'key-placeholder', 'The key is incomplete: its middle is masked'],
    ['sk-Ab12…Ij90', 'key-placeholder', 'The key is incomplete: its middle is masked'],
    ['sk-Ab12...Ij90', 'key-placeholder', 'The key is incomplete: its middle is masked'],
    ['sk-Ab12••••Ij90', 'key-placeholder', 'The key is incomplete: its middle is masked'],
    ['sk-Ab12 Cd34', 'usage', 'The key has spaces inside'],
    ['my key is sk-Ab12', 'usage', 'The key has spaces inside'],
    ['sk-Ab12Ｃd34', 'usage', 'The key contains characters that no key has'],
    ['sk-Ab12é', 'usage', 'The key contains characters that no key has'],
    ['sk-Ab12\nsk-Cd34', 'usage', 'This is more than one key'],
    ['https://gw.example/v1', 'usage', 'The key is a web address'],
  ])('%j: %s', (input, code, message) => {
    const error = rejection(input)
    expect([error.code, error.message]).toEqual([code, message])
    expect(error.hint).toBeTruthy()
    expect(`${error.message}${error.hint}`).not.toContain('Ab12')
  })
})

describe('key: other secrets next to it never become part of it', () => {
  const several = /^The key has \d lines, and a key is one line$/
  test.each([
    // Settings files.
    [`OPENAI_API_KEY=${key}\nDATABASE_PASSWORD=hunter2`, several],
    [`OPENAI_API_KEY=${key}\r\nDATABASE_PASSWORD=hunter2\r\n`, several],
    [`OPENAI_API_KEY=${key}\nhunter2`, several],
    [`OPENAI_API_KEY=${key}\n# note\nPIN=hunter2`, several],
    [`PORT=3000\nOPENAI_API_KEY=${key}`, several],
    [`PORT=3000\nhunter2`, several],
    [`export OPENAI_API_KEY="${key}"\nexport DATABASE_PASSWORD="hunter2"`, several],
    [`OPENAI_API_KEY: ${key}\npassword: hunter2`, several],
    [`OPENAI_BASE_URL=https://gw.example\nOPENAI_API_KEY=${key}`, several],
    [`${key}\npassword=hunter2`, several],
    [`${key}\nuser:hunter2`, several],
    [`${key}\nhunter2!`, several],
    [`${key}\n\nthis is hunter2`, several],
    [`${key}\u2028this is hunter2`, several],
    [`${key}\nsk-hunter2`, /^This is more than one key$/],
    // The same settings on one line.
    [`{"OPENAI_API_KEY":"${key}","password":"hunter2"}`, /^The key contains another setting$/],
    [`user=me;password=hunter2`, /^The key contains another setting$/],
    [`tid=abc;exp=123;api_key=hunter2`, /^The key contains another setting$/],
    [`OPENAI_API_KEY=${key};PASSWORD=hunter2`, /^The key contains another setting$/],
    [`OPENAI_API_KEY=${key} PASSWORD=hunter2`, /^The key has spaces inside$/],
  ])('%j', (input, message) => {
    const error = rejection(input)
    expect(error.code).toBe('usage')
    expect(error.message).toMatch(message)
    expect(`${error.message}${error.hint}`).not.toMatch(/hunter2|sk-Ab12/)
  })

  test.each([
    ['a NUL', 'sk-Ab12\0Cd34'],
    ['an escape sequence', 'sk-Ab12\u001b[31mCd34'],
    ['a backspace', 'sk-Ab12\bCd34'],
    ['a file in UTF-16', '\ufffd\ufffds\0k\0-\0A\0b\x001\x002\0'],
  ])('%s is rejected, not removed', (_name, input) => {
    expect(rejection(input)).toMatchObject({
      code: 'usage',
      message: 'The key contains control characters',
      hint: expect.stringContaining('UTF-8'),
    })
  })
})

test('key: every hint is a sentence', () => {
  for (const input of [
    '',
    'sk-...',
    'sk-a***b',
    'a b',
    'aé',
    'a\0',
    'a\nb c',
    'sk-a\nsk-b',
    'https://a.b',
  ])
    expect(rejection(input).hint).toMatch(/[^.]\.$/)
})

describe('key: any input', () => {
  test('the result is valid in a header, is stable, and is in no message', () => {
    const pieces = fc.array(
      fc.constantFrom(
        '"',
        "'",
        ' ',
        '\n',
        'Bearer ',
        'KEY=',
        'export ',
        'sk-',
        'Ab12Cd34',
        '\u200b',
        '`',
        ',',
        '{',
        '}',
        'ü',
      ),
      { maxLength: 9 },
    )
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          pieces.map((list) => list.join('')),
        ),
        (input) => {
          let cleaned: ReturnType<typeof cleanKey>
          try {
            cleaned = cleanKey(input)
          } catch (error) {
            expect((error as UserError).name).toBe('UserError')
            return
          }
          expect(cleaned.key).toMatch(/^[!-~]+$/)
          expect(cleanKey(cleaned.key)).toEqual({ key: cleaned.key, findings: [] })
          if (cleaned.key.length > 8) {
            for (const { message } of cleaned.findings) expect(message).not.toContain(cleaned.key)
          }
        },
      ),
      { numRuns: 2_000 },
    )
  })
})

test.each([
  ['sk-Ab12Cd34Ef56', '....Ef56'],
  ['sk-Ab12Cd34E', '....d34E'],
  ['sk-Ab12Cd34', '....'],
  ['', '....'],
])('mask: %s is %s', (input, masked) => {
  expect(maskSecret(input)).toBe(masked)
})

test.each([
  'tid=0af;exp=1763900000;sku=free;proxy-ep=proxy.example;8kp=1:2b',
  'a=b;c=d==',
  'abc==',
])('a key that consists of settings is valid: %s', (text) =>
  expect(cleanKey(text)).toEqual({ key: text, findings: [] }),
)
