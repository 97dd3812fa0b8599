import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { aGateway } from '../support/gateway.ts'

test('the page: holds its style and its script, and allows nothing else', async () => {
  const gateway = await aGateway()
  const answer = await fetch(gateway.url)
  const html = await answer.text()
  const policy = answer.headers.get('content-security-policy')!
  expect(policy).toContain("default-src 'none'")
  for (const [tag, words] of [
    ['style', 'color-scheme:light dark'],
    ['script', 'new EventSource'],
  ]) {
    const [, text] = new RegExp(`<${tag}>([^]*?)</${tag}>`).exec(html)!
    expect(text).toContain(words)
    const hash = createHash('sha256').update(text!).digest('base64')
    expect(policy).toContain(`${tag}-src 'sha256-${hash}'`)
  }
})
