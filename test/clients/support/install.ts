// @ts-expect-error plain JavaScript, shared with the script
import { installPackages, modulesOf } from '../../../scripts/install.js'
// @ts-expect-error plain JavaScript, shared with the script
import { clients, programOf } from '../../../scripts/real-clients.js'
import type { Home } from '../../support/home.ts'

/** The versions of Claude Code that every test of it runs. */
export const claudeVersions = ['2.1.197', '2.1.330'] as const

export type ClaudeVersion = (typeof claudeVersions)[number]

/** A program and its first arguments, which are always the same. */
export type Program = readonly [string, ...string[]]

/** The versions of every client, by the name of its program, the newest one last. */
export const installedVersions: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  Object.entries<{ versions: readonly string[] }>(clients).map(([name, { versions }]) => [
    name,
    versions,
  ]),
)

/**
 * How to start a real client; `version` is the newest if absent. Installs missing ones, which needs the network: run
 * `node scripts/install.js clients` first where the tests themselves have none.
 */
export function installedClient(name: string, version = installedVersions[name]?.at(-1)): Program {
  installPackages('clients')
  return programOf(modulesOf('clients'), name, version)
}

/**
 * Puts a program into `bin` of a home, which a test has in its PATH. It gets no standard input, unless it keeps ours:
 * opencode waits for the end of one that is a socket.
 */
export function putInBin(home: Home, name: string, program: Program, keepsInput = false): void {
  const words = program.map((word) => `'${word}'`).join(' ')
  const input = keepsInput ? '' : ' </dev/null'
  home.put(`bin/${name}`, `#!/bin/sh\nexec ${words} "$@"${input}\n`, 0o755)
}
