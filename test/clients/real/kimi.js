import { join } from 'node:path'

/**
 * A program of Node.
 *
 * @type {import('../../../scripts/real-clients.js').RealClient}
 */
export default {
  packageOf: () => '@moonshot-ai/kimi-code',
  // 22.19 or later.
  node: () => 22,
  program: (folder, node) => [node, join(folder, 'dist/main.mjs')],
  oldest: '2.0.2',
  versions: ['2.0.2', '2.1.0'],
  setups: [['kimi'], ['kimi', '--protocol', 'chat'], ['kimi', '--protocol', 'messages']],
  files: ['.kimi-code/config.toml'],
  run: (prompt) => ['-p', prompt],
  env: { KIMI_CODE_NO_AUTO_UPDATE: '1' },
  tools: (command) => [['Bash', { command }]],
}
