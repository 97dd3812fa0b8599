import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const isWindows = process.platform === 'win32'
/** Two providers of models.dev, whose list of 8,000 models costs half the processor time of a start. */
const fewModels = fileURLToPath(new URL('../support/models-dev.json', import.meta.url))

/**
 * A native binary, a package for each system: the wrapper brings two of them (seen 2026-11-21).
 *
 * @type {import('../../../scripts/real-clients.js').RealClient}
 */
export default {
  packageOf: () => `opencode-${isWindows ? 'windows' : process.platform}-${process.arch}`,
  program: (folder) => [join(folder, `bin/opencode${isWindows ? '.exe' : ''}`)],
  oldest: '1.1.53',
  versions: ['1.2.27', '1.14.41', '1.18.3', '1.18.34'],
  setups: [['opencode']],
  files: ['.config/opencode/opencode.json', '.local/share/opencode/auth.json'],
  // It installs packages for a project's plugins: with no network it tries for 70 s (1.18.34, 2026-11-26).
  env: { npm_config_fetch_retries: '0', OPENCODE_MODELS_PATH: fewModels },
  run: (prompt) => ['run', prompt],
  tools: (command) => [['bash', { command, description: 'Says it' }]],
}
