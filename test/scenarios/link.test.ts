import { describe, expect, onTestFinished, test } from 'vitest'
import { withGateway } from '../support/gateway.ts'
import { aHome, type Home } from '../support/home.ts'
import { runInProcess } from '../support/in-process.ts'
import { keys, runOnTerminal } from '../support/terminal.ts'

/** A gateway's ccswitch link, wherever a key is taken. */

const key = 'sk-canary-link-8d5a1f3e7b9c2046'

const gateway = await withGateway({ key })

function linkOf(fields: Readonly<Record<string, string>> = {}): string {
  const all = { resource: 'provider', app: 'codex', endpoint: `${gateway.url}/v1`, apiKey: key }
  return `ccswitch://v1/import?${new URLSearchParams({ ...all, ...fields })}`
}

async function run(
  home: Home,
  args: readonly string[],
  given: { stdin?: string; env?: Record<string, string> },
) {
  const { status, stdout, stderr } = await runInProcess(home, [...args, '--json'], given)
  expect(stdout + stderr).not.toContain(key)
  return { status, document: JSON.parse(stdout) }
}

describe('a link in the place of a key', () => {
  test.each([
    ['--key-stdin', (link: string) => ({ args: ['--key-stdin'], given: { stdin: `${link}\n` } })],
    [
      'REPOINT_API_KEY',
      (link: string) => ({ args: [], given: { env: { REPOINT_API_KEY: link } } }),
    ],
    [
      '--key-env',
      (link: string) => ({ args: ['--key-env', 'LINK'], given: { env: { LINK: link } } }),
    ],
  ])('%s: address, key and model come from it, and are told', async (_, how) => {
    const home = aHome()
    const { args, given } = how(linkOf({ model: 'gpt-5.4', name: 'My Codex' }))
    const { status, document } = await run(home, ['codex', ...args, '--yes'], given)
    expect(status).toBe(0)
    expect(document).toMatchObject({ baseUrl: gateway.url, model: 'gpt-5.4' })
    expect(document.warnings).toContainEqual({
      code: 'link-read',
      message: `From the link: "My Codex", for codex, ${gateway.url}, gpt-5.4`,
    })
    expect(home.text('.codex/auth.json')).toContain(key)
  })

  test('a file of it', async () => {
    const home = aHome({ link: linkOf() })
    const { status } = await run(home, ['codex', '--key-file', home.at('link'), '--yes'], {})
    expect(status).toBe(0)
  })

  test('its client is the one set up where none is named, with its models by slot', async () => {
    const home = aHome()
    const stdin = linkOf({
      app: 'claude',
      endpoint: gateway.url,
      model: 'claude-sonnet-5-5',
      haikuModel: 'claude-haiku-5-5',
    })
    const { status } = await run(home, ['setup', '--key-stdin', '--yes'], { stdin })
    expect(status).toBe(0)
    const { env } = JSON.parse(home.text('.claude/settings.json'))
    expect(env).toMatchObject({
      ANTHROPIC_AUTH_TOKEN: key,
      ANTHROPIC_DEFAULT_SONNET_MODEL: 'claude-sonnet-5-5',
      ANTHROPIC_DEFAULT_HAIKU_MODEL: 'claude-haiku-5-5',
    })
  })

  test('a client that is none of ours is named', async () => {
    const { status, document } = await run(aHome(), ['setup', '--key-stdin', '--yes'], {
      stdin: linkOf({ app: 'gemini' }),
    })
    expect(status).toBe(2)
    expect(document.error.message).toContain('gemini')
  })

  test('of several addresses the first that proves', async () => {
    const stdin = linkOf({ endpoint: `http://127.0.0.1:1,${gateway.url}/v1,http://127.0.0.1:2` })
    const { status, document } = await run(aHome(), ['codex', '--key-stdin', '--yes'], { stdin })
    expect(status).toBe(0)
    expect(document.baseUrl).toBe(gateway.url)
  })

  test('its key goes to no other address', async () => {
    const other = await withGateway({ key }, onTestFinished)
    const args = ['codex', '--key-stdin', '--yes', '--base-url', other.url]
    const { status, document } = await run(aHome(), args, { stdin: linkOf() })
    expect(status).toBe(2)
    expect(document.error.message).toContain(', not for')
    expect(other.requests()).toEqual([])
  })

  test.each([['codex'], ['use'], ['setup'], ['codex', '--base-url'], ['key']])(
    'as an argument it is refused: repoint %s %s',
    async (...words) => {
      const { status } = await run(aHome(), [...words, linkOf()], {})
      expect(status).toBe(2)
    },
  )
})

test('at the hidden prompt: the address of the link counts, and nothing of it shows', async () => {
  const home = aHome()
  const terminal = runOnTerminal(home, ['codex'])
  await terminal.shows('Gateway address')
  terminal.type(`http://127.0.0.1:1${keys.enter}`)
  await terminal.shows('API key')
  terminal.type(`${linkOf({ name: 'Mine' })}${keys.enter}`)
  await terminal.shows('Apply?')
  terminal.type(keys.enter)
  expect(await terminal.ended).toBe(0)
  expect(terminal.raw()).not.toContain(key)
  expect(home.text('.codex/config.toml')).toContain(gateway.url)
})
