/** Records the first request of a real client at the local gateway. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { execa } from 'execa'
import { startGateway } from '../../dist/gateway.mjs'
import { homeFor } from '../check-releases/try-version.js'

const endpointTypes = { chat: 'openai', responses: 'openai-response', messages: 'anthropic' }

/**
 * @param start how the client is started once it is set up: arguments and environment by prompt, protocol,
 *   model and gateway
 * @returns the request and the home folder in which it was made
 * @throws Error if the client sends no request with tools
 */
export async function recordFirstRequest({ client, program, start, situation, prompt }) {
  const { protocol, model, command = client, setup = ['--model', model], files = {} } = situation
  const entry = { id: model, ownedBy: 'x', endpointTypes: [endpointTypes[protocol]] }
  const models = model && { models: [entry] }
  const gateway = await startGateway({ families: 'rewritten', ...models })
  const home = mkdtempSync(join(tmpdir(), 'repoint-record-'))
  const env = homeFor(home, client, program)
  const options = { extendEnv: false, cwd: join(home, 'work'), reject: false, stdin: 'ignore' }

  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(home, name)), { recursive: true })
    writeFileSync(join(home, name), text)
  }

  try {
    const access = { REPOINT_API_KEY: gateway.key, REPOINT_BASE_URL: gateway.url }
    if (setup !== null) {
      const words = [command, ...setup, '--yes', '--json', '--no-verify']
      const set = await execa(process.execPath, [resolve('bin/repoint.js'), ...words], {
        ...options,
        env: { ...env, ...access },
      })
      if (set.exitCode !== 0) throw new Error(`${words.join(' ')}: ${set.stdout}`)
    }

    gateway.clearRequests()
    const run = start(prompt, { protocol, model, url: gateway.url, key: gateway.key })
    const result = await execa(client, run.args, {
      ...options,
      env: { ...env, ...run.env },
      timeout: 120_000,
      forceKillAfterDelay: 500,
    })
    // Claude Code 2.1.54 first counts the tokens of its tools.
    const request = gateway.requests().find(({ json }) => json?.stream && hasTools(json))
    if (request === undefined) throw new Error(`${client} sends no tools: ${result.stderr}`)
    const { path, headers, json: body } = request
    return { query: path.split('?')[1], headers, body, home }
  } finally {
    await gateway.close()
    rmSync(home, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** Grok Build requests a title first, with one tool that the model must call. */
function hasTools({ tools = [], input = [], tool_choice: choice }) {
  if (['function', 'tool'].includes(choice?.type)) return false
  return tools.length > 0 || input.some((item) => 'tools' in item)
}
