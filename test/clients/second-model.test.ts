import { describe, expect, test } from 'vitest'
import { runCli } from '../support/cli.ts'
import { withGateway } from '../support/gateway.ts'
import { aHome } from '../support/home.ts'
import { inferences, prompt } from './support/prompt.ts'

/**
 * After a setup for GPT, the user chooses a Claude model of the same gateway. The gateway rejects tools over
 * chat for GPT, as OpenAI does.
 */

const key = 'sk-real-second-model-8c41f07a'
const claude = 'claude-opus-5-5'

const gateway = await withGateway({ key, families: 'vendor' })

/** The arguments that choose the model for one prompt. Kilo has the same code as opencode. */
const clients: Readonly<Record<string, readonly string[]>> = {
  opencode: ['--model', `gateway/${claude}`],
  pi: ['--provider', 'gateway', '--model', claude],
  qwen: ['--auth-type', 'anthropic', '--model', claude],
  droid: ['--model', `custom:gateway/${claude}`],
}

describe('a model of another family', () => {
  test.each(Object.entries(clients))('%s requests it over messages', async (client, args) => {
    const home = aHome()
    const env = { REPOINT_API_KEY: key, REPOINT_BASE_URL: gateway.url }
    const setup = [client, '--model', 'gpt-5.6-sol', '--yes', '--json']
    expect((await runCli(home, setup, { env })).status).toBe(0)

    gateway.clearRequests()
    const { text } = await prompt(client, { home: home.path, args })
    expect(text).toContain('pong')
    const routes = inferences(gateway.requests()).map(({ protocol, modelAsked, status }) => {
      return { protocol, modelAsked, status }
    })
    expect(routes).toContainEqual({ protocol: 'messages', modelAsked: claude, status: 200 })

    // test/clients/versions.test.ts calls a tool of each client, but of opencode not over messages.
    if (client !== 'opencode') return
    const call = { command: 'printf "%s-%s" river stone', description: 'Says it' }
    const asksForTool = { home: home.path, args, prompt: `#call bash ${JSON.stringify(call)}` }
    expect((await prompt(client, asksForTool)).text).toContain('river-stone')
  })
})
