#!/usr/bin/env node
// Builds the real platform, runs the command line, sets the exit status.
import { existsSync } from 'node:fs'

if (existsSync(new URL('../dist/cli.js', import.meta.url))) {
  const { main } = await import('../dist/cli.js')
  const { endProcess, nodePlatform } = await import('../dist/platform.js')
  endProcess(await main(nodePlatform(), process.argv.slice(2)))
} else {
  console.error('error: This clone of repoint is not built yet.\nhint:  npm ci && npm run build')
  process.exitCode = 1
}
