import { expect, onTestFinished, test } from 'vitest'
import type { Gateway } from '../../src/serve/index.ts'
import { replaceGateway, withGateway } from '../support/gateway.ts'
import { aHome } from '../support/home.ts'
import { runHere } from '../support/in-process.ts'

/** A client's list of models, after the gateway's list has become shorter. */

const key = 'sk-pickers-3d9f07b2c6a81e54'

function aGateway(ids: readonly string[]): Promise<Gateway> {
  return withGateway({ key, models: ids }, onTestFinished)
}

/** The client's list: where, and its ids. */
const lists: readonly [string, string, (file: string) => string, (root: object) => string[]][] = [
  [
    'opencode',
    '.config/opencode/opencode.json',
    (file) => file.replace('"glm-5":', '"my-own": { "name": "Mine" }, "glm-5":'),
    (root) => Object.keys(Reflect.get(root, 'provider').gateway.models),
  ],
  [
    'pi',
    '.pi/agent/models.json',
    (file) => file.replace('"models": [', '"models": [{ "id": "my-own" },'),
    (root) => Reflect.get(root, 'providers').gateway.models.map(({ id }: { id: string }) => id),
  ],
]

test.each(lists)(
  '%s: a setup removes a missing model that repoint wrote, and keeps and reports one that the user wrote',
  async (client, path, withOwn, ids) => {
    const long = await aGateway(['glm-5', 'lost', 'lost-too'])
    const home = aHome()
    const run = async (...args: string[]) => {
      const { json, text } = await runHere(home, args, { REPOINT_API_KEY: key })
      expect(text).not.toContain(key)
      return json
    }
    const listed = () => [...ids(JSON.parse(home.text(path)))].sort()
    await run(client, '--base-url', long.url, '--model', 'glm-5', '--yes', '--name', 'work')
    home.put(path, withOwn(home.text(path)), 0o600)
    expect(listed()).toEqual(['glm-5', 'lost', 'lost-too', 'my-own'])
    expect(await run(client, '--yes', '--model', 'glm-5')).toMatchObject({ changed: false })

    await replaceGateway(long, { key, models: ['glm-5'] })
    const stray = {
      id: 'picker',
      message: expect.stringMatching(/offers models .*: .*lost-too/),
    }
    expect(await run('doctor', client)).toMatchObject({
      checks: expect.arrayContaining([expect.objectContaining(stray)]),
    })

    expect(await run('key', client, '--yes')).toMatchObject({ changed: false })
    expect(await run('use', 'work', client, '--yes')).toMatchObject({
      changed: true,
      warnings: [
        {
          code: 'model-not-listed',
          message: expect.stringMatching(/also offers models .*: my-own/),
        },
      ],
    })
    expect(listed()).toEqual(['glm-5', 'my-own'])
    await run('rollback', client, '--yes')
    expect(listed()).toEqual(['glm-5', 'lost', 'lost-too', 'my-own'])
  },
)
