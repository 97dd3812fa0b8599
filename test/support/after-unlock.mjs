// Loaded into the program with --import. After the program releases its first lock, it runs the command in THEN (a JSON
// list) and waits for its end before it continues.
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
