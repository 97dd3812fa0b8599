#!/usr/bin/env node
// Builds the real platform, runs the command line, sets the exit status.
import { existsSync } from 'node:fs'

const modules = [import('../dist/cli.mjs'), import('../dist/platform.mjs')]
const loaded = await Promise.all(modules).catch((fault) => {
  // Checked only on failure: the single executable contains everything and has no dist folder.
  if (existsSync(new URL('../dist/cli.mjs', import.meta.url))) throw fault
})

if (loaded) {
  const [{ main }, { endProcess, nodePlatform }] = loaded
  endProcess(await main(nodePlatform(), process.argv.slice(2)))
} else {
  console.error('error: This clone of repoint is not built yet.\nhint:  npm ci && npm run build')
  process.exitCode = 1
}
