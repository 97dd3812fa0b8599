import { existsSync } from 'node:fs'
import { join } from 'node:path'

const exe = process.platform === 'win32' ? '.exe' : ''

/**
 * A native binary, a package for each system: the wrapper would choose another version on Node 20
 * (seen 2026-11-21).
 *
 * @type {import('../../../scripts/real-clients.js').RealClient}
 */
export default {
  packageOf: (version) => {
    const system = isNative(version) ? `-${process.platform}-${process.arch}` : ''
    return `@anthropic-ai/claude-code${system}`
  },
  program: (folder, node) => {
    const script = join(folder, 'cli.js')
    return existsSync(script) ? [node, script] : [join(folder, `claude${exe}`)]
  },
  oldest: '2.1.45',
  // It has had one minor version for a year: the last of each thirty patches.
  groupOf: ([major, minor, patch]) => `${major}.${minor}.${Math.floor(patch / 30)}`,
  versions: ['2.1.54', '2.1.197', '2.1.238', '2.1.330'],
  setups: [
    ['claude'],
    ...['opus', 'haiku', 'fable'].map((slot) => ['claude', '--slot', slot]),
    ['claude-gpt'],
  ],
  files: ['.claude/settings.json'],
  run: (prompt) => ['--allowed-tools', 'Bash', '-p', prompt],
  env: { CLAUDE_CODE_MAX_RETRIES: '0' },
  tools: (command) => [['Bash', { command, description: 'Says it' }]],
}

/** It is a script up to 2.1.109. */
function isNative(version) {
  return Number(version.split('.')[2]) >= 110
}
