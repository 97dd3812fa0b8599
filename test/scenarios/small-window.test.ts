import { expect, onTestFinished, test } from 'vitest'
import { clientRows, loadClient } from '../../src/clients/list.ts'
import { aServer, sendJson } from '../gateway/forged.ts'
import { withGateway } from '../support/gateway.ts'
import { aHome } from '../support/home.ts'
import { runInProcess } from '../support/in-process.ts'
import { triesAll } from '../support/sample.ts'

const key = 'sk-canary-window-4f7a1c9e2b8d6035'
const model = 'gpt-5.6-sol'

/** A gateway whose list states this window. Another one answers everything else. */
async function listing(contextWindow: number): Promise<string> {
  const behind = await withGateway({ key }, onTestFinished)
  const { port } = await aServer(async ({ method, url, headers, body }, response) => {
    if (method === 'GET')
      return sendJson(response, 200, { data: [{ id: model, context_length: contextWindow }] })
    const { authorization = '', 'x-api-key': other = '' } = headers as Record<string, string>
    const answer = await fetch(behind.url + url, {
      method,
      headers: { 'content-type': 'application/json', authorization, 'x-api-key': other },
      body,
    })
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' })
    response.end(await answer.text())
  })
  return `http://127.0.0.1:${port}`
}

// Claude Code needs other models. pi needs few tokens, and at such a window it would ask for less than none.
const others = clientRows.filter(({ id }) => !['claude', 'pi'].includes(id))
const sample = others.filter(({ id }) => ['codex', 'claude-gpt', 'opencode'].includes(id))

test.each((triesAll ? others : sample).map((row) => [row.id, row] as const))(
  '%s: a window in the list that is smaller than its first request is a warning, before anything is written',
  async (id, row) => {
    const { firstRequest } = (await loadClient(row)).program.tokens
    const warningsAt = async (contextWindow: number) => {
      const words = [id, '--base-url', await listing(contextWindow), '--model', model, '--dry-run']
      const { json } = await runInProcess(aHome(), [...words, '--json'], {
        env: { REPOINT_API_KEY: key },
      })
      const { warnings } = json as { warnings: { code: string; message: string }[] }
      return warnings.flatMap(({ code, message }) =>
        code === 'context-window-small' ? [message] : [],
      )
    }
    expect(await warningsAt(firstRequest - 1)).toEqual([
      expect.stringContaining(`needs about ${firstRequest}`),
    ])
    const atTheEdge = await warningsAt(firstRequest)
    expect(atTheEdge.filter((message) => message.includes('needs about'))).toEqual([])
  },
)

test('in a setup of several clients, the hint about an unknown window names the client', async () => {
  const models = ['gpt-6.2-sol']
  const gateway = await withGateway({ key: 'sk-canary-5f4e3d2c1b0a9988', models }, onTestFinished)
  const args = ['setup', 'codex', 'opencode', '--base-url', gateway.url, '--dry-run']
  const { stdout, stderr } = await runInProcess(aHome(), args, {
    env: { REPOINT_API_KEY: gateway.key },
  })
  expect(stdout + stderr).toContain('repoint opencode --context-window TOKENS')
  expect(stdout + stderr).not.toContain('repoint CLIENT')
})

/** What doctor says about the window of a client that was set up, after a change of its file. */
async function windowAfter(
  id: string,
  file: string,
  change: readonly [RegExp, string],
  listed = 100_000,
) {
  const env = { REPOINT_API_KEY: key }
  const home = aHome()
  const words = [id, '--base-url', await listing(listed), '--model', model, '--yes']
  expect(await runInProcess(home, words, { env })).toMatchObject({ status: 0 })
  const asked = async () => {
    const { json } = await runInProcess(home, ['doctor', id, '--json'])
    const { checks } = json as { checks: { id: string; message: string; result: string }[] }
    const found = checks.filter((check) => check.id === 'context-window-large')
    for (const check of found)
      expect(JSON.stringify(check)).toContain(`repoint ${id} --context-window 100000`)
    return found
  }
  expect(await asked()).toEqual([])
  home.replace(file, ...change)
  return asked()
}

test.each([
  ['codex', '.codex/config.toml', [/100_?000/, '300000']],
  ['claude-gpt', '.claude/settings.json', [/"100000"/, '"300000"']],
  ['opencode', '.config/opencode/opencode.json', [/"context": 100000/, '"context": 300000']],
] as const)(
  'doctor reports a window of %s that is larger than in the list',
  async (id, file, change) => {
    expect(await windowAfter(id, file, change)).toMatchObject([
      {
        result: 'warning',
        message: expect.stringContaining('expects a context window of 300000'),
      },
    ])
  },
)

const withoutWindow = [/model_context_window.*\n/, ''] as const
test.each([
  ['reports a small window in the list that Codex does not know', withoutWindow, 100_000, true],
  ['accepts a window that is smaller than in the list', [/100_?000/, '50000'], 100_000, false],
  ['accepts a listed window that every client assumes at least', withoutWindow, 128_000, false],
] as const)('doctor %s', async (_, change, listed, isReported) => {
  const found = await windowAfter('codex', '.codex/config.toml', change, listed)
  const message = expect.stringContaining('Codex has no setting for it')
  expect(found).toEqual(isReported ? [expect.objectContaining({ message })] : [])
})
