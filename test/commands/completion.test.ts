import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, symlinkSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { aHome, type Home } from '../support/home.ts'
import { runInProcess } from '../support/in-process.ts'
import { runOnTerminal } from '../support/terminal.ts'

const remembered = { '.local/state/repoint/models.txt': 'gpt-5.6-sol\ngpt-5.4-mini\nllama3:8b\n' }

/** A home with `repoint` in its bin folder and a file that a path can be completed with. */
function aHomeWithProgram(): Home {
  const home = aHome({ ...remembered, 'bin/.keep': '', 'keyfile.txt': 'sk-test\n' })
  chmodSync(home.at('.local/state/repoint'), 0o700)
  symlinkSync(resolve('bin/repoint.js'), home.at('bin/repoint'))
  return home
}

function environment(home: Home): Record<string, string> {
  return {
    PATH: `${home.at('bin')}:${process.env['PATH']}`,
    HOME: home.path,
    LANG: 'C.UTF-8',
    TERM: 'xterm-256color',
    MY_GATEWAY_KEY: 'x',
  }
}

function isInstalled(shell: string): boolean {
  return spawnSync(shell, ['--version']).error === undefined
}

async function script(home: Home, shell: string): Promise<string> {
  return (await runInProcess(home, ['completion', shell])).stdout
}

// complete.test.ts checks what the program offers. Here each shell calls it and shows the result.
describe.skipIf(!isInstalled('bash'))('completion in bash', () => {
  /** The words that bash offers for a command line with the cursor at its end. */
  async function offered(line: string): Promise<string[]> {
    const home = aHomeWithProgram()
    home.put(
      'load.sh',
      `${await script(home, 'bash')}
      COMP_LINE=$1 COMP_POINT=\${#1}; _repoint; printf '%s\\n' "\${COMPREPLY[@]}"`,
    )
    const out = execFileSync('bash', ['--norc', '--noprofile', home.at('load.sh'), line], {
      env: environment(home),
      encoding: 'utf8',
    })
    return out.split('\n').filter(Boolean)
  }

  test.each([
    ['repoint ro', ['rollback']],
    ['repoint rollback ', expect.arrayContaining(['codex', 'claude-gpt', '--list'])],
    ['repoint codex --yes --model=gpt-5.6', ['gpt-5.6-sol']],
    ['repoint codex --model llama3:', ['8b']],
    ['repoint codex --base-url ', []],
    ['repoint serve -- np', []],
  ])('bash: %s', async (line, wanted) => {
    expect(await offered(line)).toEqual(wanted)
  })

  test('bash: the Tab key completes a command, a model and a file name', async () => {
    const home = aHomeWithProgram()
    home.put('.bashrc', 'PS1="ready> "\nsource <(repoint completion bash)\n')
    const terminal = runOnTerminal(home, ['--noprofile', '--rcfile', home.at('.bashrc'), '-i'], {
      command: 'bash',
      env: environment(home),
    })
    await terminal.shows('ready>')
    terminal.type('repoint rol\t')
    await terminal.shows('repoint rollback ')
    terminal.type('\x15repoint codex --model gpt-5.6\t')
    await terminal.shows('--model gpt-5.6-sol')
    terminal.type('--key-file keyf\t')
    await terminal.shows('--key-file keyfile.txt')
    terminal.type('\x15exit\r')
    await terminal.ended
  })
})

describe.skipIf(!isInstalled('fish'))('completion in fish', () => {
  async function offered(line: string): Promise<string[]> {
    const home = aHomeWithProgram()
    home.put('.config/fish/completions/repoint.fish', await script(home, 'fish'))
    const out = execFileSync('fish', ['-c', `complete -C ${JSON.stringify(line)}`], {
      cwd: home.path,
      env: environment(home),
      encoding: 'utf8',
    })
    return out.split('\n').flatMap((entry) => entry.split('\t')[0] || [])
  }

  test.each([
    ['repoint ro', ['rollback']],
    ['repoint codex --model gpt-5.', ['gpt-5.4-mini', 'gpt-5.6-sol']],
    ['repoint codex --key-file keyf', ['keyfile.txt']],
  ])('fish: %s', async (line, wanted) => {
    expect((await offered(line)).sort()).toEqual(wanted)
  })

  test('fish: the flags of another command are not offered', async () => {
    const flags = await offered('repoint rollback codex --')
    expect(flags).toContain('--list')
    expect(flags).not.toContain('--base-url')
  })
})

describe.skipIf(!isInstalled('zsh'))('completion in zsh', () => {
  test('zsh: the Tab key completes a command, a flag, a slot and a model', async () => {
    const home = aHomeWithProgram()
    home.put(
      '.zshrc',
      'PS1="ready> "\nunsetopt beep\nautoload -U compinit && compinit -u\nsource <(repoint completion zsh)\n',
    )
    const terminal = runOnTerminal(home, ['-i'], { command: 'zsh', env: environment(home) })
    await terminal.shows('ready>')
    for (const [typed, shown] of [
      ['repoint rol\t', 'repoint rollback'],
      ['repoint rollback co\t', 'repoint rollback codex'],
      ['repoint help ro\t', 'repoint help rollback'],
      ['repoint codex --try\t', 'repoint codex --try-client'],
      ['repoint claude --slot son\t', 'repoint claude --slot sonnet'],
      ['repoint codex --model gpt-5.6\t', 'repoint codex --model gpt-5.6-sol'],
      ['repoint codex --key-env MY_GATE\t', 'repoint codex --key-env MY_GATEWAY_KEY'],
      ['repoint codex --key-file keyf\t', 'repoint codex --key-file keyfile.txt'],
    ] as const) {
      terminal.type(typed)
      await terminal.shows(shown)
      terminal.type('\x15')
    }
    terminal.type('exit\r')
    await terminal.ended
  })
})

test('completion: the script for PowerShell calls the program, with balanced quotes and brackets', async () => {
  const text = await script(aHome(), 'powershell')
  expect(text).toContain(`& $program complete "--typed=$wordToComplete" '--' @words`)
  const outside = text.replace(/^#.*$/gm, '').replace(/'(?:[^']|'')*'|"[^"]*"/g, '')
  expect(outside).not.toMatch(/['"]/)
  for (const [open, close] of ['{}', '()', '[]'])
    expect(outside.split(open!).length).toBe(outside.split(close!).length)
})

test('completion: a shell that we have no script for is a usage error that names the others', async () => {
  const { status, stderr } = await runInProcess(aHome(), ['completion', 'tcsh'])
  expect(status).toBe(2)
  expect(stderr).toContain('bash, zsh, fish, powershell')
})
