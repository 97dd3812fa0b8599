import { expect, test } from 'vitest'
import { builtInCatalog } from '../../src/serve/index.ts'
import { withGateway } from '../support/gateway.ts'
import { aHome, type Home } from '../support/home.ts'
import { runInProcess } from '../support/in-process.ts'
import { textsIn } from '../support/texts.ts'

/** A model of a gateway or a flag may contain text that the client would replace. */

const key = 'sk-canary-literal-5e6f708192a3b47f'
const hostile = '{file:~/.ssh/id_rsa}'

const [entry] = builtInCatalog.filter(({ id }) => id === 'gpt-5.6-sol')
const named = (...ids: string[]) => ids.map((id) => ({ ...entry!, id }))
const gateway = await withGateway({
  key,
  models: named(hostile, 'gpt-5.6-sol', 'gpt-5.4-mini'),
})
const onlyHostile = await withGateway({ key, models: named(hostile) })

function repoint(home: Home, args: readonly string[], url = gateway.url) {
  const env = { REPOINT_API_KEY: key, REPOINT_BASE_URL: url }
  return runInProcess(home, args, { env })
}

test.each(['opencode', 'kilo'])(
  '%s: a setup leaves such a model of the catalog out, and reports it',
  async (id) => {
    const home = aHome()
    const { status, json } = await repoint(home, [id, '--yes', '--json'])
    expect(status).toBe(0)
    expect(json).toMatchObject({
      warnings: expect.arrayContaining([expect.objectContaining({ code: 'models-left-out' })]),
    })
    for (const text of Object.values(textsIn(home))) expect(text).not.toContain(hostile)
  },
)

test.each<[string, readonly string[], string?]>([
  ['a flag', ['opencode', '--model', hostile, '--yes']],
  ['a catalog of nothing else', ['opencode', '--yes'], onlyHostile.url],
  ['a flag of run', ['run', 'work', '--model', hostile, '--', 'opencode']],
])('opencode: %s with such a model is refused, and changes nothing', async (_, args, url) => {
  const home = aHome()
  if (args[0] === 'run') await repoint(home, ['codex', '--name', 'work', '--yes'])
  const before = home.snapshot()
  const { status, stderr } = await repoint(home, args, url)
  expect([status, stderr]).toEqual([8, expect.stringContaining('would replace a part')])
  expect(home.snapshot()).toEqual(before)
})
