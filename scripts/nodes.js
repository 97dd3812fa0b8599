/** The Nodes that we know: our own, those that are supported, and where npm has them. */
import { join } from 'node:path'

const isWindows = process.platform === 'win32'
const nodePackage = `node-${isWindows ? 'win' : process.platform}-${process.arch}`

/** Major versions. */
export const supportedNodes = [20, 22, 24, 26]
export const ownNode = Number(process.versions.node.split('.')[0])

/** By the name of its folder: what npm installs for Nodes of these major versions. */
export function nodePackages(majors) {
  return Object.fromEntries(majors.map((major) => [`node${major}`, `npm:${nodePackage}@${major}`]))
}

/** The program of one that is installed. */
export function nodeIn(modules, major) {
  return join(modules, `node${major}`, `bin/node${isWindows ? '.exe' : ''}`)
}
