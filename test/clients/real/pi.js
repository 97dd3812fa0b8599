import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** @type {import('../../../scripts/real-clients.js').RealClient} */
export default {
  packageOf: (version) =>
    isRenamed(version) ? '@earendil-works/pi-coding-agent' : '@mariozechner/pi-coding-agent',
  node: (version) => (minorOf(version) >= 75 ? 22 : 20),
  program: (folder, node) => {
    const bundle = join(folder, 'dist/bundle/cli.js')
    return [node, existsSync(bundle) ? bundle : join(folder, 'dist/cli.js')]
  },
  oldest: '0.51.0',
  versions: ['0.73.1', '0.87.1'],
  setups: [['pi'], ['pi', '--protocol', 'chat'], ['pi', '--protocol', 'messages']],
  files: ['.pi/agent/models.json', '.pi/agent/settings.json'],
  run: (prompt) => ['-p', prompt],
  env: { PI_OFFLINE: '1' },
  tools: (command) => [['bash', { command }]],
}

/** From 0.74 on another owner publishes it, and from 0.75 on it needs Node 22. */
function isRenamed(version) {
  return minorOf(version) >= 74
}

function minorOf(version) {
  const [major, minor] = version.split('.').map(Number)
  return major > 0 ? Number.POSITIVE_INFINITY : minor
}
