import { join } from 'node:path'

const isWindows = process.platform === 'win32'

/**
 * A native binary, a package for each system; what npm calls `cline` is a script that starts it.
 *
 * @type {import('../../../scripts/real-clients.js').RealClient}
 */
export default {
  packageOf: () => `@cline/cli-${isWindows ? 'windows' : process.platform}-${process.arch}`,
  program: (folder) => [join(folder, `bin/cline${isWindows ? '.exe' : ''}`)],
  oldest: '3.0.57',
  versions: ['3.0.57', '3.0.65'],
  setups: [['cline']],
  files: ['.cline/data/settings/providers.json'],
  writesFiles: true,
  // A single word would be a command of its own.
  run: (prompt) => [`${prompt} `],
  // Otherwise it leaves a daemon behind, and looks for newer versions.
  env: { CLINE_SESSION_BACKEND_MODE: 'local', CLINE_NO_AUTO_UPDATE: '1' },
  tools: (command) => [['run_commands', { commands: [command] }]],
}
