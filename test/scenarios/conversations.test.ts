import { describe, expect, test } from 'vitest'
import { aHome, type Home } from '../support/home.ts'
import { runHere } from '../support/in-process.ts'
import { setUp } from '../support/setup.ts'

/** What happens to recorded conversations of opencode and Kilo. Codex: client-modules/codex/conversations.test.ts. */

const key = 'sk-canary-of-a-setup-0123456789abcdef'

function choose(home: Home, client: string, model: string, url = 'https://gw.example') {
  return setUp(home, [client, '--no-verify', '--model', model], { url, key })
}

function lostIn(json: Readonly<Record<string, unknown>>, client: string) {
  const warnings = json['warnings'] as readonly { code: string; message: string; hint?: string }[]
  return warnings.filter(({ code }) => code === `${client}-conversations-lost`)
}

describe.each(['opencode', 'kilo'])('%s', (client) => {
  const database = `.local/share/${client}/${client}.db`

  test('a setup without the model of recorded conversations names it, and the way to go on', async () => {
    const home = aHome({ [database]: 'its own' })
    expect(lostIn((await choose(home, client, 'gpt-5.6-sol')).json, client)).toEqual([])

    const { json } = await choose(home, client, 'gpt-5.4', 'https://other.example')
    expect(lostIn(json, client)).toMatchObject([
      {
        message: expect.stringContaining('with gateway/gpt-5.6-sol '),
        hint: expect.stringContaining(`${client} run -c -m gateway/gpt-5.4`),
      },
    ])
    expect(lostIn((await choose(home, client, 'gpt-5.4')).json, client)).toEqual([])
  })

  test.each(['off', 'rollback'])('so does %s', async (command) => {
    const home = aHome({ [database]: 'its own' })
    await choose(home, client, 'gpt-5.6-sol')
    const { json } = await runHere(home, [command, client, '--yes'])
    expect(lostIn(json, client)).toMatchObject([
      { message: expect.stringContaining('gateway/gpt-5.6-sol') },
    ])
  })
})
