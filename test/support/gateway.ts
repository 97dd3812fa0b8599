import { afterAll } from 'vitest'
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
