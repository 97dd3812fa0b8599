import { expect, test } from 'vitest'
import { isPlainWord, maskSecretsIn } from '../src/text.ts'

const secret = 'canary0123456789'

test.each([
  `https://gw.example/v1?k=${secret}`,
  `https://gw.example/v1?a=1&k=${secret}#part`,
  `https://gw.example/v1?${secret}`,
  `gw.example/v1?k=${secret} is no address`,
  `"https://gw.example/?x[]=${secret}"`,
  `https://me:${secret}@gw.example`,
  `sk-${secret}`,
  `me:${secret}@gw.example`,
  `The file "me:${secret}@gw.example/x.json" cannot be read`,
  `https:me:${secret}@gw.example`,
])('%s is masked', (text) => {
  const masked = maskSecretsIn(text)
  expect(masked).not.toContain(secret)
  expect(masked).toContain('....')
})

test.each([
  'https://gw.example/v1',
  'Is it https://gw.example? Yes',
  'what? a = b & c',
  'git@gw.example:x',
  'localhost:80/@x',
  'a@b.example: c@d.example',
])('%s contains nothing to mask', (text) => expect(maskSecretsIn(text)).toBe(text))

test.each(['ollama', 'EMPTY', 'Gateway', 'not-needed', 'codex'])(
  'the key %s is an ordinary word, which our sentences keep',
  (key) => {
    expect(isPlainWord(key)).toBe(true)
  },
)

test.each([secret, 'sk-abc1', 'AbCdEfGhIj', 'correcthorsebatterystaple'])(
  'the key %s is masked everywhere',
  (key) => {
    expect(isPlainWord(key)).toBe(false)
  },
)
