import { describe, expect, onTestFinished, test } from 'vitest'
import { accept, answer } from '../support/dialogue.ts'
import { withGateway } from '../support/gateway.ts'
import { aHome, type Home } from '../support/home.ts'
import { runInProcess } from '../support/in-process.ts'
import { askInProcess } from '../support/terminal.ts'

/** A gateway's ccswitch link, wherever repoint accepts a key. */

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

describe('a link instead of a key', () => {
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
  ])('%s: a setup takes address, key and model from it, and reports them', async (_, how) => {
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

  test('a file that contains the link', async () => {
    const home = aHome({ link: linkOf() })
    const { status } = await run(home, ['codex', '--key-file', home.at('link'), '--yes'], {})
    expect(status).toBe(0)
  })

  test('without a named client, setup uses the client of the link, with its models by slot', async () => {
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

  test('an error names a client of a link that repoint does not know', async () => {
    const { status, document } = await run(aHome(), ['setup', '--key-stdin', '--yes'], {
      stdin: linkOf({ app: 'gemini' }),
    })
    expect(status).toBe(2)
    expect(document.error.message).toContain('gemini')
  })

  test('setup uses the first of several addresses that works', async () => {
    const stdin = linkOf({ endpoint: `http://127.0.0.1:1,${gateway.url}/v1,http://127.0.0.1:2` })
    const { status, document } = await run(aHome(), ['codex', '--key-stdin', '--yes'], { stdin })
    expect(status).toBe(0)
    expect(document.baseUrl).toBe(gateway.url)
  })

  test('the key of a link is sent to no other address', async () => {
    const other = await withGateway({ key }, onTestFinished)
    const args = ['codex', '--key-stdin', '--yes', '--base-url', other.url]
    const { status, document } = await run(aHome(), args, { stdin: linkOf() })
    expect(status).toBe(2)
    expect(document.error.message).toContain(', not for')
    expect(other.requests()).toEqual([])
  })

  test.each([['codex'], ['use'], ['setup'], ['codex', '--base-url'], ['key']])(
    'a link as an argument is refused: repoint %s %s',
    async (...words) => {
      const { status } = await run(aHome(), [...words, linkOf()], {})
      expect(status).toBe(2)
    },
  )
})

test('a link at the hidden prompt sets the address, and none of it is shown', async () => {
  const home = aHome()
  const terminal = askInProcess(home, ['codex'])
  await answer(terminal, 'Gateway address', 'http://127.0.0.1:1')
  await answer(terminal, 'API key', `${linkOf({ name: 'Mine' })}`)
  await accept(terminal)
  expect(terminal.raw()).not.toContain(key)
  expect(home.text('.codex/config.toml')).toContain(gateway.url)
})
