import { expect, test } from 'vitest'
import { isSameButVersion } from '../../src/gateway/base-urls.ts'

test.each([
  ['https://gw/v1', true],
  ['https://gw/v1/', true],
  ['https://gw', true],
  ['https://gw//', true],
  ['https://gw/openai', false],
  ['https://gw/openai/v1', false],
  ['https://gw/v2', false],
  ['https://other/v1', false],
  ['http://gw/v1', false],
  ['', false],
])('"%s" is https://gw/v1 but for the version: %s', (url, isSame) => {
  expect(isSameButVersion(url, 'https://gw/v1')).toBe(isSame)
  expect(isSameButVersion('https://gw/v1/', url)).toBe(isSame)
})
