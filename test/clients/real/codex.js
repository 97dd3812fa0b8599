import { join } from 'node:path'

/** @type {import('../../../scripts/real-clients.js').RealClient} */
export default {
  packageOf: () => '@openai/codex',
  program: (folder, node) => [node, join(folder, 'bin/codex.js')],
  oldest: '0.58.0',
  versions: ['0.105.0', '0.130.0', '0.149.1', '0.162.1', '0.169.0'],
  setups: [['codex']],
  files: ['.codex/config.toml', '.codex/auth.json'],
  run: (prompt) => ['exec', '--skip-git-repo-check', '-s', 'workspace-write', prompt],
  tools: (command) => [
    ['exec_command', { cmd: command }],
    ['shell', { command: ['sh', '-c', command] }],
  ],
}
