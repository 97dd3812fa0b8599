// The real clients that the tests run, and where they are installed. About 1.4 GB on disk.
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Not dev dependencies: too large for everybody who only wants to change a line. */
export const clientsFolder = fileURLToPath(new URL('../.cache/clients', import.meta.url))

const system = `${process.platform}-${process.arch}`

// Claude Code is a native binary for each system: the wrapper package would choose another version on
// Node 20 (seen 2026-11-21). Two versions stand beside each other under names of our own.
export const clientPackages = [
  { name: '@openai/codex', package: '@openai/codex', version: '0.169.0' },
  {
    name: 'claude-code-2.1.197',
    package: `@anthropic-ai/claude-code-${system}`,
    version: '2.1.197',
  },
  {
    name: 'claude-code-2.1.329',
    package: `@anthropic-ai/claude-code-${system}`,
    version: '2.1.329',
  },
  { name: 'opencode-ai', package: 'opencode-ai', version: '1.18.33' },
]

/** Those that are not there in the right version. */
export function missingClients() {
  return clientPackages.filter(({ name, version }) => {
    const file = `${clientsFolder}/node_modules/${name}/package.json`
    return !existsSync(file) || JSON.parse(readFileSync(file, 'utf8')).version !== version
  })
}
