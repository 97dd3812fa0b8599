import type { Files } from '../../src/platform/platform.ts'

export interface Fault {
  /** Node's code of the error. */
  readonly code: string
  /** The call that fails, counted from 1. */
  readonly at: number
  /** Whether every later call of the kinds in `kinds` fails too, as on a disk that stays full. */
  readonly isLasting?: boolean
  /** The calls that fail. Absent: all. */
  readonly kinds?: readonly (keyof Files)[]
}

/** Calls that never fail by contract, or whose failure has no effect. */
const unfailing = new Set<string>(['copyAttributes', 'canCopyAttributes', 'freeBytes'])

/** Wraps file calls so that one of them fails before it does anything, and counts them. */
export function faultyFiles(files: Files, fault: Fault) {
  let calls = 0
  let failures = 0
  const proxy = new Proxy(files, {
    get: (target, name) => {
      const call = target[name as keyof Files] as ((...args: unknown[]) => unknown) | undefined
      if (typeof call !== 'function') return call
      return (...args: unknown[]) => {
        const isMeant =
          !unfailing.has(String(name)) && (fault.kinds?.includes(name as keyof Files) ?? true)
        if (isMeant) calls++
        if (isMeant && (calls === fault.at || (fault.isLasting && calls > fault.at))) {
          failures++
          throw Object.assign(new Error(`${fault.code}: ${String(name)} was made to fail`), {
            code: fault.code,
          })
        }
        return call.apply(target, args)
      }
    },
  })
  return { files: proxy, calls: () => calls, failures: () => failures }
}
