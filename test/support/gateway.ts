import { afterAll, onTestFinished } from 'vitest'
import { type Gateway, type GatewayOptions, startGateway } from '../../src/serve/index.ts'

/**
 * Starts a local gateway for the tests of a file. It is closed after the last test, or after the current test if its
 * `onTestFinished` is passed. Like most gateways, it rewrites requests unless `options` say otherwise.
 */
export async function withGateway(
  options: GatewayOptions = {},
  whenFinished: (close: () => Promise<void>) => unknown = afterAll,
): Promise<Gateway> {
  const gateway = await startGateway({ families: 'rewritten', ...options })
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
