import { describe, expect, onTestFinished, test } from 'vitest'
import type { AskChoice } from '../../src/platform/platform.ts'
import { builtInCatalog, type Gateway } from '../../src/serve/index.ts'
import { type RunningProvider, startProvider } from '../providers/server.ts'
import { withGateway } from '../support/gateway.ts'
import { aHome, type Home } from '../support/home.ts'
import { runHere, runInProcess } from '../support/in-process.ts'

/** Gateways whose list of models is incomplete, or has other ids than a client sends. */

const canary = 'sk-canary-51c0ffee7a1b2c3d4e5f6071'
const settings = '.claude/settings.json'

async function aProvider(name: string): Promise<RunningProvider> {
  const provider = await startProvider(name, canary)
  onTestFinished(() => provider.close())
  return provider
}

function aGateway(ids: readonly string[]): Promise<Gateway> {
  const endpointTypes = ['openai', 'openai-response', 'anthropic']
  const models = ids.map((id) => ({ id, ownedBy: 'team', endpointTypes }))
  return withGateway({ key: canary, models }, onTestFinished)
}

async function repoint(home: Home, url: string, line: string) {
  const args = [...line.split(' '), '--base-url', url]
  const result = await runHere(home, args, { REPOINT_API_KEY: canary })
  expect(result.text).not.toContain(canary)
  return result
}

const codes = ({ json }: { readonly json: object }) =>
  (json as { warnings: { code: string }[] }).warnings
    .map(({ code }) => code)
    .filter((code) => code !== 'url-cleaned')

const posted = (requests: readonly { method: string; model: string | undefined }[]) =>
  requests.flatMap(({ method, model }) => (method === 'POST' ? [model] : []))

describe('a deployment that is not in the list of models', () => {
  test.each(['codex', 'opencode'])(
    '%s: setup, a second run, key and doctor accept it',
    async (id) => {
      const azure = await aProvider('Azure OpenAI')
      const url = azure.url('responses')
      const home = aHome()
      const first = await repoint(home, url, `${id} --model team-sol --yes`)
      expect(first).toMatchObject({ status: 0, json: { model: 'team-sol', changed: true } })
      expect(codes(first)).toContain('model-not-listed')

      const before = home.snapshot()
      expect(await repoint(home, url, `${id} --yes`)).toMatchObject({
        status: 0,
        json: { model: 'team-sol', changed: false },
      })
      expect(await repoint(home, url, 'key --yes')).toMatchObject({ json: { changed: false } })
      expect(home.snapshot()).toEqual(before)
      // The others are samples of the protocols that the list would use.
      expect(posted(azure.requests())[0]).toBe('team-sol')

      const { status, json } = await runHere(home, ['doctor', id])
      expect({ status, checks: json['checks'] }).toMatchObject({
        status: 0,
        checks: expect.arrayContaining([
          expect.objectContaining({
            id: 'probe',
            result: 'ok',
            message: expect.stringContaining('team-sol answers over the'),
          }),
        ]),
      })
    },
  )
})

describe('Claude Code on a gateway with other ids', () => {
  const usualIds = builtInCatalog.map(({ id }) => id)
  const otherIds = ['up/claude-opus-5', 'up/claude-sonnet-5', 'up/claude-haiku-5']

  test('is pinned in every slot, also in a second run', async () => {
    const router = await aProvider('9router')
    const url = router.url('messages')
    const home = aHome()
    const first = await repoint(home, url, 'claude --yes')
    expect(codes(first)).toEqual(['slots-pinned'])
    const { env } = JSON.parse(home.text(settings))
    for (const slot of ['OPUS', 'SONNET', 'HAIKU', 'FABLE'])
      expect(router.shape.models).toContain(env[`ANTHROPIC_DEFAULT_${slot}_MODEL`])
    // The gateway lists the other ids.
    expect(posted(router.requests())).toHaveLength(1)

    const before = home.snapshot()
    expect(await repoint(home, url, 'claude --yes')).toMatchObject({ json: { changed: false } })
    expect(await runHere(home, ['doctor', 'claude'])).toMatchObject({ status: 0 })
    expect(home.snapshot()).toEqual(before)
  })

  test('gets models by the rules when it is moved there', async () => {
    const home = aHome()
    const service = await aGateway(usualIds)
    const other = await aGateway(otherIds)
    await repoint(home, service.url, 'claude --sonnet-model gpt-5.6-sol --yes')
    const moved = await repoint(home, other.url, 'claude --yes')
    expect(moved.status).toBe(0)
    expect(codes(moved)).toEqual(expect.arrayContaining(['slots-pinned', 'choice-not-kept']))
    const { env } = JSON.parse(home.text(settings))
    expect(env).toMatchObject({
      ANTHROPIC_DEFAULT_OPUS_MODEL: 'up/claude-opus-5',
      ANTHROPIC_DEFAULT_SONNET_MODEL: 'up/claude-sonnet-5',
      ANTHROPIC_DEFAULT_HAIKU_MODEL: 'up/claude-haiku-5',
      ANTHROPIC_DEFAULT_FABLE_MODEL: 'up/claude-opus-5',
    })
    const asked = other.requests().filter(({ method }) => method === 'POST')
    expect(asked.map(({ modelAsked }) => modelAsked)).toEqual(['gpt-5.6-sol', 'up/claude-sonnet-5'])
  })

  test('loses the pins when it is moved back, and keeps what the flags name', async () => {
    const home = aHome()
    const service = await aGateway(usualIds)
    const other = await aGateway(otherIds)
    await repoint(home, other.url, 'claude --yes')
    const moved = await repoint(home, service.url, 'claude --opus-model gpt-5.6-sol --yes')
    expect(moved.status).toBe(0)
    expect(codes(moved)).toContain('choice-not-kept')
    expect(home.text(settings)).not.toContain('up/')
    expect(JSON.parse(home.text(settings)).env).toMatchObject({
      ANTHROPIC_DEFAULT_OPUS_MODEL: 'gpt-5.6-sol',
    })
  })

  test('is checked by doctor with the ids that the client sends, whatever a setup would choose', async () => {
    const home = aHome()
    const service = await aGateway(usualIds)
    await repoint(home, service.url, 'claude --yes')
    const other = await aGateway(otherIds)
    home.put(settings, home.text(settings).replace(service.url, other.url))
    const { status, json } = await runHere(home, ['doctor', 'claude'])
    // Its key is at an address that is not its own: the worst of the errors.
    expect({ status, json }).toMatchObject({
      status: 8,
      json: {
        checks: expect.arrayContaining([
          expect.objectContaining({ id: 'model-unknown', result: 'problem' }),
        ]),
      },
    })
    expect(await repoint(home, other.url, 'claude --yes')).toMatchObject({ status: 0 })
    expect(await runHere(home, ['doctor', 'claude'])).toMatchObject({ status: 0 })
  })
})

describe('a question for a model that no rule can choose', () => {
  /** Runs repoint on a terminal with these answers. An unexpected question fails. */
  async function answering(home: Home, args: readonly string[], answers: readonly string[]) {
    const asked: string[] = []
    const offered: string[] = []
    const remainingAnswers = [...answers]
    const answer = async (question: { message: string; choices?: readonly AskChoice[] }) => {
      const { message, choices = [] } = question
      asked.push(message)
      offered.push(...choices.map(({ value }) => value))
      const next = remainingAnswers.shift()
      if (next === undefined) throw new Error(`not foreseen: ${message}`)
      return next
    }
    const ask = { input: answer, search: answer, confirm: async () => true }
    const { status } = await runInProcess(home, args, { env: { REPOINT_API_KEY: canary }, ask })
    return { status, asked, offered }
  }

  async function withoutList(ids: readonly string[]): Promise<Gateway> {
    const gateway = await aGateway(ids)
    gateway.setFaults([{ route: 'models', status: 404 }])
    return gateway
  }

  test('accepts several models, and uses the first that answers', async () => {
    const gateway = await withoutList(['team'])
    const home = aHome()
    const args = ['codex', '--base-url', gateway.url]
    const { status, asked } = await answering(home, args, ['wrong, team  other'])
    expect({ status, asked }).toEqual({
      status: 0,
      asked: [expect.stringContaining('Which model should Codex use?')],
    })
    expect(home.text('.codex/config.toml')).toContain('model = "team"')
    expect(
      posted(gateway.requests().map((request) => ({ ...request, model: request.modelAsked }))),
    ).toEqual(['wrong', 'team'])
  })

  test('is chosen among those that the client can use', async () => {
    const models = [
      { id: 'gpt-5.6-sol', ownedBy: 'team', endpointTypes: ['openai-response'] },
      { id: 'team', ownedBy: 'team', endpointTypes: ['anthropic'] },
    ]
    const { url } = await withGateway({ key: canary, models }, onTestFinished)
    const args = ['codex', '--model', '--base-url', url]
    const { status, offered } = await answering(aHome(), args, ['gpt-5.6-sol'])
    expect({ status, offered }).toEqual({ status: 0, offered: ['gpt-5.6-sol'] })
  })

  test('is asked if the gateway rejects the models that the client sends by default', async () => {
    const gateway = await withoutList(['team'])
    const home = aHome()
    const { status } = await answering(home, ['claude', '--base-url', gateway.url], ['team'])
    expect(status).toBe(0)
    expect(home.text(settings).match(/_MODEL": "team"/g)).toHaveLength(5)
  })

  test('is asked once for all slots that no rule fills', async () => {
    const gateway = await aGateway(['gpt-5.6-sol', 'glm-5', 'qwen'])
    const home = aHome()
    const args = ['claude-gpt', '--haiku-model', 'qwen', '--base-url', gateway.url]
    const { status, asked } = await answering(home, args, ['glm-5'])
    expect({ status, asked }).toEqual({
      status: 0,
      asked: ['Which model should Claude Code with GPT models use?'],
    })
    const { env } = JSON.parse(home.text(settings))
    expect(env).toMatchObject({
      ANTHROPIC_DEFAULT_SONNET_MODEL: 'glm-5',
      ANTHROPIC_DEFAULT_HAIKU_MODEL: 'qwen',
    })
  })

  test('is an error with all flags if there is no terminal', async () => {
    const gateway = await aGateway(['llama', 'glm-5', 'qwen'])
    const result = await repoint(aHome(), gateway.url, 'claude-gpt --haiku-model qwen --yes')
    expect(result).toMatchObject({
      status: 2,
      json: { error: { code: 'usage', hint: expect.stringMatching(/opus.*sonnet.*fable/) } },
    })
  })
})

test.each([
  ['opencode', true],
  ['codex', false],
])('a setup says how many models %s offers: %s', async (id, isList) => {
  const { url } = await aGateway(['gpt-5.6-sol', 'claude-sonnet-5'])
  const args = [id, '--base-url', url, '--model', 'gpt-5.6-sol', '--yes', '--dry-run']
  const { stdout } = await runInProcess(aHome(), args, { env: { REPOINT_API_KEY: canary } })
  expect(stdout.includes(', 2 models in its list')).toBe(isList)
})
