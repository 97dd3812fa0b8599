#!/usr/bin/env node
// Builds the real platform, runs the command line, sets the exit status.
import { main } from '../dist/cli.js'
import { endProcess, nodePlatform } from '../dist/platform.js'

endProcess(await main(nodePlatform(), process.argv.slice(2)))
