import { setMaxListeners } from 'node:events'
import { homedir, hostname } from 'node:os'
import { resolve } from 'node:path'
import { ifPossible } from '../errors.ts'
import { nodeFiles } from './node-files.ts'
import { nodeProcesses } from './node-processes.ts'
import { nodeTerminal, terminalAsk } from './node-terminal.ts'
import type { Machine, Platform } from './platform.ts'

/**
 * Ends this process with `status` as soon as possible. After a Ctrl-C during a name lookup, it must not
 * wait for a silent name server: `getaddrinfo` cannot be cancelled, and delays even `process.exit`
 * (Node 20 to 26, 2026-11-23).
 */
export function endProcess(status: number): void {
  process.exitCode = status
  const isResolving = process.getActiveResourcesInfo().includes('GetAddrInfoReqWrap')
  if (status === 130 && isResolving) process.kill(process.pid, 'SIGINT')
}

/** The real outside world. Only bin and tests create it. */
export function nodePlatform(): Platform {
  const machine = thisMachine()
  const processes = nodeProcesses(machine, hostname())
  let interrupt: AbortSignal | undefined

  return {
    machine,
    terminal: nodeTerminal(),
    files: nodeFiles(machine.os),
    processes,
    clock: { now: () => new Date() },
    ask: terminalAsk(),
    runInForeground: async (command, args, options) => {
      const { runInForeground } = await import('./node-run.ts')
      // Windows would look in the working folder first.
      const path = machine.os === 'win32' ? processes.which(command) : command
      return runInForeground(path ?? command, args, options)
    },
    get interrupt() {
      interrupt ??= onInterrupt()
      return interrupt
    },
  }
}

function thisMachine(): Machine {
  const { platform } = process
  const home = resolve(homedir())
  return {
    os: platform === 'win32' || platform === 'darwin' ? platform : 'linux',
    // A copy, because process.env itself ignores case on Windows.
    env: { ...process.env },
    home,
    // The working folder may have been deleted.
    cwd: ifPossible(() => process.cwd()) ?? home,
  }
}

/** Starts to listen for signals. Before the first call, a signal ends the process as usual. */
function onInterrupt(): AbortSignal {
  const controller = new AbortController()
  // Each of many parallel requests listens. Node would warn about more than ten listeners.
  setMaxListeners(0, controller.signal)
  const signals = ['SIGINT', 'SIGTERM'] as const
  const abort = () => {
    // With our listeners gone, the next signal has its usual effect.
    for (const signal of signals) process.off(signal, abort)
    controller.abort()
  }
  for (const signal of signals) process.on(signal, abort)
  return controller.signal
}
