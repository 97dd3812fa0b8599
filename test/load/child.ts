import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { afterEach } from 'vitest'

const children: ChildProcess[] = []

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
})

export const key = 'sk-load-0123456789abcdefghijklmnop'

/** The built gateway in a process of its own. */
export async function aGatewayProcess(faults: readonly object[] = [], execArgv: string[] = []) {
  const child = fork(resolve('scripts/bench/gateway-server.js'), {
    env: { ...process.env, KEY: key, FAULTS: JSON.stringify(faults) },
    execArgv,
  })
  children.push(child)
  const [{ port }] = (await once(child, 'message')) as [{ port: number }]
  return {
    port,
    isAlive: () => child.exitCode === null && child.signalCode === null,
    async ask(question: 'cpu' | 'memory' | 'streams'): Promise<number> {
      child.send(question)
      const [answer] = (await once(child, 'message')) as [number]
      return answer
    },
  }
}

/** A whole HTTP/1.1 request as text. */
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
