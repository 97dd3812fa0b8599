/**
 * Runs a suite with what it needs: `node scripts/test.js SUITE [what vitest takes]`. A suite is a
 * project of vitest.config.js, `properties` (many more runs of the property tests), `sweeps` (every case
 * of the default tests that try a sample otherwise), `nodes` (the default tests that depend on Node, on the
 * other supported ones, most of them on the newest) or `mutation ROOM`.
 */
import { spawnSync } from 'node:child_process'
import { installPackages, installTools, modulesOf, nodeOf } from './install.js'
import { ownNode, supportedNodes } from './nodes.js'
import { offline } from './offline.js'

/** What a suite needs beside what `npm ci` installs. */
const needs = {
  crash: { tools: { strace: 'strace' } },
  clients: {
    packages: ['clients', 'gateways', 'copilot'],
    tools: { sqlite3: 'sqlite3' },
    isOffline: true,
  },
  network: {
    tools: {
      nginx: 'nginx',
      tinyproxy: 'tinyproxy',
      ip: 'iproute2',
    },
  },
  fleet: {
    tools: {
      'ansible-playbook': 'ansible-core',
      sshd: 'openssh-server',
      sudo: 'sudo',
      ip: 'iproute2',
    },
  },
  binary: { packages: 'nodes' },
  windows: { packages: 'windows', tools: { wine: 'wine wine64' } },
  browser: { tools: { chromium: 'chromium' } },
  // The newest SDKs need Node 22.
  sdk: { packages: 'sdk', node: 22 },
  properties: {
    project: 'unit',
    paths: [
      'test/edits/properties.test.ts',
      'test/edits/members.test.ts',
      'test/scenarios/undo-histories.test.ts',
    ],
    env: { REPOINT_PROPERTY_RUNS: '1500' },
  },
  sweeps: {
    project: 'unit',
    paths: [
      'test/gateway/wrong-key.test.ts',
      'test/providers/matrix.test.ts',
      'test/scenarios/round-trips.test.ts',
      'test/scenarios/sequences.test.ts',
      'test/transaction/faults.test.ts',
      'test/transaction/power-loss.test.ts',
    ],
    env: { REPOINT_EVERY_CASE: '1' },
  },
}

/**
 * What depends on Node most: files, processes, connections, and whole commands. The oldest Node runs
 * everything, in the default suite.
 */
const core = ['test/platform', 'test/gateway/http', 'test/scenarios/clients.test.ts']

/** Beside these what the newest Node may do otherwise than all before it. */
const newest = [
  ...core,
  'test/serve',
  'test/commands/serve.test.ts',
  ...['terminal', 'run', 'as-root'].map((name) => `test/scenarios/${name}.test.ts`),
]

const [suite = 'unit', ...args] = process.argv.slice(2)
const isBuilt = start([process.execPath, 'scripts/build.js', '--if-older']) === 0
const special = { nodes: onOtherNodes, mutation: () => mutate(args) }
process.exitCode = !isBuilt ? 1 : (special[suite]?.() ?? run(suite, args))

function run(name, extra) {
  const {
    tools,
    packages,
    node = 0,
    project = name,
    paths = [],
    env,
    isOffline,
  } = needs[name] ?? {}
  if (tools) installTools(tools)
  for (const set of [packages ?? []].flat()) installPackages(set)

  const command = [
    ...(isOffline ? offline() : []),
    ownNode >= node ? process.execPath : nodeOf(node),
    'node_modules/vitest/vitest.mjs',
    'run',
    '--project',
    project,
    ...paths,
    ...extra,
  ]
  return start(command, env)
}

function onOtherNodes() {
  const results = supportedNodes
    .filter((major) => major !== ownNode)
    .map((major) => {
      console.log(`\nNode ${major}`)
      const vitest = [nodeOf(major), 'node_modules/vitest/vitest.mjs', 'run', '--project', 'unit']
      const paths = major === supportedNodes.at(-1) ? newest : core
      return start([...vitest, '--reporter=dot', ...paths])
    })
  return Math.max(...results)
}

function mutate([room, ...extra]) {
  installPackages('mutation')
  const stryker = `${modulesOf('mutation')}/@stryker-mutator/core/bin/stryker.js`
  const env = { MUTATION_ROOM: room }
  return start([nodeOf(22), stryker, 'run', 'scripts/stryker.config.js', ...extra], env)
}

/** Returns the exit status; 1 where it was ended by a signal. */
function start([command, ...args], env = {}) {
  const { status } = spawnSync(command, args, {
    stdio: 'inherit',
    env: { ...process.env, ...env },
  })
  return status ?? 1
}
