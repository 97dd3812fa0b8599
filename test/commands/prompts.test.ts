import { describe, expect, test } from 'vitest'
import { findGateway } from '../../src/commands/find-gateway/find-gateway.ts'
import { Session } from '../../src/commands/screen/session.ts'
import { nodePlatform } from '../../src/platform/node.ts'
import type { Ask } from '../../src/platform/platform.ts'

type Validate = (answer: string) => true | string

/** The messages that a terminal shows for each typed answer. */
async function replies(which: 'address' | 'key', typed: readonly string[]): Promise<string[]> {
  let validate: Validate = () => true
  const real = nodePlatform()
  const ask: Ask = {
    ...real.ask,
    input: async (question) => {
      if (which === 'address') validate = question.validate!
      return 'https://gateway.example'
    },
    secret: async (question) => {
      if (which === 'key') validate = question.validate!
      return 'sk-canary-0123456789abcdef'
    },
  }
  const platform = {
    ...real,
    ask,
    machine: { ...real.machine, env: {} },
    terminal: { ...real.terminal, canAsk: true },
    interrupt: new AbortController().signal,
  }
  await findGateway(new Session(platform, { isJson: false }), { timeout: 1 })
  const messages = typed.map((answer) => String(validate(answer)))
  // Below the prompt's `> `, no line is longer than the terminal.
  for (const line of messages.join('\n  ').split('\n'))
    expect(line.length).toBeLessThanOrEqual(real.terminal.columns)
  return messages.map((reply) => reply.replaceAll('\n  ', ' '))
}

describe('a question says what to type, and names no flag', () => {
  test('for an address', async () => {
    const messages = await replies('address', [
      '',
      'YOUR_BASE_URL',
      'sk-0123456789abcdef0123',
      'two words',
      'ftp://gateway.example',
      'gateway',
      'https://me:secret@gateway.example',
      'https://docs.gateway.example',
      'https://gateway.example/docs',
    ])
    for (const reply of messages) {
      expect(reply).toMatch(/\. (?:Type|Try) .+\.$/)
      expect(reply).not.toContain('--')
    }
  })

  test('for an address with a secret in it, without repeating the secret', async () => {
    const messages = await replies('address', [
      'ftp://gateway.example/?k=canary0123',
      'http://gateway.example/v1?k=canary0123',
      'https://me:canary0123@gateway.example',
    ])
    for (const reply of messages) expect(reply).not.toContain('canary')
  })

  test('for an address without encryption, where it names the needed flag', async () => {
    expect(await replies('address', ['http://gateway.example/v1'])).toEqual([
      'http://gateway.example would send the key over the network in clear text. Type https://gateway.example. If you trust the network, press Ctrl-C and add --allow-http.',
    ])
  })

  test('for a key', async () => {
    const messages = await replies('key', [
      '',
      'YOUR_API_KEY',
      'sk-ab***cd',
      'https://gateway.example',
      'two words',
      'sk-0123456789abcdef\nsomething: else',
      'sk-0123456789, url: x',
      'sk-0123456789…é',
    ])
    for (const reply of messages) {
      expect(reply).toMatch(/\. (?:Paste|Copy) .+\.$/)
      expect(reply).not.toContain('--')
    }
  })
})
