/** Starts a program in a process group of its own, and ends the whole group. */
import { spawn } from 'node:child_process'

/** @returns its exit status, what ended it (`itself`, `time`, `requests`), and what it printed */
export function run([program, ...args], { cwd, env, isEnough = () => false, timeoutMs }) {
  return new Promise((done) => {
    const child = spawn(program, args, {
      cwd,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    const texts = { stdout: '', stderr: '' }
    for (const name of ['stdout', 'stderr'])
      child[name].on('data', (piece) => (texts[name] += piece))
    let ended = 'itself'
    const stop = (why) => {
      ended = why
      endGroup(child.pid)
    }
    const timer = setTimeout(() => stop('time'), timeoutMs)
    const watch = setInterval(() => isEnough() && stop('requests'), 200)
    child.on('close', (status) => {
      clearTimeout(timer)
      clearInterval(watch)
      endGroup(child.pid)
      done({ status, ended, ...texts })
    })
  })
}

export function endGroup(pid) {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // Nothing of it is left.
  }
}
