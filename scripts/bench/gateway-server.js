/** Runs the local gateway in a separate process, which reports the time and the memory that it used. */
import { setTimeout as sleep } from 'node:timers/promises'
import { startGateway } from '../../dist/gateway.mjs'

const gateway = await startGateway({
  key: process.env.KEY,
  faults: JSON.parse(process.env.FAULTS ?? '[]'),
  fragment: process.env.FRAGMENT ?? 'on',
  ...(process.env.MODELS && { models: JSON.parse(process.env.MODELS) }),
})

const answers = {
  cpu: () => {
    const { user, system } = process.cpuUsage()
    return user + system
  },
  /** The bytes that the program still refers to. Needs `--expose-gc`. */
  live: async () => {
    // Some objects are released only in the turn after the one that collected their owner.
    for (let count = 0; count < 3; count++) {
      globalThis.gc()
      await sleep(20)
    }
    const { heapUsed, external } = process.memoryUsage()
    return heapUsed + external
  },
  /**
   * The bytes of memory beside V8's heap, whose size says little: its new space has 1 to 32 MiB, whatever
   * is in it. The lowest of several samples: the allocator returns pages late. Needs `--expose-gc`.
   */
  native: async () => {
    const samples = []
    for (let count = 0; count < 10; count++) {
      globalThis.gc()
      const { rss, heapTotal } = process.memoryUsage()
      samples.push(rss - heapTotal)
      await sleep(200)
    }
    return Math.min(...samples)
  },
  streams: () => gateway.openStreams(),
}

process.on('message', async (question) => process.send(await answers[question]()))
process.send({ port: gateway.port })
