/**
 * Runs a test suite, and installs what it needs first. The npm scripts `test` and `test:SUITE` call it.
 *
 *   node scripts/test.js SUITE [arguments of vitest]
 *
 * A suite is a project of vitest.config.js, or one of these:
 * properties      the property tests, with many more runs
 * sweeps          tests that try a sample by default, with every case
 * nodes           the tests that depend on Node, on the other supported versions; most on the newest
 * mutation PART   the mutation tests of one part of src
 */
import { spawnSync } from 'node:child_process'
import { installPackages, installTools, modulesOf, nodeOf } from './install.js'
import { ownNode, supportedNodes } from './nodes.js'
import { offline } from './offline.js'

/** What a suite needs in addition to what `npm ci` installs. */
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
      'test/scenarios/walk.test.ts',
    ],
    env: { REPOINT_PROPERTY_RUNS: '1500' },
  },
  sweeps: {
    project: 'unit',
    paths: [
      'test/gateway/wrong-key.test.ts',
      'test/providers/matrix.test.ts',
      'test/commands/setup/prove-clients.test.ts',
      'test/scenarios/client-states.test.ts',
      'test/scenarios/gateway-faults.test.ts',
      'test/scenarios/kept-choices.test.ts',
      'test/scenarios/keys-left.test.ts',
      'test/scenarios/off.test.ts',
      'test/scenarios/other-tools.test.ts',
      'test/scenarios/protocols.test.ts',
      'test/scenarios/round-trips.test.ts',
      'test/scenarios/small-window.test.ts',
      'test/transaction/faults.test.ts',
      'test/transaction/power-loss.test.ts',
    ],
    env: { REPOINT_EVERY_CASE: '1' },
  },
}

/**
 * The tests that depend on Node most: files, processes, connections, and whole commands. The oldest Node runs
 * everything, in the default suite.
 */
const core = ['test/platform', 'test/gateway/http', 'test/scenarios/clients.test.ts']

/** More tests for the newest Node, which may differ from all earlier ones. */
const newest = [
  ...core,
  'test/serve',
  'test/commands/serve.test.ts',
  ...['terminal', 'interrupt', 'typed-early', 'run', 'as-root'].map(
    (name) => `test/scenarios/${name}.test.ts`,
  ),
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

function mutate([part, ...extra]) {
  installPackages('mutation')
  const stryker = `${modulesOf('mutation')}/@stryker-mutator/core/bin/stryker.js`
  const env = { MUTATION_PART: part }
  return start([nodeOf(22), stryker, 'run', 'scripts/stryker.config.js', ...extra], env)
}

/** Returns the exit status; 1 if a signal ended the process. */
function start([command, ...args], env = {}) {
  const { status } = spawnSync(command, args, {
    stdio: 'inherit',
    env: { ...process.env, ...env },
  })
  return status ?? 1
}
