#!/usr/bin/env node
// Builds the real platform, runs the command line, sets the exit status. CommonJS: see scripts/build.js.

// Node 22.1 and later keep compiled code between runs; earlier ones start without.
require('node:module').enableCompileCache?.()

const { main, nodePlatform } = require('../dist/main.cjs')

main(nodePlatform(), process.argv.slice(2)).then((status) => {
  process.exitCode = status
})
