import { join } from 'node:path'

/** @type {import('../../../scripts/real-clients.js').RealClient} */
export default {
  packageOf: () => 'openclaw',
  node: () => 24,
  program: (folder, node) => [node, join(folder, 'openclaw.mjs')],
  oldest: '2026.9.5',
  versions: ['2026.9.5', '2026.9.6'],
  setups: [
    ['openclaw'],
    ['openclaw', '--protocol', 'chat'],
    ['openclaw', '--protocol', 'messages'],
  ],
  files: ['.openclaw/openclaw.json'],
  run: (prompt) => ['agent', 'exec', prompt],
  env: { OPENCLAW_OFFLINE: '1', OPENCLAW_NO_AUTO_UPDATE: '1' },
  tools: (command) => [['exec', { command }]],
}
