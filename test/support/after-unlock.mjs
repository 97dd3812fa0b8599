// Loaded into the program with --import. When the program releases its lock after its first committed run, it runs the
// command in THEN (a JSON list) and waits for its end before it continues.
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

const { THEN = '[]', ...env } = process.env
const [program, ...args] = JSON.parse(THEN)
const { renameSync, rmdirSync } = fs
let hasCommitted = false

fs.renameSync = (from, to) => {
  hasCommitted ||= /journal\.json$/.test(from)
  return renameSync(from, to)
}
fs.rmdirSync = (path) => {
  rmdirSync(path)
  if (!hasCommitted || !/repoint[\\/]lock$/.test(path)) return
  hasCommitted = false
  spawnSync(program, args, { env: { ...env, NODE_OPTIONS: '' }, stdio: 'inherit' })
}
syncBuiltinESMExports()
