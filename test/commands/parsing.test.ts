import { describe, expect, test } from 'vitest'
import { rowOf } from '../../src/clients/list.ts'
import type { CommandFile } from '../../src/commands/command.ts'
import { command as doctor } from '../../src/commands/doctor.ts'
import { command as editor } from '../../src/commands/editor.ts'
import { command as rollback } from '../../src/commands/rollback.ts'
import { command as serve } from '../../src/commands/serve.ts'
import { commandFor } from '../../src/commands/setup.ts'
import { command as status } from '../../src/commands/status.ts'

/** What a command is asked by `words`, without doing it. */
async function asked<Request>(file: CommandFile<Request>, words: string): Promise<Request> {
  let request: Request | undefined
  const command = file.define(async (given) => {
    request = given
  })
  command.exitOverride().configureOutput({ writeErr: () => {} })
  await command.parseAsync(words.split(' ').filter(Boolean), { from: 'user' })
  return request!
}

describe('a setup', () => {
  test.each([
    [
      'codex',
      '',
      { clients: ['codex'], isDryRun: false, yes: false, verify: true, defaults: false },
    ],
    ['codex', '--yes --dry-run --no-verify', { isDryRun: true, yes: true, verify: false }],
    ['codex', '--base-url x --timeout 5', { gateway: { baseUrl: 'x', timeout: 5 } }],
    ['codex', '', { gateway: { timeout: 30 }, options: { slotModels: {} } }],
    ['codex', '--defaults', { defaults: true }],
    ['codex', '--key-stdin --allow-http', { gateway: { keyStdin: true, allowHttp: true } }],
    ['codex', '--model m --context-window 9', { options: { model: 'm', contextWindow: 9 } }],
    ['opencode', '--provider-id work', { options: { providerId: 'work' } }],
    [
      'claude',
      '--slot opus --no-attribution',
      { options: { slot: 'opus', disableAttribution: true } },
    ],
    ['claude', '--haiku-model h', { options: { slotModels: { haiku: 'h' } } }],
    ['claude-gpt', '--try-client', { command: 'claude-gpt', tryClient: true }],
  ])('%s %s', async (id, words, wanted) => {
    expect(await asked(commandFor(rowOf(id)), words)).toMatchObject(wanted)
  })

  test.each([
    '--timeout 0',
    '--timeout 90000',
    '--context-window 1.5',
    '--context-window x',
    '--no-such',
    'word',
  ])('codex %s is refused', async (words) => {
    await expect(asked(commandFor(rowOf('codex')), words)).rejects.toThrow()
  })
})

test.each([
  ['', { client: undefined, list: false, force: false }],
  ['claude-gpt --force', { client: 'claude-gpt', force: true }],
  ['--run 1 --dry-run', { run: '1', isDryRun: true }],
])('rollback %s', async (words, wanted) => {
  expect(await asked(rollback, words)).toMatchObject(wanted)
})

test.each([
  ['', { client: undefined, fix: false, verify: true, timeoutSeconds: 30 }],
  ['claude-gpt --fix --yes', { client: 'claude', fix: true, yes: true }],
])('doctor %s', async (words, wanted) => {
  expect(await asked(doctor, words)).toMatchObject(wanted)
})

test.each([
  ['', { port: 0, host: '127.0.0.1', faults: [], log: false, command: [] }],
  ['--fault a --fault b --log -- npm test', { faults: ['a', 'b'], command: ['npm', 'test'] }],
])('serve %s', async (words, wanted) => {
  expect(await asked(serve, words)).toMatchObject(wanted)
})

test.each([
  ['', { families: [], exitCode: false }],
  ['claude-gpt codex --exit-code', { families: ['claude', 'codex'], exitCode: true }],
  ['--expect work', { exitCode: true, expect: 'work' }],
])('status %s', async (words, wanted) => {
  expect(await asked(status, words)).toMatchObject(wanted)
})

test('editor --model m', async () => {
  expect(await asked(editor, '--model m')).toMatchObject({ model: 'm', timeout: 30 })
})
