import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
// @ts-expect-error plain JavaScript, shared with scripts/install-clients.js
import { clientsFolder as folder, missingClients } from '../../../scripts/client-versions.js'

const clientsFolder: string = folder

/** The versions of Claude Code that the tests run. */
export const claudeVersions = ['2.1.197', '2.1.329'] as const

export type ClaudeVersion = (typeof claudeVersions)[number]

/** How to start each client: a program and the arguments that always come first. */
export interface InstalledClients {
  readonly codex: readonly [string, ...string[]]
  readonly claude: Readonly<Record<ClaudeVersion, readonly [string, ...string[]]>>
  readonly opencode: readonly [string, ...string[]]
}

/**
 * Where the real clients are. Installs what is missing, which needs the network: run
 * `node scripts/install-clients.js` first where the tests themselves have none.
 */
export function installClients(): InstalledClients {
  if (missingClients().length > 0) {
    const script = fileURLToPath(new URL('../../../scripts/install-clients.js', import.meta.url))
    execFileSync(process.execPath, [script], { stdio: ['ignore', 'ignore', 'inherit'] })
  }
  const modules = `${clientsFolder}/node_modules`
  const exe = process.platform === 'win32' ? '.exe' : ''
  const os = process.platform === 'win32' ? 'windows' : process.platform
  return {
    codex: [process.execPath, `${modules}/@openai/codex/bin/codex.js`],
    claude: {
      '2.1.197': [`${modules}/claude-code-2.1.197/claude${exe}`],
      '2.1.329': [`${modules}/claude-code-2.1.329/claude${exe}`],
    },
    // The package's own start script looks for this file; its install script may not have run.
    opencode: [`${modules}/opencode-${os}-${process.arch}/bin/opencode${exe}`],
  }
}
