import { join } from 'node:path'

const isWindows = process.platform === 'win32'

/**
 * A native binary, a package for each system.
 *
 * @type {import('../../../scripts/real-clients.js').RealClient}
 */
export default {
  packageOf: () => `@factory/cli-${isWindows ? 'win32' : process.platform}-${process.arch}`,
  program: (folder) => [join(folder, `bin/droid${isWindows ? '.exe' : ''}`)],
  // Older ones want an account.
  oldest: '0.215.0',
  versions: ['0.215.0', '0.225.2'],
  setups: [['droid']],
  files: ['.factory/settings.json'],
  run: (prompt) => ['exec', '--auto', 'medium', prompt],
  // Otherwise it tells Factory of the session, and waits 5 s for that.
  env: { FACTORY_AIRGAP_ENABLED: '1' },
  tools: (command) => [
    [
      'Execute',
      {
        command,
        summary: 'Says it',
        timeout: 60,
        riskLevel: 'low',
        riskLevelReason: 'It prints a word',
      },
    ],
  ],
}
