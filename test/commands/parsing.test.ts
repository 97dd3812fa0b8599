import { Command } from '@commander-js/extra-typings'
import { describe, expect, test } from 'vitest'
import { rowOf } from '../../src/clients/list.ts'
import { clientCommand } from '../../src/commands/client.ts'
import { typedOptions } from '../../src/commands/command-line/client-flags.ts'
import { type CommandFactory, commandOf } from '../../src/commands/command-line/command.ts'
import { command as completion } from '../../src/commands/completion.ts'
import { command as doctor } from '../../src/commands/doctor.ts'
import { command as editor } from '../../src/commands/editor.ts'
import { command as forget } from '../../src/commands/forget.ts'
import { command as gateways } from '../../src/commands/gateways.ts'
import { command as key } from '../../src/commands/key.ts'
import { command as off } from '../../src/commands/off.ts'
import { command as rollback } from '../../src/commands/rollback.ts'
import { command as run } from '../../src/commands/run.ts'
import type { Session } from '../../src/commands/screen/session.ts'
import { command as serve } from '../../src/commands/serve.ts'
import { command as setup } from '../../src/commands/setup.ts'
import { command as status } from '../../src/commands/status.ts'
import { command as use } from '../../src/commands/use.ts'
import { aHome } from '../support/home.ts'
import { runHere, runInProcess } from '../support/in-process.ts'

/** The commands whose arguments have a form of their own. */
const commandsWithArguments: Readonly<
  Record<string, { command: CommandFactory; prefix?: string }>
> = {
  completion: { command: completion },
  doctor: { command: doctor },
  forget: { command: forget },
  gateways: { command: gateways },
  'gateways export': { command: gateways, prefix: 'export ' },
  key: { command: key },
  off: { command: off },
  rollback: { command: rollback },
  run: { command: run },
  setup: { command: setup },
  status: { command: status },
  use: { command: use },
  'use NAME': { command: use, prefix: 'work ' },
}

/** The flags and arguments that the command gets for `words`, without running it. */
async function parse(listed: CommandFactory, words: string) {
  const command = listed({} as Session, () => {}).action(() => {})
  command.exitOverride().configureOutput({ writeErr: () => {} })
  await command.parseAsync(words.split(' ').filter(Boolean), { from: 'user' })
  return { ...command.opts(), given: command.processedArgs, command }
}

describe('a setup', () => {
  test.each([
    ['', { timeout: 30, verify: true }],
    ['--yes --dry-run --no-verify', { dryRun: true, yes: true, verify: false }],
    ['--base-url x --timeout 5', { baseUrl: 'x', timeout: 5 }],
    ['--key-stdin --allow-http', { keyStdin: true, allowHttp: true }],
    ['--defaults --try-client', { defaults: true, tryClient: true }],
    ['--header a:b --header c:d', { header: ['a:b', 'c:d'] }],
  ])('codex %s', async (words, wanted) => {
    expect(await parse(clientCommand(rowOf('codex')), words)).toMatchObject(wanted)
  })

  test.each([
    ['codex', '', {}],
    ['codex', '--model m --context-window 9', { model: 'm', contextWindow: 9 }],
    ['opencode', '--provider-id work', { providerId: 'work' }],
    ['opencode', '--images --no-reasoning', { images: true, reasoning: false }],
    ['codex', '--catalog', { hasModelsFile: true }],
    ['codex', '--catalog --no-catalog', { hasModelsFile: false }],
    ['claude', '', {}],
    ['claude', '--slot opus --no-attribution', { slot: 'opus', hidesAttribution: true }],
    ['claude', '--haiku-model h', { slotModels: { haiku: 'h' } }],
  ])('%s %s gives these options of the client', async (id, words, wanted) => {
    const { command } = await parse(clientCommand(rowOf(id)), words)
    expect(typedOptions(rowOf(id).flags, command)).toEqual({ slotModels: {}, ...wanted })
  })

  test.each([
    '--timeout 0',
    '--timeout 90000',
    '--context-window 1.5',
    '--context-window x',
    '--model=',
    '--no-such',
    'word',
  ])('codex %s is refused', async (words) => {
    await expect(parse(clientCommand(rowOf('codex')), words)).rejects.toThrow()
  })

  test.each(['--model=', '--opus-model=', '--subagent-model='])(
    'claude %s is refused, because the model is empty',
    async (words) => {
      await expect(parse(clientCommand(rowOf('claude')), words)).rejects.toThrow(
        'the ID of a model',
      )
    },
  )
})

const commands: Readonly<Record<string, CommandFactory>> = {
  doctor,
  editor,
  off,
  rollback,
  serve,
  status,
}

test.each([
  ['off', '', { given: [[]] }],
  ['off', 'codex copilot --yes', { given: [['codex', 'copilot']], yes: true }],
  ['rollback', '', { given: [undefined] }],
  ['rollback', 'claude-gpt --force', { given: ['claude-gpt'], force: true }],
  ['rollback', '--run 1 --dry-run', { run: '1', dryRun: true }],
  ['doctor', '', { given: [[]], verify: true, timeout: 30 }],
  ['doctor', 'claude-gpt --fix --yes', { given: [['claude-gpt']], fix: true, yes: true }],
  ['serve', '', { port: 0, host: '127.0.0.1', fault: [], given: [[]] }],
  [
    'serve',
    '--fault a --fault b --log -- npm test',
    { fault: ['a', 'b'], given: [['npm', 'test']] },
  ],
  ['status', '', { given: [[]] }],
  ['status', 'claude-gpt codex --exit-code', { given: [['claude-gpt', 'codex']], exitCode: true }],
  ['status', '--expect work', { expect: 'work' }],
  ['editor', '--model m', { model: 'm', timeout: 30 }],
])('%s %s', async (name, words, wanted) => {
  expect(await parse(commands[name]!, words)).toMatchObject(wanted)
})

test.each([
  ['rollback', '--redo --original'],
  ['rollback', 'no-such-client'],
  ['serve', '--port 65536'],
])('%s %s is refused', async (name, words) => {
  await expect(parse(commands[name]!, words)).rejects.toThrow()
})

describe('a `--` before the command', () => {
  test.each([['--'], ['--', '--']])('changes nothing: %s %s', async (...dashes) => {
    const args = ['completion', 'bash']
    const { stdout } = await runInProcess(aHome(), args)
    expect(await runInProcess(aHome(), [...dashes, ...args])).toMatchObject({ status: 0, stdout })
  })

  test.each([['--'], ['--json', '--']])(
    'does not hide an unknown command: %s %s',
    async (...args) => {
      expect((await runHere(aHome(), [...args, 'nope'])).json).toMatchObject({
        command: null,
        error: { code: 'usage' },
      })
    },
  )
})

describe('a word that looks like a key', () => {
  const keyWord = 'sk-canary-0123456789abcdef'
  const bare = '0123456789abcdef0123456789abcdef'
  const refusal = /no key on the command line/

  test.each(Object.entries(commandsWithArguments))(
    '%s refuses it before it is used',
    async (_, row) => {
      const { command, prefix = '' } = row
      const refused = parse(command, `${prefix}${keyWord}`)
      await expect(refused).rejects.toThrow(refusal)
      await expect(refused).rejects.not.toThrow('canary')
    },
  )

  test('is refused by an argument that accepts any word, and by one of many', async () => {
    const free = (usage: string) =>
      commandOf(
        () => new Command('any').argument(usage),
        () => 0,
      )
    for (const word of [keyWord, bare]) {
      await expect(parse(free('[word]'), word)).rejects.toThrow(refusal)
      await expect(parse(free('[words...]'), `one ${word}`)).rejects.toThrow(refusal)
    }
    expect((await parse(free('[words...]'), 'one two')).given).toEqual([['one', 'two']])
    expect((await parse(free('[word]'), 'one')).given).toEqual(['one'])
  })

  test('is passed on after `run NAME` and `serve --`', async () => {
    expect((await parse(run, `work echo ${keyWord}`)).given).toEqual(['work', ['echo', keyWord]])
    expect((await parse(serve, `-- echo ${keyWord}`)).given).toEqual([['echo', keyWord]])
  })

  test('may be the name of a gateway, as long as it does not begin like a key', async () => {
    expect((await parse(use, 'the-gateway-of-our-team-2026')).given[0]).toBe(
      'the-gateway-of-our-team-2026',
    )
  })
})
