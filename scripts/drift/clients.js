/** The real clients: a file each in test/clients/real, called as the client's program is. */
import { readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { nodeIn, nodePackages, ownNode } from '../nodes.js'

/**
 * @typedef {object} RealClient
 * @property {(version: string) => string} packageOf what npm installs
 * @property {(version: string) => number} [node] the major version of the Node that it needs at least
 * @property {(folder: string, node: string) => string[]} program how to start it from that package's
 *   folder, where it is a script with that Node: a program and the arguments that always come first
 * @property {string} oldest the oldest version that its setup is known to work in
 * @property {(version: number[]) => string} [groupOf] of the versions with the same answer drift runs
 *   the newest; absent: of each minor version
 * @property {string[]} versions what the tests run: old ones, and the newest last
 * @property {string[][]} setups of repoint: arguments
 * @property {string[]} files that they write, below the home
 * @property {(prompt: string) => string[]} run arguments that let it answer once and use its shell
 * @property {Record<string, string>} [env] of that run
 * @property {(command: string) => [string, object][]} tools its shell tool with the input that runs a
 *   command, under the names that it had
 */

const folder = new URL('../../test/clients/real/', import.meta.url)

/** @type {Record<string, RealClient>} */
export const clients = Object.fromEntries(
  await Promise.all(
    readdirSync(folder)
      .sort()
      .map(async (file) => [basename(file, '.js'), (await import(new URL(file, folder))).default]),
  ),
)

/** By the name of its folder: what npm installs for versions of a client, by default those of the tests. */
export function clientPackages(name, versions = clients[name].versions) {
  const newerNodes = versions
    .map((version) => nodeFor(name, version))
    .filter((one) => one > ownNode)
  const own = versions.map((version) => [
    `${name}-${version}`,
    `npm:${clients[name].packageOf(version)}@${version}`,
  ])
  return { ...nodePackages(newerNodes), ...Object.fromEntries(own) }
}

/** A major version. */
function nodeFor(name, version) {
  return clients[name].node?.(version) ?? ownNode
}

/** How to start it: a program and the arguments that always come first. */
export function programOf(modules, name, version) {
  const major = nodeFor(name, version)
  const node = major > ownNode ? nodeIn(modules, major) : process.execPath
  return clients[name].program(join(modules, `${name}-${version}`), node)
}
