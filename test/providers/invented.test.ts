import { afterAll, describe, expect, test } from 'vitest'
import { loadClient, rowOf } from '../../src/clients/list.ts'
import { deniesModel, isAboutAddress, traitsOf } from '../../src/gateway/judge/traits.ts'
import { aHome, type Home } from '../support/home.ts'
import { runHere } from '../support/in-process.ts'
import { oneInTurn, triesAll } from '../support/sample.ts'
import { clientRequestOf, exchange } from './as-client.ts'
import { type RunningProvider, startProvider } from './server.ts'
import { type Invented, invented } from './table/invented.ts'

/**
 * Invented providers × clients × what the user got wrong. A setup must succeed exactly if the provider then
 * answers the client's own request, and otherwise name the value that is wrong.
 */

const clients = ['codex', 'claude', 'opencode', 'qwen'] as const
const situations = ['nothing', 'the key', 'the model', 'the path'] as const
const wrongModel = 'nonesuch-9'

interface Failure {
  readonly code: string
}

const running = new Map<Invented, Promise<RunningProvider>>()
function provide(row: Invented): Promise<RunningProvider> {
  const provider = running.get(row) ?? startProvider(row.shape)
  running.set(row, provider)
  return provider
}
afterAll(async () => {
  for (const provider of running.values()) await (await provider).close()
})

const cases = invented.flatMap((row, turn) =>
  situations.flatMap((wrong, index) =>
    (triesAll ? clients : oneInTurn(clients, turn + index)).map((client) => ({
      class: row.class,
      name: row.shape.name,
      row,
      wrong,
      client,
    })),
  ),
)

describe('repoint agrees with the client about invented providers', () => {
  test.each(cases)('$class, $name: $client, wrong is $wrong', async ({ row, wrong, client }) => {
    const provider = await provide(row)
    const home = aHome()
    const own = client === 'claude' ? row.claude : row.gpt
    const model = wrong === 'the model' ? wrongModel : own
    const path = wrong === 'the path' ? row.wrong : row.right
    const { status, json, text } = await runHere(
      home,
      [client, '--base-url', provider.origin + path, '--model', model, '--yes'],
      { REPOINT_API_KEY: wrong === 'the key' ? 'sk-another-0f9e8d7c6b5a4433' : provider.key },
    )
    const failure = json['error'] as Failure | undefined

    // repoint may find the right path itself.
    if (wrong === 'nothing' || (wrong === 'the path' && failure === undefined)) {
      expect(failure, text).toBeUndefined()
      expect(status).toBe(0)
      return expectServed(client, home)
    }
    expect(home.snapshot()).toEqual({})
    expect(failure && blames[wrong](failure), text).toBe(true)
    if (wrong === 'the model') expect(text).toContain(wrongModel)
  })
})

/** What an outcome must blame, so that the user corrects the right value. */
const blames: Readonly<
  Record<Exclude<(typeof situations)[number], 'nothing'>, (outcome: Failure) => boolean>
> = {
  'the key': (outcome) => traitsOf(outcome)?.blames === 'key',
  'the model': deniesModel,
  'the path': isAboutAddress,
}

async function expectServed(client: string, home: Home): Promise<void> {
  const request = clientRequestOf(await loadClient(rowOf(client)), home, {})
  for (const model of new Set(request.models)) {
    const answered = await exchange(request, model)
    expect({ model, url: request.url, ...answered }).toMatchObject({ status: 200 })
    expect(answered.text).toContain('pong')
  }
}
