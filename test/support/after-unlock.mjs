// Loaded into the program with --import: as soon as it has given its first lock back, it runs
// THEN, a command as JSON, to its end, and only then goes on.
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

const { THEN = '[]', ...env } = process.env
const [program, ...args] = JSON.parse(THEN)
const { renameSync, rmdirSync } = fs
let hasSwitched = false

fs.renameSync = (from, to) => {
  hasSwitched ||= /journal\.json$/.test(from)
  return renameSync(from, to)
}
fs.rmdirSync = (path) => {
  rmdirSync(path)
  if (!hasSwitched || !/repoint.lock$/.test(path)) return
  hasSwitched = false
  spawnSync(program, args, { env: { ...env, NODE_OPTIONS: '' }, stdio: 'inherit' })
}
syncBuiltinESMExports()
