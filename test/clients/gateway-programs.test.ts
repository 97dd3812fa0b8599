import { spawn } from 'node:child_process'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
// @ts-expect-error plain JavaScript, shared with the script
import { installPackages, modulesOf } from '../../scripts/install.js'
import { loadClient, rowOf } from '../../src/clients/list.ts'
import { builtInCatalog, type Gateway, startGateway } from '../../src/serve/index.ts'
import { freePort } from '../network/daemons.ts'
import { clientRequestOf, exchange } from '../providers/as-client.ts'
import { type GatewayProgram, programs } from '../providers/programs.ts'
import { aHome, type Home } from '../support/home.ts'
import { runHere } from '../support/in-process.ts'

/** Gateway programs from npm, with the local gateway behind them. Each gets a setup and a request of a real client. */

const key = 'sk-real-gateways-8c1f5b2d7e904a36'

let upstream: Gateway
beforeAll(async () => {
  installPackages('gateways')
  const dotted = ['claude-opus-5.5', 'claude-sonnet-5.5', 'claude-haiku-5.5']
  const more = dotted.map((id) => ({ id, ownedBy: 'anthropic', endpointTypes: ['openai'] }))
  upstream = await startGateway({
    families: 'rewritten',
    key,
    models: [...builtInCatalog, ...more],
  })
})
afterAll(() => upstream.close())

/** Starts the program in a new folder, and resolves with its address once it listens. */
async function start({ name, file, start }: GatewayProgram, home: Home): Promise<string> {
  const port = await freePort()
  const { args = [], env, files = {}, preload } = start({ port, upstream: upstream.url, key })
  for (const [path, text] of Object.entries(files)) home.put(`run/${path}`, text)
  home.put('run/.keep', '')

  const first = preload === undefined ? [] : ['--import', resolve(preload)]
  const program = join(modulesOf('gateways'), name, file)
  const child = spawn(process.execPath, [...first, program, ...args], {
    cwd: home.at('run'),
    env: { PATH: dirname(process.execPath), HOME: home.at('run'), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (piece) => {
      output += piece
    })
  onTestFinished(() => void child.kill('SIGKILL'))

  const url = `http://127.0.0.1:${port}`
  for (let tries = 0; tries < 200; tries++) {
    if (await answers(url)) return url
    await wait(100)
  }
  throw new Error(`${name} does not listen:\n${output}`)
}

async function answers(url: string): Promise<boolean> {
  return fetch(url).then(
    () => true,
    () => false,
  )
}

describe.each(programs)('$name', (program) => {
  test('works after a setup, or makes the setup fail', async () => {
    const url = await start(program, aHome())
    for (const [id, setup] of Object.entries(program.setups(upstream.url))) {
      const home = aHome()
      const args = [id, '--base-url', url + setup.paste, ...(setup.args ?? []), '--yes']
      const { json, text } = await runHere(home, args, { REPOINT_API_KEY: key })
      expect(text).not.toContain(key)
      if (setup.refused !== undefined) {
        expect([id, json['error']]).toMatchObject([id, { code: setup.refused }])
        continue
      }
      expect([id, json['error']]).toEqual([id, undefined])

      const client = await loadClient(rowOf(id))
      const sends = clientRequestOf(client, home, {})
      for (const model of new Set(sends.models)) {
        const answered = await exchange(sends, model)
        expect([id, model, answered]).toMatchObject([id, model, { status: 200 }])
        expect(answered.text).toContain('pong')
      }
    }
  })
})
