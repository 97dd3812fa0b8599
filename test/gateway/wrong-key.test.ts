import { describe, expect, onTestFinished, test } from 'vitest'
import { aHome } from '../support/home.ts'
import { runHere } from '../support/in-process.ts'
import { internetTo } from '../support/internet.ts'
import { oneInTurn, triesAll } from '../support/sample.ts'
import { aServer, type Seen, sendJson } from './forged.ts'

const wrongKey = 'sk-canary-wrong-5e1d9a7c3b2f'

/** The answers of gateways with several roots to a wrong key, and on other paths. */
const hosts: Readonly<
  Record<
    string,
    {
      readonly host: string
      readonly isRoot: (url: string) => boolean
      readonly unknown: number
      /** Whether its list of models needs no key. */
      readonly isListOpen?: true
    }
  >
> = {
  'two roots, everything checks the key first': {
    host: 'api.deepseek.com',
    isRoot: () => true,
    unknown: 401,
  },
  'two roots, unknown paths are not found': {
    host: 'api.minimax.io',
    isRoot: (url) => /^\/(?:v1|anthropic)\//.test(url),
    unknown: 404,
  },
  'a plan next to pay as you go': {
    host: 'open.bigmodel.cn',
    isRoot: (url) => /^\/api\/(?:coding\/paas\/v4|paas\/v4|anthropic)\//.test(url),
    unknown: 404,
  },
  'a host that nobody knows': {
    host: 'gw.example',
    isRoot: (url) => url.startsWith('/v1/'),
    unknown: 404,
  },
  'a list of models that needs no key': {
    host: 'gw.example',
    isRoot: (url) => url.startsWith('/v1/'),
    unknown: 404,
    isListOpen: true,
  },
}

const models = ['gpt-5.6-sol', 'claude-sonnet-5-5', 'claude-opus-5-5', 'claude-haiku-5-5']

const rejections: Readonly<Record<string, readonly [status: number, body: object]>> = {
  'as OpenAI': [401, { error: { message: 'Incorrect API key provided', code: 'invalid_api_key' } }],
  'as 403': [403, { message: 'The API key is invalid' }],
  'in a 200': [200, { success: false, code: 1000, msg: '身份验证失败' }],
}

const carriesKey = ({ headers }: Seen) => JSON.stringify(headers).includes(wrongKey)

describe('a wrong key is sent at most twice in a run', () => {
  const single = [['codex'], ['claude'], ['opencode'], ['qwen']]
  const rows = Object.entries(hosts).flatMap(([host, { isListOpen }], turn) => {
    // The probes of several clients are sent in parallel once the list has answered.
    const commands = isListOpen ? single : [...single, ['setup', 'codex', 'claude', 'opencode']]
    return Object.keys(rejections).flatMap((rejection, index) =>
      (triesAll ? commands : oneInTurn(commands, turn + index)).map(
        (args) => [host, rejection, args] as const,
      ),
    )
  })

  test.each(rows)('%s, %s, %j', async (name, rejection, args) => {
    const { host, isRoot, unknown, isListOpen = false } = hosts[name]!
    const isOpenList = ({ url }: Seen) => isListOpen && url.startsWith('/v1/models')
    const [status, body] = rejections[rejection]!
    const { port, seen, connections } = await aServer((request, response) => {
      if (isOpenList(request))
        return sendJson(response, 200, { object: 'list', data: models.map((id) => ({ id })) })
      if (isRoot(request.url)) return sendJson(response, status, body)
      sendJson(response, unknown, { error: { message: 'Not found' } })
    })
    const internet = await internetTo(port, host)
    onTestFinished(internet.close)
    const { json } = await runHere(
      aHome(),
      [...args, '--base-url', `https://${host}`, '--yes', ...internet.args],
      { ...internet.env, REPOINT_API_KEY: wrongKey },
    )
    expect(json['error']).toMatchObject({ code: 'key-rejected' })
    const rejected = seen.filter((request) => carriesKey(request) && !isOpenList(request))
    const sent = rejected.map(({ method, url }) => `${method} ${url}`)
    expect(sent.length, sent.join('\n')).toBeLessThanOrEqual(2)
    expect(connections()).toBeLessThanOrEqual(3)
  })
})
