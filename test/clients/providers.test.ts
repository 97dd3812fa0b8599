import { describe, expect, test } from 'vitest'
import { startProvider } from '../providers/server.ts'
import { table } from '../providers/table.ts'
import { Home } from '../support/home.ts'
import { runHere } from '../support/in-process.ts'
import { claudeVersions } from './support/install.ts'
import { prompt } from './support/prompt.ts'

/** Every provider that repoint calls proven answers a real client. The clients take turns. */

const codex = { client: 'codex', protocol: 'responses', runner: 'codex' } as const
const claude = {
  client: 'claude',
  protocol: 'messages',
  runner: `claude ${claudeVersions.at(-1)}`,
} as const
const pi = { client: 'pi', protocol: 'chat', runner: 'pi' } as const
const opencode = { client: 'opencode', protocol: 'chat', runner: 'opencode' } as const

/** opencode gets the fewest turns, because it needs ten times the processor time of pi. */
const order = [pi, pi, pi, pi, pi, opencode].flatMap((chat) => [codex, claude, codex, claude, chat])

const turns = table.flatMap((shape, index) => {
  const start = index % order.length
  const turn = [...order.slice(start), ...order].find(({ protocol }) => {
    const setup = shape.setups[protocol]
    return setup !== undefined && setup.refused === undefined
  })
  if (turn === undefined) return []
  return [{ name: shape.name, setup: shape.setups[turn.protocol]!, ...turn }]
})

describe.concurrent('providers', () => {
  test.for(turns)('$name answers $client', async (turn, { onTestFinished }) => {
    const { name, client, runner, setup } = turn
    const provider = await startProvider(name)
    const home = new Home()
    onTestFinished(async () => {
      home.remove()
      await provider.close()
    })

    const args = [client, '--base-url', provider.origin + setup.paste, ...(setup.args ?? [])]
    const { json } = await runHere(home, [...args, '--yes'], {
      ...setup.env,
      REPOINT_API_KEY: provider.key,
    })
    expect(json['error']).toBeUndefined()
    provider.clearRequests()

    const answer = await prompt(runner, { home: home.path, env: setup.env ?? {} })
    expect(answer).toMatchObject({ text: 'pong', hasAnswered: true })
    const asked = provider.requests().filter(({ method }) => method === 'POST')
    expect(asked.filter(({ status }) => status !== 200)).toEqual([])
  })
})
