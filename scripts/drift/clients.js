/** The real clients: the versions that the tests run, their packages, and how each runs once. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'

const isWindows = process.platform === 'win32'
const exe = isWindows ? '.exe' : ''
const system = `${process.platform}-${process.arch}`

/** Only a shell puts these two together: the prompt itself does not hold the word. */
const shellCommand = 'printf "%s-%s" river stone'
export const shellOutput = 'river-stone'

/**
 * By client. `tools`: its shell tool, under the names that it had.
 *
 * Claude Code and opencode are native binaries, a package for each system: the wrapper of the first
 * would choose another version on Node 20 (seen 2026-11-21), that of the second brings two of them.
 */
export const clients = {
  codex: {
    packageOf: () => '@openai/codex',
    program: (folder) => [process.execPath, join(folder, 'bin/codex.js')],
    setups: [['codex']],
    files: ['.codex/config.toml', '.codex/auth.json'],
    run: (prompt) => ['exec', '--skip-git-repo-check', '-s', 'workspace-write', prompt],
    tools: [
      ['exec_command', { cmd: shellCommand }],
      ['shell', { command: ['sh', '-c', shellCommand] }],
    ],
  },
  claude: {
    packageOf: (version) => `@anthropic-ai/claude-code${isNative(version) ? `-${system}` : ''}`,
    program: (folder) => {
      const script = join(folder, 'cli.js')
      return existsSync(script) ? [process.execPath, script] : [join(folder, `claude${exe}`)]
    },
    setups: [
      ['claude'],
      ...['opus', 'haiku', 'fable'].map((slot) => ['claude', '--slot', slot]),
      ['claude-gpt'],
    ],
    files: ['.claude/settings.json'],
    run: (prompt) => ['--allowed-tools', 'Bash', '-p', prompt],
    env: { CLAUDE_CODE_MAX_RETRIES: '0' },
    tools: [['Bash', { command: shellCommand, description: 'Says it' }]],
  },
  opencode: {
    packageOf: () => `opencode-${isWindows ? 'windows' : process.platform}-${process.arch}`,
    program: (folder) => [join(folder, `bin/opencode${exe}`)],
    setups: [['opencode']],
    files: ['.config/opencode/opencode.json', '.local/share/opencode/auth.json'],
    run: (prompt) => ['run', prompt],
    tools: [['bash', { command: shellCommand, description: 'Says it' }]],
  },
}

/** Claude Code is a script up to 2.1.109. */
function isNative(version) {
  return Number(version.split('.')[2]) >= 110
}

/** What the tests run: three old versions of each, and the newest last. */
export const clientVersions = {
  codex: ['0.105.0', '0.130.0', '0.149.1', '0.169.0'],
  claude: ['2.1.54', '2.1.197', '2.1.238', '2.1.330'],
  opencode: ['1.2.27', '1.14.41', '1.18.3', '1.18.34'],
}

/** By the name of its folder: what npm installs for each of these versions. */
export function clientPackages(versions) {
  return Object.fromEntries(
    Object.entries(versions).flatMap(([name, list]) =>
      list.map((version) => [
        `${name}-${version}`,
        `npm:${clients[name].packageOf(version)}@${version}`,
      ]),
    ),
  )
}

/** How to start it: a program and the arguments that always come first. */
export function programOf(modules, name, version) {
  return clients[name].program(join(modules, `${name}-${version}`))
}
