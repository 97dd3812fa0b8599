import { describe, expect, test } from 'vitest'
import packageJson from '../../package.json' with { type: 'json' }
import { clientRows, environmentRows } from '../../src/clients/list.ts'
import { runCli } from '../support/cli.ts'
import { aHome } from '../support/home.ts'
import { runInProcess } from '../support/in-process.ts'
import { askInProcess, runOnTerminal } from '../support/terminal.ts'

async function helpOf(...command: string[]): Promise<string> {
  const { status, stdout, stderr } = await runInProcess(aHome(), [...command, '--help'])
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  return stdout
}

describe('--help', () => {
  test('every command shows an example that begins with repoint, and fits 80 columns', async () => {
    const list = await helpOf('--all')
    const names = [...list.matchAll(/^ {2}([a-z][a-z-]*) /gm)].map((match) => match[1]!)
    expect(names).toContain('codex')
    for (const name of names.filter((name) => name !== 'help')) {
      const help = await helpOf(name)
      const examples = help.split('\nExamples:\n')[1] ?? ''
      expect(examples, name).toMatch(/^ {2}.*\brepoint /m)
      for (const line of help.split('\n')) expect(line.length, line).toBeLessThanOrEqual(80)
    }
  })

  test('begins with repoint alone, and names every command in its group', async () => {
    const help = await helpOf()
    const { length } = help.trimEnd().split('\n')
    expect(
      length,
      'the overview of src/commands/command-line/help.ts fits no screen of 24 lines',
    ).toBeLessThanOrEqual(24)
    const [, ...groups] = help.split(/^(?=\S)/m).filter((part) => !part.startsWith('undoes'))
    expect(groups.map((group) => group.split(/ {2}/)[0])).toEqual([
      ...['Set up', 'Change', 'Try', 'Look', 'Undo', 'Shell', 'More'],
    ])
    expect(groups[0]).toMatch(/^Set up {2}repoint {2,}find the installed clients/)
    for (const { id } of clientRows) expect(groups[0]).toMatch(new RegExp(`[ ,]${id}[,\n]`))
    for (const name of ['setup', 'use', 'key', 'run', 'doctor', 'rollback', 'completion'])
      expect(help).toMatch(new RegExp(`^.{6} {2}repoint ${name} {2}`, 'm'))
    for (const line of help.split('\n')) expect(line.length, line).toBeLessThanOrEqual(80)
  })

  test('a client shows the six flags that people use; with --all every flag', async () => {
    const flagsIn = (help: string) => help.match(/^ {2}--[\w-]+/gm)!.map((flag) => flag.trim())
    const usual = ['--base-url', '--key-file', '--model', '--name', '--dry-run', '--yes']
    for (const { id } of clientRows) expect(flagsIn(await helpOf(id))).toEqual(usual)
    const all = await helpOf('claude', '--all')
    expect(flagsIn(all)).toEqual(expect.arrayContaining([...usual, '--slot', '--header']))
    expect((await runInProcess(aHome(), ['help', 'claude', '--all'])).stdout).toBe(all)
    expect((await runInProcess(aHome(), ['help', '--all'])).stdout).toBe(await helpOf('--all'))
    expect(flagsIn(await helpOf('serve'))).toContain('--record')
  })

  test.each(['-v', '-V', '--version'])('%s prints the version', async (flag) => {
    const { status, stdout } = await runInProcess(aHome(), [flag])
    expect({ status, stdout }).toEqual({ status: 0, stdout: `${packageJson.version}\n` })
  })

  test('completion says how to install it', async () => {
    expect(await helpOf('completion')).toContain('>> ~/.zshrc')
  })

  test('on a terminal it is as wide as the terminal', async () => {
    for (const command of [[], ['codex'], ['codex', '--all']]) {
      const terminal = askInProcess(aHome(), [...command, '--help'], { columns: 60 })
      expect(await terminal.ended).toBe(0)
      const lines = terminal.screen().split(/\r?\n/)
      expect(lines.some((line) => line.length > 50)).toBe(true)
      for (const line of lines.filter((line) => !line.startsWith('  repoint')))
        expect(line.length, line).toBeLessThanOrEqual(60)
    }
  })

  test('on a terminal without UTF-8 it is plain ASCII', async () => {
    const terminal = askInProcess(aHome(), ['claude', '--help', '--all'], { env: { LANG: 'C' } })
    expect(await terminal.ended).toBe(0)
    expect(terminal.raw()).toContain("gateway's models")
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the range of ASCII
    expect(terminal.raw()).toMatch(/^[\x00-\x7f]*$/)
  })
})

describe('a misspelt word', () => {
  test.each([
    [['rolback'], 'rollback'],
    [['of'], 'off'],
    [['gateways', 'rm', 'work'], 'gateways remove'],
    [['switch', 'work', '--key-env', 'KEY'], 'use work'],
    [['add', 'https://gw.example', '--name', 'work'], 'gateways add https://gw.example'],
    [['model', 'gpt-5'], 'use --model gpt-5'],
    [['rollback', 'codxe'], 'rollback codex'],
    [['off', 'copilto'], 'off copilot'],
    [['off', 'github-copilot'], 'off copilot'],
    [['status', 'claude-code'], 'status claude'],
    [['setup', 'factory'], 'setup droid'],
    ...[...clientRows, ...environmentRows].flatMap(({ id, alsoCalled = [] }) =>
      alsoCalled.map((name): [string[], string] => [[name], id]),
    ),
    [['codex', '--dry-rn'], 'codex --dry-run'],
    [['status', '--jsn'], 'status --json'],
  ])('%j: the error suggests a whole command', async (args, nearest) => {
    const { status, stdout, stderr } = await runInProcess(aHome(), args)
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
    expect(stderr).toContain(`hint:  Did you mean: repoint ${nearest}\n`)
  })

  test.each(
    Object.entries({
      rollback: ['undo', 'restore', 'revert', 'reset', 'uninstall', 'unset'],
      gateways: ['list', 'ls', 'provider', 'providers', 'gate'],
      use: ['switch'],
      key: ['login', 'auth', 'setkey', 'set-key'],
      check: ['test', 'verify', 'ping'],
      status: ['whoami', 'show', 'current'],
      editor: ['vscode', 'zed', 'cursor'],
      forget: ['remove', 'delete', 'logout'],
      setup: ['install', 'config', 'configure', 'init'],
      off: ['disable'],
    }),
  )('%s is meant by %j', async (name, words) => {
    for (const word of words) {
      const { status, stderr } = await runInProcess(aHome(), [word])
      expect({ status, stderr }).toMatchObject({
        status: 2,
        stderr: expect.stringContaining(`hint:  Did you mean: repoint ${name}\n`),
      })
    }
  })

  test.each([['start'], ['new'], ['ui'], ['s'], ['rollback', 'copilot'], ['rollback', 'cursor']])(
    '%j %s: the error suggests nothing that may be wrong',
    async (...args) => {
      expect((await runInProcess(aHome(), args)).stderr).toMatch(/^hint: {2}See: repoint/m)
    },
  )

  test.each([
    [['help', 'nope'], "Unknown command 'nope'"],
    [['help', '--help'], '`repoint help` takes one command'],
  ])('%j: the hint names a command that works', async (args, message) => {
    const { stderr } = await runInProcess(aHome(), args)
    expect(stderr).toContain(message)
    expect(stderr).toContain('hint:  See: repoint --help')
  })

  test('an unexpected argument is an error that names the allowed ones and the help page', async () => {
    const { stderr } = await runInProcess(aHome(), ['rollback', 'cursor'])
    expect(stderr).toContain(clientRows.map(({ id }) => id).join(', '))
    expect(stderr).toContain('hint:  See: repoint rollback --help')
  })
})

describe('colour', () => {
  const escapeSequence = '\x1b['

  test('a pipe gets no colour', async () => {
    const { stderr } = await runCli(aHome(), ['rolback'])
    expect(stderr).not.toContain(escapeSequence)
  })

  test('FORCE_COLOR colours the output in a pipe', async () => {
    const { stderr } = await runCli(aHome(), ['rolback'], { env: { FORCE_COLOR: '1' } })
    expect(stderr).toContain(`${escapeSequence}1;31merror:`)
  })

  test('FORCE_COLOR does not colour --json', async () => {
    const { stdout } = await runCli(aHome(), ['status', '--json'], { env: { FORCE_COLOR: '1' } })
    expect(stdout).not.toContain(escapeSequence)
    expect(JSON.parse(stdout)).toMatchObject({ command: 'status' })
  })

  test('a terminal gets colour, unless NO_COLOR is set', async () => {
    const plain = runOnTerminal(aHome(), ['rolback'], { env: { NO_COLOR: '1' } })
    const coloured = runOnTerminal(aHome(), ['rolback'])
    expect([await plain.ended, await coloured.ended]).toEqual([2, 2])
    expect(plain.raw()).not.toContain(escapeSequence)
    expect(coloured.raw()).toContain(`${escapeSequence}1;31merror:`)
  })
})
