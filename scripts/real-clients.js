/** The real clients that tests and scripts start. Each has a file in test/clients/real with its program's name. */
import { readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { nodeIn, nodePackages, ownNode } from './nodes.js'

/**
 * @typedef {object} RealClient
 * @property {(version: string) => string} packageOf the npm package of a version
 * @property {(version: string) => number} [node] the lowest major version of Node that the client needs
 * @property {(folder: string, node: string) => string[]} program the command that starts the client: a
 *   program and the arguments that always come first. `folder` is the package's folder, and `node` runs a
 *   client that is a script
 * @property {string} oldest the oldest version in which a setup works
 * @property {(version: number[]) => string} [groupOf] groups versions: `npm run check-releases` runs the
 *   newest of each group. Absent: a group for each minor version
 * @property {string[]} versions the versions that the tests run, the newest last
 * @property {string[][]} setups the arguments of repoint, one setup per list
 * @property {string[]} files the files that these setups write, below the home
 * @property {boolean} [writesFiles] it writes these files itself when it starts for the first time
 * @property {(prompt: string) => string[]} run the arguments for one answer, in which the client may use
 *   its shell tool
 * @property {Record<string, string>} [env] the variables of that run
 * @property {(command: string) => [string, object][]} tools the names that its shell tool has had, each
 *   with the input that runs a command
 */

const folder = new URL('../test/clients/real/', import.meta.url)

/** @type {Record<string, RealClient>} */
export const clients = Object.fromEntries(
  await Promise.all(
    readdirSync(folder)
      .sort()
      .map(async (file) => [basename(file, '.js'), (await import(new URL(file, folder))).default]),
  ),
)

/** The npm packages for versions of a client, by folder name. By default, the versions of the tests. */
export function clientPackages(name, versions = clients[name].versions) {
  const newerNodes = versions
    .map((version) => nodeFor(name, version))
    .filter((major) => major > ownNode)
  const packages = versions.map((version) => [
    `${name}-${version}`,
    `npm:${clients[name].packageOf(version)}@${version}`,
  ])
  return { ...nodePackages(newerNodes), ...Object.fromEntries(packages) }
}

/** The major version of Node that runs a client. */
function nodeFor(name, version) {
  return clients[name].node?.(version) ?? ownNode
}

/** The command that starts an installed version of a client. */
export function programOf(modules, name, version) {
  const major = nodeFor(name, version)
  const node = major > ownNode ? nodeIn(modules, major) : process.execPath
  return clients[name].program(join(modules, `${name}-${version}`), node)
}
