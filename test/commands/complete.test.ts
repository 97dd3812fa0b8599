import { chmodSync } from 'node:fs'
import { expect, test } from 'vitest'
import { withGateway } from '../support/gateway.ts'
import { aHome } from '../support/home.ts'
import { runInProcess } from '../support/in-process.ts'

/** The words that the program offers, without their descriptions. */
async function offered(...line: string[]): Promise<string[]> {
  const home = aHome()
  home.put(
    '.local/state/repoint/gateways.json',
    '{"version":2,"gateways":[{"name":"work","address":"https://gw.example","key":"k"},{"name":"mine","address":"https://gw.two","key":"k"}]}',
  )
  chmodSync(home.at('.local/state/repoint'), 0o700)
  home.put('.local/state/repoint/models.txt', 'gpt-5.6-sol\nllama3:8b\n')
  const [typed, ...words] = line.toReversed()
  const { stdout, stderr } = await runInProcess(
    home,
    ['complete', `--typed=${typed}`, '--', ...words.toReversed()],
    { env: { MY_GATEWAY_KEY: 'x' } },
  )
  expect(stderr).toBe('')
  return stdout.split('\n').flatMap((entry) => entry.split('\t')[0] || [])
}

test.each([
  [['ro'], ['rollback']],
  [['--v'], ['--version']],
  [
    ['codex', '--key-'],
    ['--key-stdin', '--key-file', '--key-env'],
  ],
  [
    ['claude', '--slot', ''],
    ['opus', 'sonnet', 'haiku', 'fable'],
  ],
  [['use', 'w'], ['work']],
  [['use', 'work', 'co'], ['codex']],
  [
    ['use', 'work', 'codex', 'cl'],
    ['claude', 'claude-gpt', 'cline'],
  ],
  [['run', 'm'], ['mine']],
  [['use', '--timeout', '30', ''], expect.arrayContaining(['mine', 'work'])],
  [['use', '--timeout', '30', 'c'], []],
  [['use', '--timeout=30', 'w'], ['work']],
  [['use', '--timeout', '30', 'work', 'cod'], ['codex']],
  [['run', '--model', 'x', 'm'], ['mine']],
  [['run', 'work', 'm'], []],
  [['completion', 'bash', 'f'], []],
  [['forget', 'wo'], ['work']],
  [['claude', '--slot=s'], ['--slot=sonnet']],
  [['codex', '--cat'], ['--catalog']],
  [['codex', '--model', 'll'], ['llama3:8b']],
  [['codex', '--key-env', 'MY_'], ['MY_GATEWAY_KEY']],
  [['codex', '--key-file', ''], [':files']],
  [['serve', '--scenario', ''], [':files']],
  [['codex', '--base-url', ''], []],
  [['codex', 'x'], []],
  [
    ['rollback', 'cl'],
    ['claude', 'claude-gpt', 'cline'],
  ],
  [['he'], ['help']],
  [['help', 'he'], []],
  [['help', 'ro'], ['rollback']],
  [['help', ''], expect.not.arrayContaining(['help', 'complete'])],
  [['help', ''], expect.arrayContaining(['codex', 'completion'])],
  [['claude', '--opus-model', 'gpt'], ['gpt-5.6-sol']],
  [['comp'], ['completion']],
  [['nope', ''], []],
  [['serve', '--', 'np'], [':files']],
])('complete %j offers %j', async (line, wanted) => {
  expect(await offered(...line)).toEqual(wanted)
})

test('complete describes each command and flag', async () => {
  const { stdout } = await runInProcess(aHome(), ['complete', '--typed=rollb', '--'])
  expect(stdout).toBe('rollback\tundo the newest run\n')
})

test('the first `repoint models` in a home lets the shell complete --model', async () => {
  const home = aHome()
  const gateway = await withGateway()
  const env = { REPOINT_BASE_URL: gateway.url, REPOINT_API_KEY: gateway.key }
  await runInProcess(home, ['models'], { env })
  const args = ['complete', '--typed=gpt-5.6-s', '--', 'codex', '--model']
  expect((await runInProcess(home, args)).stdout).toContain('gpt-5.6-sol')
})
