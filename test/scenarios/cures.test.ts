import { expect, test } from 'vitest'
import { aServer, goodGateway, key, sendJson } from '../gateway/forged.ts'
import { aHome } from '../support/home.ts'
import { runHere, runInProcess } from '../support/in-process.ts'
import { askInProcess, keys } from '../support/terminal.ts'

/** A gateway that rejects Codex's web search, which one setting of Codex leaves out. */
async function withoutSearch() {
  const server = await aServer((request, response) => {
    if (request.method === 'GET') return sendJson(response, 200, { data: [{ id: 'gpt-5.6-sol' }] })
    if (!request.body.includes('web_search')) return goodGateway(request, response)
    sendJson(response, 400, { error: { message: "unknown tool type 'web_search'" } })
  })
  return `http://127.0.0.1:${server.port}`
}

const question = 'Set up Codex with --web-search disabled?'
const config = '.codex/config.toml'

test('a setup asks for the setting, shows it in the plan, and a rollback undoes it', async () => {
  const home = aHome({ [config]: '# mine\n' })
  const env = { REPOINT_API_KEY: key, PATH: '' }
  const args = ['codex', '--base-url', await withoutSearch(), '--details', '--no-try-client']
  const setup = askInProcess(home, args, { env })
  await setup.shows("unknown tool type 'web_search'")
  await setup.shows(question)
  setup.type(keys.enter)
  await setup.shows('web_search')
  await setup.shows('Apply')
  setup.type(keys.enter)
  expect(await setup.ended).toBe(0)
  expect(home.text(config)).toContain('web_search = "disabled"')

  await runInProcess(home, ['rollback', '--yes'])
  expect(home.text(config)).toBe('# mine\n')
})

test('a setup without the setting changes nothing', async () => {
  const home = aHome()
  const env = { REPOINT_API_KEY: key, PATH: '' }
  const setup = askInProcess(home, ['codex', '--base-url', await withoutSearch()], { env })
  await setup.shows(question)
  setup.type('n')
  setup.type(keys.enter)
  expect(await setup.ended).toBe(5)
  expect(setup.screen()).toContain('hint:')
  expect(home.snapshot()).toEqual({})
})

test('the next setup keeps the setting, and does not ask again', async () => {
  const home = aHome()
  const env = { REPOINT_API_KEY: key }
  const url = await withoutSearch()
  const args = ['codex', '--base-url', url, '--yes']
  expect((await runInProcess(home, args, { env })).status).toBe(0)
  const again = await runInProcess(home, args, { env })
  expect(again).toMatchObject({ status: 0, stdout: expect.not.stringContaining('web-search') })
  expect(home.text(config)).toContain('web_search = "disabled"')
})

/** A Codex that notes its arguments, and answers, or fails with the gateway's words. */
function aCodex(answers: boolean) {
  const home = aHome()
  const says = answers ? 'echo pong' : 'echo "ERROR: HTTP 400: web_search is unknown" >&2; exit 1'
  const answer = `echo "$@" >> "${home.path}/started"; ${says}`
  const script = `#!/bin/sh\ncase "$*" in *ping*) ${answer};; *) echo codex-cli 0.169.0;; esac\n`
  home.put('bin/codex', script, 0o755)
  const env = { REPOINT_API_KEY: key, PATH: `${home.at('bin')}:${process.env['PATH']}` }
  return { home, env, started: () => home.everything().includes('started') && home.text('started') }
}

test('an installed client that gets an answer keeps the setting', async () => {
  const { home, env, started } = aCodex(true)
  const args = ['codex', '--base-url', await withoutSearch(), '--yes']
  const { status, json } = await runHere(home, args, env)
  expect(status).toBe(0)
  expect(json['warnings']).toMatchObject([{ code: 'proven-by-client' }])
  expect(started()).not.toContain('web_search')
  expect(home.text(config)).not.toContain('web_search')
})

test('an installed client that the gateway rejects too is set up with the setting', async () => {
  const { home, env, started } = aCodex(false)
  const args = ['codex', '--base-url', await withoutSearch(), '--yes']
  const { status, json } = await runHere(home, args, env)
  expect(status).toBe(0)
  expect(json['warnings']).toMatchObject([{ code: 'part-left-out' }])
  expect(started()).toContain('ping')
  expect(home.text(config)).toContain('web_search = "disabled"')
})

test('check starts no client, and says so', async () => {
  const { home, env, started } = aCodex(true)
  const args = ['check', await withoutSearch()]
  const { json } = await runHere(home, args, env)
  const clients = json['clients'] as readonly { readonly id: string }[]
  const codex = clients.find(({ id }) => id === 'codex')
  expect(codex).toMatchObject({
    works: false,
    message: expect.stringContaining('repoint did not ask Codex itself'),
  })
  expect(started()).toBe(false)
})
