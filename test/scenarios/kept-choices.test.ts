import { describe, expect, test } from 'vitest'
import { clientRows } from '../../src/clients/list.ts'
import { contextWindowFlag } from '../../src/clients/options/flags.ts'
import { builtInCatalog } from '../../src/serve/index.ts'
import { withGateway } from '../support/gateway.ts'
import { aHome, type Home } from '../support/home.ts'
import { triesAll } from '../support/sample.ts'
import { setUp } from '../support/setup.ts'
import { textsIn } from '../support/texts.ts'

const canary = 'sk-canary-7c1d0e9f8a7b6c5d4e3f2a1b'
const otherCanary = 'sk-canary-1b2a3f4e5d6c7b8a9f0e1d7c'

/** The first two do not report the context window of a model; the last one does. */
const here = await withGateway({ key: canary })
const silent = await withGateway({ key: otherCanary })
const models = builtInCatalog.map((model) => ({ ...model, listed: { context_length: 64_000 } }))
const telling = await withGateway({ key: otherCanary, models })

/** The text of the clients' files, without the underscores in Codex's numbers. */
const written = (home: Home) => Object.values(textsIn(home)).join('\n').replaceAll('_', '')

const notKept = expect.objectContaining({ code: 'choice-not-kept' })

/** Claude Code knows the windows of its own models, so that it has none to keep. */
const able = clientRows
  .filter(({ id, flags }) => id !== 'claude' && flags.includes(contextWindowFlag))
  .map(({ id }) => id)
const clients = triesAll ? able : ['codex', 'claude-gpt', 'opencode']

describe.each(clients)('%s, set up with a context window', (client) => {
  async function aHomeWithWindow(): Promise<Home> {
    const home = aHome()
    await setUp(home, `${client} --context-window 91234`, here)
    expect(written(home)).toContain('91234')
    return home
  }

  test('keeps it at a gateway that reports none', async () => {
    const home = await aHomeWithWindow()
    const { json } = await setUp(home, client, silent)
    expect(written(home)).toContain('91234')
    expect(json['warnings']).not.toContainEqual(notKept)
  })

  test('gets the window that another gateway reports, and the setup says so', async () => {
    const home = await aHomeWithWindow()
    const { json } = await setUp(home, client, telling)
    expect(written(home)).not.toContain('91234')
    expect(written(home)).toContain('64000')
    expect(json['warnings']).toContainEqual(
      expect.objectContaining({
        code: 'choice-not-kept',
        message: expect.stringContaining('from 91234 tokens to 64000'),
        hint: expect.stringContaining(`repoint ${client} --context-window 91234`),
      }),
    )
  })

  test('gets another one that is requested, which is no news', async () => {
    const home = await aHomeWithWindow()
    const { json } = await setUp(home, `${client} --context-window 81234`, here)
    expect(written(home)).toContain('81234')
    expect(json['warnings']).not.toContainEqual(notKept)
  })
})

test('claude-gpt: a setup that names only the model of subagents keeps the context window', async () => {
  const home = aHome()
  await setUp(home, 'claude-gpt --context-window 51234', telling)
  await setUp(home, 'claude-gpt --subagent-model gpt-5.4-mini', telling)
  expect(written(home)).toContain('51234')
})

test('pi: the protocol of --protocol stays with its gateway, and a setup reports it if another gateway needs a different one', async () => {
  const home = aHome()
  await setUp(home, 'pi --protocol chat', here)
  expect(written(home)).toContain('"api": "openai-completions"')
  await setUp(home, 'pi', here)
  expect(written(home)).toContain('"api": "openai-completions"')

  const { json } = await setUp(home, 'pi', silent)
  expect(written(home)).toContain('"api": "openai-responses"')
  expect(json['warnings']).toContainEqual(
    expect.objectContaining({
      code: 'choice-not-kept',
      message: 'The protocol of pi changes from chat to responses',
      hint: 'To keep it: repoint pi --protocol chat',
    }),
  )
})

test('pi: a protocol that is requested is no news', async () => {
  const home = aHome()
  await setUp(home, 'pi --protocol chat', here)
  const { json } = await setUp(home, 'pi --protocol responses', here)
  expect(written(home)).toContain('"api": "openai-responses"')
  expect(json['warnings']).not.toContainEqual(notKept)
})

test('a kept model that is gone is replaced, also if the list of models was too slow at first', async () => {
  const faults = [{ delayMs: 4_000, times: 1, route: 'models' }] as never
  const slow = await withGateway({ key: canary, faults })
  const home = aHome()
  await setUp(home, 'opencode', here)
  home.replace('.config/opencode/opencode.json', here.url, slow.url)
  home.replace(
    '.config/opencode/opencode.json',
    /"model": "gateway\/[^"]*"/,
    '"model": "gateway/gpt-nowhere"',
  )
  await setUp(home, 'opencode', slow)
  expect(home.text('.config/opencode/opencode.json')).not.toContain('"gateway/gpt-nowhere"')
})
