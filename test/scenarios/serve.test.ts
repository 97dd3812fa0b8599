import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { runCli } from '../support/cli.ts'
import { aHome } from '../support/home.ts'

/** Starts the program as a process, and waits for its first line. */
async function serving(args: readonly string[] = []) {
  const child = spawn(process.execPath, [resolve('bin/repoint.js'), 'serve', '--json', ...args], {
    env: { PATH: process.env['PATH'] },
  })
  const ended = once(child, 'exit')
  const [line] = await once(child.stdout, 'data')
  return { child, ended, ...(JSON.parse(String(line)) as { url: string; key: string }) }
}

test.each(['SIGTERM', 'SIGINT'] as const)(
  'repoint serve: %s ends the program with status 0',
  async (signal) => {
    const { child, ended, url, key } = await serving()
    // An open stream does not delay the end.
    const events = await fetch(`${url}/_repoint/events`)
    const answer = await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${key}` } })
    expect(answer.status).toBe(200)
    child.kill(signal)
    expect(await ended).toEqual([0, null])
    await events.body?.cancel().catch(() => {})
  },
)

test('repoint serve: uses a scenario and a catalog, and serves the page with its style', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'repoint-served-'))
  const [scenario, models] = [join(folder, 'answers.yaml'), join(folder, 'models.json')]
  writeFileSync(scenario, "answers: [{ when: { pattern: '^h(i+)$' }, reply: built }]")
  writeFileSync(models, '["mine"]')
  const { child, ended, url, key } = await serving(['--scenario', scenario, '--models', models])
  const answer = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: '{"model":"mine","messages":[{"role":"user","content":"hiii"}]}',
  })
  expect(await answer.json()).toMatchObject({ choices: [{ message: { content: 'built' } }] })
  const html = await (await fetch(url)).text()
  expect(html).toMatch(/<style>[^<]*color-scheme: ?light dark/)
  expect(html).toContain('new EventSource')
  child.kill()
  await ended
})

test('repoint serve -- COMMAND: gives the command its environment and its exit status', async () => {
  const home = aHome({})
  const script = 'console.log(process.env.OPENAI_BASE_URL); process.exit(3)'
  const result = await runCli(home, ['serve', '--', process.execPath, '-e', script])
  expect(result).toMatchObject({ status: 3, stderr: '' })
  expect(result.stdout).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v1\n$/)
})
