import { constants } from 'node:os'
import type { ForegroundResult, Platform } from './platform.ts'

/** Runs a command with our own standard input and output. */
export const runInForeground: Platform['runInForeground'] = async (
  command,
  args,
  { env, signal },
) => {
  const { spawn } = await import('node:child_process')
  return new Promise<ForegroundResult>((resolve) => {
    const child = spawn(command, args, {
      stdio: 'inherit',
      env: { ...env },
      // On Windows most commands of npm are scripts, which only a shell can start.
      shell: process.platform === 'win32',
    })
    const pass = () => child.kill('SIGTERM')
    signal.addEventListener('abort', pass, { once: true })
    child.once('error', ({ message }) => resolve({ reason: 'not-started', problem: message }))
    child.once('close', (exitStatus, name) => {
      signal.removeEventListener('abort', pass)
      if (exitStatus !== null) resolve({ reason: 'exited', exitStatus })
      else resolve({ reason: 'killed', signalNumber: name === null ? 0 : constants.signals[name] })
    })
  })
}
