/**
 * Tries versions of clients, three at a time, and prints a row of JSON for each setup as it is done.
 *
 *   node scripts/drift/matrix.js '[{"name":"codex","version":"0.169.0","program":["…"]}]'
 */
import { startGateway } from '../../dist/gateway.mjs'
import { clients } from './clients.js'
import { tryVersion } from './try-version.js'

/** Clients wait more than they work. */
const atOnce = 3

const todo = JSON.parse(process.argv[2]).flatMap((one) =>
  clients[one.name].setups.map((setup) => ({ ...one, setup })),
)

await Promise.all(
  Array.from({ length: atOnce }, async () => {
    for (let next = todo.shift(); next !== undefined; next = todo.shift()) {
      const gateway = await startGateway({ families: 'rewritten' })
      try {
        console.log(JSON.stringify(await tryVersion({ gateway, ...next })))
      } finally {
        await gateway.close()
      }
    }
  }),
)
