/**
 * Runs the default tests on the supported Nodes, taken from npm packages: all of them on the newest,
 * and on the others what depends on Node most: files, processes, terminal, and whole commands with
 * their requests. The Node that runs this script is left out: `npm test` has run everything on it.
 *
 *   npm run test:nodes            as above
 *   npm run test:nodes -- 22 24   all of it on these
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'

const supported = [20, 22, 24, 26]
const core = ['test/platform', 'test/scenarios', 'test/commands']

const asked = process.argv.slice(2).map(Number)
const folder = resolve('.cache/nodes')
const own = Number(process.versions.node.split('.')[0])
const chosen = asked.length > 0 ? asked : supported.filter((version) => version !== own)
let failed = 0
for (const version of chosen) {
  const node = nodeOf(version)
  const isWhole = asked.length > 0 || version === supported.at(-1)
  const start = Date.now()
  const { status } = spawnSync(
    node,
    ['node_modules/vitest/vitest.mjs', 'run', '--reporter=dot', ...(isWhole ? [] : core)],
    { stdio: 'inherit' },
  )
  const seconds = Math.round((Date.now() - start) / 1000)
  const said = spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.trim()
  console.log(
    `Node ${said}: ${status === 0 ? 'passed' : 'FAILED'}, ${isWhole ? 'all tests' : 'the core'}, ${seconds} s\n`,
  )
  if (status !== 0) failed++
}
process.exitCode = failed === 0 ? 0 : 1

/** The path of a Node of this major version, installed into .cache/nodes when it is missing. */
function nodeOf(version) {
  const { platform, arch } = process
  const isWindows = platform === 'win32'
  const name = `node-${isWindows ? 'win' : platform}-${arch}`
  const path = resolve(folder, `node_modules/node${version}/bin/node${isWindows ? '.exe' : ''}`)
  if (existsSync(path)) return path
  mkdirSync(folder, { recursive: true })
  if (!existsSync(resolve(folder, 'package.json')))
    writeFileSync(resolve(folder, 'package.json'), '{"private":true}\n')
  const { status } = spawnSync(
    'npm',
    ['install', '--no-audit', '--no-fund', '--silent', `node${version}@npm:${name}@${version}`],
    { cwd: folder, stdio: 'inherit', shell: isWindows },
  )
  if (status !== 0) throw new Error(`npm could not install Node ${version} (${name})`)
  return path
}
