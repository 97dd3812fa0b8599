import { dirname } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
// @ts-expect-error plain JavaScript, shared with the script
import { modulesOf } from '../../scripts/install.js'
import { runCli } from '../support/cli.ts'
import { withGateway } from '../support/gateway.ts'
import { aHome } from '../support/home.ts'
import { putInBin } from './support/install.ts'
import { inferences } from './support/prompt.ts'

/** GitHub Copilot CLI, which only its environment configures. */

const key = 'sk-real-copilot-4f7a1c9e2b8d6035'

test.each([
  ['responses', 'gpt-5.6-sol'],
  ['chat', 'claude-haiku-4.5'],
  // A GPT model at a gateway without responses: the protocol is a choice, not a property of the model.
  ['chat', 'gpt-4.1'],
])(
  'copilot: `run` starts it at the gateway, whatever token the terminal has for another one: %s, %s',
  {
    timeout: 300_000,
  },
  async (protocol, model) => {
    const endpointTypes = [protocol === 'chat' ? 'openai' : 'openai-response'] as const
    const listed = { context_length: 90_000, max_output_tokens: 7_000 }
    const entry = { id: model, ownedBy: 'x', endpointTypes, listed }
    const gateway = await withGateway({ key, models: [entry] }, onTestFinished)
    const home = aHome()
    putInBin(home, 'copilot', [`${modulesOf('copilot')}/copilot/copilot`])
    const env = {
      PATH: `${home.at('bin')}:${dirname(process.execPath)}:/usr/bin:/bin`,
      TERM: 'dumb',
      COPILOT_PROVIDER_BEARER_TOKEN: 'sk-of-another',
    }
    const told = await runCli(home, ['copilot', '--base-url', gateway.url, '--name', 'work'], {
      env: { ...env, REPOINT_API_KEY: key },
    })
    expect({ status: told.status, text: told.stdout }).toMatchObject({ status: 0 })
    expect(told.stdout + told.stderr).not.toContain(key)

    // A GPT model is asked over responses first, which this gateway has not.
    const served = () => inferences(gateway.requests()).filter(({ status }) => status === 200)
    const [proof] = served()
    gateway.clearRequests()
    const answer = await runCli(home, ['run', 'work', '--', 'copilot', '-p', 'ping'], {
      env: { ...env, COPILOT_OFFLINE: 'true' },
      timeoutMs: 150_000,
    })
    expect(answer.status).toBe(0)
    expect(answer.stdout.trim()).toBe('pong')
    const asked = served()
    expect(asked.map(({ protocol, status, keyMatches }) => [protocol, status, keyMatches])).toEqual(
      [[protocol, 200, true]],
    )
    const carried = ({ requestBody }: { readonly requestBody?: string } = {}) => {
      const { input, instructions, messages, tools, prompt_cache_key, ...rest } = JSON.parse(
        requestBody ?? '',
      )
      return rest
    }
    expect(carried(proof)).toEqual(carried(asked[0]))
    const limit = protocol === 'chat' ? 'max_tokens' : 'max_output_tokens'
    expect(carried(asked[0])).toHaveProperty(limit, 7_000)
  },
)
