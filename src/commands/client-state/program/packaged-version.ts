import { posix, win32 } from 'node:path'
import { ifPossible } from '../../../errors.ts'
import { asObject, jsonIn } from '../../../gateway/foreign-text.ts'
import type { Machine, Platform } from '../../../platform/platform.ts'

/** Enough for a script that a package manager writes to start a program; npm's has 600 bytes. */
const maxScriptBytes = 8_192

const maxManifestBytes = 1_000_000

/** The systems in the names of packages: `darwin-arm64`, `linux-x64-baseline-musl`. */
const systemName =
  /^(?:darwin|linux|linuxmusl|win32|windows)-(?:x64|arm64)(?:-baseline)?(?:-musl)?$/

/**
 * The version of the npm package that contains a program, from its package.json.
 *
 * @param packages as in `Program.packages`: a package.json with another name is ignored
 * @returns undefined if the program is not in such a package
 */
export function packagedVersion(
  { files, machine }: Pick<Platform, 'files' | 'machine'>,
  program: string,
  packages: readonly string[],
): string | undefined {
  const { basename, dirname, join } = pathsFor(machine)
  const file = ifPossible(() => files.realpath(program))
  if (file === undefined) return undefined

  let folder = dirname(scriptTarget({ files, machine }, file) ?? file)
  while (basename(folder) !== 'node_modules') {
    const path = join(folder, 'package.json')
    const text = ifPossible(() => new TextDecoder().decode(files.read(path, maxManifestBytes)))
    const { name, version } = asObject(jsonIn(text ?? '')) ?? {}
    // A package.json without a name only says how Node reads the files next to it.
    if (typeof name === 'string') return matchesName(packages, name) ? release(version) : undefined

    const parent = dirname(folder)
    if (parent === folder) return undefined
    folder = parent
  }
  return undefined
}

/**
 * The file in a package that a script starts. npm writes such scripts on Windows (`claude.cmd`), and
 * pnpm on every system.
 */
function scriptTarget(
  { files, machine }: Pick<Platform, 'files' | 'machine'>,
  script: string,
): string | undefined {
  const { dirname, join } = pathsFor(machine)
  const text = ifPossible(() => new TextDecoder().decode(files.readStart(script, maxScriptBytes)))
  const targets = text?.matchAll(/"(?:%~dp0|%dp0%|\$basedir)([^"]*\bnode_modules\b[^"]*)"/g) ?? []

  for (const [, target = ''] of targets) {
    const path = ifPossible(() => files.realpath(join(dirname(script), target)))
    if (path !== undefined) return path
  }
  return undefined
}

function pathsFor({ os }: Machine) {
  return os === 'win32' ? win32 : posix
}

function matchesName(packages: readonly string[], name: string): boolean {
  return packages.some((pattern) => {
    if (!pattern.endsWith('*')) return pattern === name
    const stem = pattern.slice(0, -1)
    return name.startsWith(stem) && systemName.test(name.slice(stem.length))
  })
}

/** The version without the name of a system, which Codex adds for some packages: `0.169.0-linux-x64`. */
function release(version: unknown): string | undefined {
  const match = typeof version === 'string' ? /^(\d+\.\d+\.\d+)(?:-(.+))?$/.exec(version) : null
  // Sources that were never published have 0.0.0.
  if (match === null || match[1] === '0.0.0') return undefined
  const [, numbers, suffix] = match
  return suffix === undefined || systemName.test(suffix) ? numbers : match[0]
}
