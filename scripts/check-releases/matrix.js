/**
 * Tries releases of clients, three at a time. Prints one line of JSON for each setup when it ends.
 *
 *   node scripts/check-releases/matrix.js '[{"name":"codex","version":"0.169.0","program":["…"]}]'
 */
import { readFileSync } from 'node:fs'
import { startGateway } from '../../dist/gateway.mjs'
import { clients } from '../real-clients.js'
import { tryVersion } from './try-version.js'

/** Clients mostly wait, so more of them run than this machine has cores. */
const concurrency = 3

/** The models of the setups in tested.json. The built-in catalog changes with the SDKs. */
const models = JSON.parse(readFileSync('test/fixtures/gateway/catalog.json', 'utf8'))

const todo = JSON.parse(process.argv[2]).flatMap((release) =>
  clients[release.name].setups.map((setup) => ({ ...release, setup })),
)

await Promise.all(
  Array.from({ length: concurrency }, async () => {
    for (let next = todo.shift(); next !== undefined; next = todo.shift()) {
      const gateway = await startGateway({ families: 'rewritten', models })
      try {
        console.log(JSON.stringify(await tryVersion({ gateway, ...next })))
      } finally {
        await gateway.close()
      }
    }
  }),
)
