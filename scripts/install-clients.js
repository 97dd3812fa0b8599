// Installs the real clients for `npm run test:clients` into .cache/clients, unless they are there.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { clientPackages, clientsFolder, missingClients } from './client-versions.js'

const missing = missingClients()
if (missing.length > 0) {
  console.error(`Installing ${missing.map(({ name }) => name).join(', ')} into .cache/clients …`)
  mkdirSync(clientsFolder, { recursive: true })
  const manifest = `${clientsFolder}/package.json`
  if (!existsSync(manifest)) writeFileSync(manifest, '{"private":true}\n')
  // All of them in one go: npm removes what a command does not name only when the manifest does not.
  const specs = clientPackages.map(({ name, package: source, version }) =>
    name === source ? `${name}@${version}` : `${name}@npm:${source}@${version}`,
  )
  const { status } = spawnSync(
    'npm',
    ['install', '--prefix', clientsFolder, '--save-exact', '--no-audit', '--no-fund', ...specs],
    { stdio: ['ignore', 'ignore', 'inherit'], shell: process.platform === 'win32' },
  )
  if (status !== 0 || missingClients().length > 0) {
    console.error('The clients could not be installed.')
    process.exitCode = 1
  }
}
