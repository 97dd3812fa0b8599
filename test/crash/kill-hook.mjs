// Loaded into the program with --import: counts its file-system calls on the home and, before the
// call KILL_AT, or the first one like KILL_BEFORE, sends itself SIGKILL or KILL_WITH. With CALLS_TO it writes the list of its calls there instead.
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

const { HOME = '', KILL_AT, KILL_BEFORE = '^$', KILL_WITH = 'SIGKILL', CALLS_TO } = process.env
const killed = new RegExp(KILL_BEFORE)
const writeFile = fs.writeFileSync
const handles = new Set()
const calls = []
let isSent = false

const names =
  'lstat stat fstat readlink open read readdir mkdir rmdir write fsync fchmod fchown close rename unlink'
for (const name of names.split(' ')) fs[`${name}Sync`] = watched(name, fs[`${name}Sync`])
fs.realpathSync.native = watched('realpath', fs.realpathSync.native)
syncBuiltinESMExports()

function watched(name, call) {
  return (...args) => {
    const isMeant = typeof args[0] === 'string' ? args[0].startsWith(HOME) : handles.has(args[0])
    if (isMeant) {
      calls.push(`${name} ${args[0]}${name === 'open' ? ` ${args[1]}` : ''}`)
      if (!isSent && (calls.length === Number(KILL_AT) || killed.test(calls.at(-1)))) {
        isSent = true
        process.kill(process.pid, KILL_WITH)
      }
    }
    const result = call.apply(fs, args)
    if (name === 'open' && isMeant) handles.add(result)
    if (name === 'close') handles.delete(args[0])
    return result
  }
}

if (CALLS_TO) process.on('exit', () => writeFile(CALLS_TO, JSON.stringify(calls)))
