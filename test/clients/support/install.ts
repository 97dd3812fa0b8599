// @ts-expect-error plain JavaScript, shared with the script
import { installPackages, modulesOf } from '../../../scripts/install.js'

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
 * `node scripts/install.js clients` first where the tests themselves have none.
 */
export function installClients(): InstalledClients {
  installPackages('clients')
  const modules: string = modulesOf('clients')
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
