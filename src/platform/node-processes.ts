import { accessSync, constants, readFileSync, statSync } from 'node:fs'
import { posix, win32 } from 'node:path'
import { ifPossible } from '../errors.ts'
import type { Machine, Processes } from './platform.ts'
import { windowsTool } from './windows-tool.ts'

/** The processes of this machine, and how to start one. */
export function nodeProcesses(machine: Machine, host: string): Processes {
  return {
    pid: process.pid,
    uid: process.getuid?.() ?? -1,
    host,
    bootId: () =>
      machine.os === 'linux' ? (contents('/proc/sys/kernel/random/boot_id') ?? '') : '',
    startTime: (pid) => startTime(machine.os, pid),
    which: (command) => findProgram(machine, command),
    run: async (command, args, options) => {
      const { run } = await import('./node-run.ts')
      return run(machine.os, command, args, options)
    },
  }
}

function contents(path: string): string | undefined {
  return ifPossible(() => readFileSync(path, 'utf8').trim())
}

function startTime(os: Machine['os'], pid: number): string | undefined {
  const isKnown =
    os === 'linux' ? linuxStart(pid) : os === 'darwin' ? darwinStart(pid) : windowsImage(pid)
  if (isKnown !== undefined) return isKnown || undefined
  return exists(pid) ? '' : undefined
}

/** Clock ticks since boot; empty for a process that is dead but not yet collected by its parent. */
function linuxStart(pid: number): string | undefined {
  const stat = contents(`/proc/${pid}/stat`)
  if (stat === undefined) return undefined
  // The second field is the command in brackets, and may hold blanks and brackets itself.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return /^[ZXx]$/.test(fields[0] ?? '') ? '' : fields[19]
}

function darwinStart(pid: number): string | undefined {
  return output('/bin/ps', ['-o', 'lstart=', '-p', String(pid)])
}

/**
 * Windows gives a start time only through slow tools. The program's name is what can be had: a pid
 * that was reused by another program is recognised, one reused by another Node is not.
 */
function windowsImage(pid: number): string | undefined {
  if (pid === process.pid) return win32.basename(process.execPath).toLowerCase()
  const line = output(windowsTool('tasklist'), ['/FI', `PID eq ${pid}`, '/FO', 'CSV', '/NH'])
  return line === undefined ? undefined : imageName(line)
}

/** @param line one line of `tasklist /FO CSV /NH`; without a match it is a sentence */
export function imageName(line: string): string {
  return /^"([^"]+)"/.exec(line)?.[1]?.toLowerCase() ?? ''
}

/** Undefined: the tool could not be run. */
function output(command: string, args: readonly string[]): string | undefined {
  const { spawnSync } = process.getBuiltinModule('node:child_process')
  const result = spawnSync(command, args, { encoding: 'utf8', timeout: 5_000 })
  return result.error ? undefined : result.stdout.trim()
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/**
 * The first file that PATH offers for `command`. Relative entries of PATH are passed over: what
 * lies in the working folder is not what was meant.
 */
export function findProgram(
  machine: Pick<Machine, 'os' | 'env'>,
  command: string,
  isRunnable: (path: string) => boolean = isExecutable,
): string | undefined {
  const isWindows = machine.os === 'win32'
  const { delimiter, isAbsolute, join } = isWindows ? win32 : posix
  const variable = (name: string) => {
    const entry = Object.entries(machine.env).find(([key]) =>
      isWindows ? key.toUpperCase() === name : key === name,
    )
    return entry?.[1] ?? ''
  }

  const extensions = isWindows ? (variable('PATHEXT') || '.COM;.EXE;.BAT;.CMD').split(';') : ['']
  for (const folder of variable('PATH').split(delimiter).filter(isAbsolute)) {
    const found = extensions.map((one) => join(folder, command + one)).find(isRunnable)
    if (found !== undefined) return found
  }

  return undefined
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
