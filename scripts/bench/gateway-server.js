// The gateway as a process of its own, that says how much time and memory it used.
import { startGateway } from '../../dist/gateway.mjs'

const gateway = await startGateway({
  key: process.env.KEY,
  faults: JSON.parse(process.env.FAULTS ?? '[]'),
  fragment: process.env.FRAGMENT ?? 'on',
})

const answers = {
  cpu: () => {
    const { user, system } = process.cpuUsage()
    return user + system
  },
  memory: () => {
    // What is only waiting to be collected is no growth.
    globalThis.gc?.()
    return process.memoryUsage().rss
  },
  streams: () => gateway.openStreams(),
}

process.on('message', (question) => process.send(answers[question]()))
process.send({ port: gateway.port })
