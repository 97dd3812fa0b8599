import { accessSync, constants, readFileSync, readlinkSync, statSync } from 'node:fs'
import { posix, win32 } from 'node:path'
import { ifPossible } from '../errors.ts'
import type { Machine, Processes } from './platform.ts'
import { windowsTool } from './windows-tool.ts'

export function nodeProcesses(machine: Machine, host: string): Processes {
  return {
    pid: process.pid,
    uid: process.getuid?.() ?? -1,
    host: host + containerMark(),
    bootId: () =>
      machine.os === 'linux' ? (readTrimmed('/proc/sys/kernel/random/boot_id') ?? '') : '',
    startTime: (pid) => startTime(machine.os, pid),
    which: (command) => findProgram(machine, command),
    run: async (command, args, options) => {
      const { run } = await import('./node-run.ts')
      return run(machine.os, command, args, options)
    },
  }
}

/** The PID namespace in which a Linux machine starts: `PROC_PID_INIT_INO`. */
const firstPidNamespace = 'pid:[4026531836]'

/**
 * What distinguishes the processes of a container from those of its machine: a PID means another process in
 * another PID namespace, and both can have the same host name and the same state folder.
 */
function containerMark(): string {
  const namespace = ifPossible(() => readlinkSync('/proc/self/ns/pid')) ?? firstPidNamespace
  return namespace === firstPidNamespace ? '' : ` (container ${namespace})`
}

function readTrimmed(path: string): string | undefined {
  return ifPossible(() => readFileSync(path, 'utf8').trim())
}

/** As in `Processes`: empty if it is unknown, undefined if there is no such process. */
function startTime(os: Machine['os'], pid: number): string | undefined {
  if (os === 'linux') return linuxStartTime(pid)
  return os === 'darwin' ? darwinStartTime(pid) : windowsImageName(pid)
}

/** The start time of a process if the system reports none. */
function unknownStartTime(pid: number): '' | undefined {
  return processExists(pid) ? '' : undefined
}

/** The start time in clock ticks since boot. A zombie process counts as ended. */
function linuxStartTime(pid: number): string | undefined {
  const stat = readTrimmed(`/proc/${pid}/stat`)
  if (stat === undefined) return unknownStartTime(pid)
  // The second field is the command in brackets. It may contain blanks and brackets itself.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const isZombie = /^[ZXx]$/.test(fields[0] ?? '')
  return isZombie ? undefined : (fields[19] ?? unknownStartTime(pid))
}

function darwinStartTime(pid: number): string | undefined {
  const text = toolOutput('/bin/ps', ['-o', 'lstart=', '-p', String(pid)])
  return text === undefined ? unknownStartTime(pid) : text || undefined
}

/**
 * The program's name instead of its start time, which only slow tools of Windows report. It detects a
 * PID that another program reuses, but not one that another Node process reuses.
 */
function windowsImageName(pid: number): string | undefined {
  if (pid === process.pid) return win32.basename(process.execPath).toLowerCase()
  const line = toolOutput(windowsTool('tasklist'), ['/FI', `PID eq ${pid}`, '/FO', 'CSV', '/NH'])
  return line === undefined ? unknownStartTime(pid) : imageName(line) || undefined
}

/** @param line a line of `tasklist /FO CSV /NH`. If there is no such process, it is a sentence. */
export function imageName(line: string): string {
  return /^"([^"]+)"/.exec(line)?.[1]?.toLowerCase() ?? ''
}

/** The trimmed output of a tool. Undefined if it could not be run. */
function toolOutput(command: string, args: readonly string[]): string | undefined {
  const { spawnSync } = process.getBuiltinModule('node:child_process')
  const result = spawnSync(command, args, { encoding: 'utf8', timeout: 5_000 })
  return result.error ? undefined : result.stdout.trim()
}

function processExists(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/**
 * The first program in PATH with the name `command`. Skips relative entries of PATH, because nobody
 * wants to run a program of the working folder by accident.
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
    const found = extensions.map((extension) => join(folder, command + extension)).find(isRunnable)
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
