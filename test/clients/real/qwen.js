import { existsSync } from 'node:fs'
import { join } from 'node:path'

/**
 * A program of Node.
 *
 * @type {import('../../../scripts/real-clients.js').RealClient}
 */
export default {
  packageOf: () => '@qwen-code/qwen-code',
  // The newest for Node 20 is 0.15.10.
  node: (version) => (Number(version.split('.')[1]) > 15 ? 22 : 20),
  program: (folder, node) => {
    const entry = join(folder, 'cli-entry.js')
    return [node, existsSync(entry) ? entry : join(folder, 'cli.js')]
  },
  oldest: '0.15.10',
  versions: ['0.15.10', '0.24.4'],
  setups: [['qwen']],
  files: ['.qwen/settings.json'],
  run: (prompt) => ['-y', prompt],
  tools: (command) => [
    ['run_shell_command', { command, description: 'Says it', is_background: false }],
  ],
}
