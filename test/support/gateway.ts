import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { afterAll, onTestFinished } from 'vitest'
import {
  type CatalogEntry,
  type Gateway,
  type GatewayOptions,
  startGateway,
} from '../../src/serve/index.ts'

/**
 * A free port. Unlike a port that the system chooses, it stays free after its server is closed: systems choose the
 * ports of servers and of outgoing connections above 32,767. So a test can close a server and find nothing there, or
 * start another one.
 */
export async function aFreePort(): Promise<number> {
  for (;;) {
    const port = 15_000 + Math.floor(17_000 * Math.random())
    const server = createServer().listen(port, '127.0.0.1')
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    )
    if (!isFree) continue
    server.close()
    await once(server, 'close')
    return port
  }
}

/** The models of 2026-11-23. The built-in catalog changes with the SDKs, and what a setup chooses with it. */
export const fixtureCatalog: CatalogEntry[] = JSON.parse(
  readFileSync('test/fixtures/gateway/catalog.json', 'utf8'),
)

/**
 * Starts a local gateway for the tests of a file. It is closed after the last test, or after the current test if its
 * `onTestFinished` is passed. Like most gateways, it rewrites requests unless `options` say otherwise.
 */
export function withGateway(
  options: GatewayOptions = {},
  whenFinished?: WhenFinished,
): Promise<Gateway> {
  const models = options.upstream === undefined ? { models: fixtureCatalog } : {}
  return openGateway({ families: 'rewritten', ...models, ...options }, whenFinished)
}

type WhenFinished = (close: () => Promise<void>) => unknown

/** Starts a local gateway with its own defaults. It is closed as `withGateway` says. */
export async function openGateway(
  options: GatewayOptions,
  whenFinished: WhenFinished = afterAll,
): Promise<Gateway> {
  const port = options.port ?? (await aFreePort())
  const gateway = await startGateway({ ...options, port })
  whenFinished(() => gateway.close())
  return gateway
}

/** Closes a gateway and starts another one at its address, until the current test ends. */
export async function replaceGateway(
  { url, close }: Pick<Gateway, 'url' | 'close'>,
  options: GatewayOptions,
): Promise<Gateway> {
  await close()
  return withGateway({ ...options, port: Number(new URL(url).port) }, onTestFinished)
}
