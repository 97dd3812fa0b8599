import { chmodSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'

const isWindows = process.platform === 'win32'

/**
 * A native binary, a package for each system. The script that npm runs after it would unpack it into the home of the
 * user.
 *
 * @type {import('../../../scripts/real-clients.js').RealClient}
 */
export default {
  packageOf: () => `@xai-official/grok-${process.platform}-${process.arch}`,
  program: (folder) => [unpacked(join(folder, 'bin/grok'))],
  oldest: '1.0.5',
  versions: ['1.0.5', '1.0.41'],
  setups: [['grok'], ['grok', '--protocol', 'chat']],
  files: ['.grok/config.toml'],
  run: (prompt) => ['-p', prompt, '--always-approve'],
  env: { GROK_DISABLE_AUTOUPDATER: '1' },
  tools: (command) => [['run_terminal_command', { command, description: 'Says it' }]],
}

/** Some 160 MB, once for each version. */
function unpacked(path) {
  const program = isWindows ? `${path}.exe` : path
  if (existsSync(program) || !existsSync(`${path}.br`)) return program
  const part = `${program}.${process.pid}`
  writeFileSync(part, brotliDecompressSync(readFileSync(`${path}.br`)))
  chmodSync(part, 0o755)
  renameSync(part, program)
  return program
}
