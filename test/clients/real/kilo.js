import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const isWindows = process.platform === 'win32'
/** As for opencode. */
const fewModels = fileURLToPath(new URL('../support/models-dev.json', import.meta.url))

/**
 * A native binary, a package for each system: the wrapper may fail to find it (seen 2026-11-22).
 *
 * @type {import('../../../scripts/real-clients.js').RealClient}
 */
export default {
  packageOf: () => `@kilocode/cli-${isWindows ? 'windows' : process.platform}-${process.arch}`,
  program: (folder) => [join(folder, `bin/kilo${isWindows ? '.exe' : ''}`)],
  oldest: '7.0.33',
  versions: ['7.0.33', '7.7.9'],
  setups: [['kilo']],
  files: ['.config/kilo/kilo.jsonc', '.local/share/kilo/auth.json'],
  run: (prompt) => ['run', '--auto', prompt],
  // Offline it waits for its own service, 7.0.33 for a minute.
  env: {
    KILO_DISABLE_MODELS_FETCH: '1',
    KILO_MODELS_PATH: fewModels,
    KILO_DISABLE_SESSION_INGEST: '1',
    KILO_TELEMETRY_LEVEL: 'off',
  },
  tools: (command) => [['bash', { command, description: 'Says it' }]],
}
