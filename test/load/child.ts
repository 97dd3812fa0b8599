import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect } from 'vitest'

const children: ChildProcess[] = []

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
})

export const key = 'sk-load-0123456789abcdefghijklmnop'

interface GatewayProcessOptions {
  readonly faults?: readonly object[]
  /** Absent: the built-in catalog. */
  readonly models?: readonly (string | object)[]
  readonly execArgv?: string[]
}

/** Starts the built gateway in a separate process. */
export async function aGatewayProcess({
  faults = [],
  models,
  execArgv = [],
}: GatewayProcessOptions = {}) {
  const child = fork(resolve('scripts/bench/gateway-server.js'), {
    env: {
      ...process.env,
      KEY: key,
      FAULTS: JSON.stringify(faults),
      ...(models && { MODELS: JSON.stringify(models) }),
    },
    execArgv,
  })
  children.push(child)
  const [{ port }] = (await once(child, 'message')) as [{ port: number }]
  return {
    port,
    isAlive: () => child.exitCode === null && child.signalCode === null,
    async ask(question: 'cpu' | 'live' | 'native' | 'streams'): Promise<number> {
      child.send(question)
      const [answer] = (await once(child, 'message')) as [number]
      return answer
    },
  }
}

type GatewayProcess = Awaited<ReturnType<typeof aGatewayProcess>>

const mebibyte = 1024 * 1024

/** Expects that a gateway's memory grows by at most a few MiB during `work`. `maxNativeGrowth` is in MiB. */
export async function expectNoLeak(
  gateway: GatewayProcess,
  work: () => Promise<unknown>,
  maxNativeGrowth = 20,
) {
  const measure = async () => ({
    live: (await gateway.ask('live')) / mebibyte,
    native: (await gateway.ask('native')) / mebibyte,
  })
  const before = await measure()
  await work()
  const after = await measure()
  console.log('MiB before:', before, 'after:', after)
  expect(after.live - before.live).toBeLessThan(2)
  expect(after.native - before.native).toBeLessThan(maxNativeGrowth)
}

/** The bytes in use once a gateway has read everything that was sent to it. */
export async function steadyLiveBytes(gateway: GatewayProcess): Promise<number> {
  let before = Number.NaN
  for (;;) {
    const bytes = await gateway.ask('live')
    if (Math.abs(bytes - before) < 100_000) return bytes
    before = bytes
    await sleep(300)
  }
}

/** An HTTP/1.1 request as text. */
export function requestText(
  line: string,
  headers: Readonly<Record<string, string>>,
  body = '',
): string {
  const all = { Host: '127.0.0.1', ...headers }
  const length =
    body === '' && line.startsWith('GET') ? [] : [['Content-Length', Buffer.byteLength(body)]]
  const lines = [...Object.entries(all), ...length].map(([name, value]) => `${name}: ${value}\r\n`)
  return `${line} HTTP/1.1\r\n${lines.join('')}\r\n${body}`
}
