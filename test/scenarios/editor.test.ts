import { expect, onTestFinished, test } from 'vitest'
import { withGateway } from '../support/gateway.ts'
import { aHome } from '../support/home.ts'
import { runHere, runInProcess } from '../support/in-process.ts'
import { internetTo } from '../support/internet.ts'
import { askInProcess, keys } from '../support/terminal.ts'

const canary = 'sk-canary-aa00bb11cc22dd33ee44ff55'

const gateway = await withGateway({ key: canary })

test('editor prints the fields for a gateway on the internet, with the key masked', async () => {
  const { origin, args, env, close } = await internetTo(gateway.port)
  onTestFinished(close)
  const result = await runHere(aHome(), ['editor', '--base-url', origin, ...args], {
    ...env,
    REPOINT_API_KEY: canary,
  })
  expect(result.json).toMatchObject({
    changed: false,
    model: 'gpt-5.6-sol',
    fields: [
      { value: expect.stringContaining(canary.slice(-4)) },
      { value: `${origin}/v1` },
      { value: 'gpt-5.6-sol' },
    ],
    limits: expect.arrayContaining([expect.stringContaining('Auto')]),
  })
  expect(result.text).not.toContain(canary)
})

test('without a list of models, editor checks the named model, or the hint names the flag', async () => {
  gateway.setFaults([{ route: 'models', status: 404 }])
  onTestFinished(() => gateway.setFaults([]))
  const internet = await internetTo(gateway.port)
  onTestFinished(internet.close)
  const args = ['editor', '--base-url', internet.origin, ...internet.args]
  const env = { ...internet.env, REPOINT_API_KEY: canary }
  expect(await runHere(aHome(), [...args, '--model', 'gpt-5.4'], env)).toMatchObject({
    status: 0,
    json: { model: 'gpt-5.4', warnings: [{ code: 'catalog-unavailable' }] },
  })
  for (const command of [args, ['models', ...args.slice(1)]])
    expect(await runHere(aHome(), command, env)).toMatchObject({
      status: 4,
      json: { error: { hint: expect.stringContaining('--model ID') } },
    })
})

test('editor warns about a gateway that the servers of Cursor cannot reach', async () => {
  const result = await runHere(aHome(), ['editor', '--base-url', gateway.url], {
    REPOINT_API_KEY: canary,
  })
  expect(result).toMatchObject({
    status: 0,
    json: {
      fields: [{}, { value: `${gateway.url}/v1` }, {}],
      warnings: [{ code: 'editor-out-of-reach', message: expect.stringContaining('machine') }],
    },
  })
})

test.each([
  ['vscode', 'VS Code', '/v1/chat/completions'],
  ['zed', 'Zed', '/v1'],
  ['claude-desktop', 'Claude Desktop', ''],
])(
  '%s sends its requests from this machine: editor prints address and model, masks the key and does not warn',
  async (...row) => {
    const [id, label, route] = row
    const args = ['editor', '--for', id, '--model', 'claude-sonnet-5', '--base-url', gateway.url]
    const env = { REPOINT_API_KEY: canary }
    const { status, json, text } = await runHere(aHome(), args, env)
    expect({ status, json }).toMatchObject({ status: 0, json: { warnings: [] } })
    const values = (json['fields'] as { value: string }[]).map(({ value }) => value)
    expect(values).toEqual(expect.arrayContaining([`${gateway.url}${route}`, 'claude-sonnet-5']))
    expect(text).not.toContain(canary)
    const { stdout } = await runInProcess(aHome(), args, { env })
    expect(stdout).toContain(`Enter in ${label}:`)
  },
)

test('on a terminal, repoint asks for the editor', async () => {
  const run = askInProcess(aHome(), ['editor', '--base-url', gateway.url], {
    env: { REPOINT_API_KEY: canary },
  })
  await run.shows('Which editor?')
  run.type('Zed')
  await run.shows('❯ Zed')
  run.type(keys.enter)
  expect(await run.ended).toBe(0)
  expect(run.screen()).toContain('Enter in Zed:')
})

test('Claude Desktop gets a Claude model, and no other one', async () => {
  const env = { REPOINT_API_KEY: canary }
  const args = ['editor', '--for', 'claude-desktop', '--base-url', gateway.url]
  const chosen = await runHere(aHome(), args, env)
  expect(chosen).toMatchObject({ status: 0, json: { model: expect.stringMatching(/^claude-/) } })
  const other = await runHere(aHome(), [...args, '--model', 'gpt-5.5'], env)
  expect(other.json).toMatchObject({ error: { code: 'protocol-unsupported' } })
})
