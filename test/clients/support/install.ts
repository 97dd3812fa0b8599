// @ts-expect-error plain JavaScript, shared with the script
import { installPackages, modulesOf } from '../../../scripts/install.js'
// @ts-expect-error plain JavaScript, shared with the script
import { clients, programOf } from '../../../scripts/real-clients.js'

/** The versions of Claude Code that every test of it runs. */
export const claudeVersions = ['2.1.197', '2.1.330'] as const

export type ClaudeVersion = (typeof claudeVersions)[number]

/** A program and its first arguments, which are always the same. */
export type Program = readonly [string, ...string[]]

/** How to start each client, with the newest versions of Codex and opencode. */
export interface InstalledClients {
  readonly codex: Program
  readonly claude: Readonly<Record<ClaudeVersion, Program>>
  readonly opencode: Program
}

/** The versions of every client, by the name of its program, the newest one last. */
export const installedVersions: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  Object.entries<{ versions: readonly string[] }>(clients).map(([name, { versions }]) => [
    name,
    versions,
  ]),
)

/**
 * The folders of the real clients. Installs missing ones, which needs the network: run
 * `node scripts/install.js clients` first where the tests themselves have none.
 */
export function installClients(): InstalledClients {
  return {
    codex: installedClient('codex'),
    claude: {
      '2.1.197': installedClient('claude', '2.1.197'),
      '2.1.330': installedClient('claude', '2.1.330'),
    },
    opencode: installedClient('opencode'),
  }
}

/** As `installClients`; `version` is the newest if absent. */
export function installedClient(name: string, version = installedVersions[name]?.at(-1)): Program {
  installPackages('clients')
  return programOf(modulesOf('clients'), name, version)
}
