import { describe, expect, test } from 'vitest'
// @ts-expect-error plain JavaScript, shared with the script
import { tryVersion } from '../../scripts/drift/try-version.js'
import tested from '../../src/clients/tested.json' with { type: 'json' }
import { type Gateway, startGateway } from '../../src/serve/index.ts'
import { installedClient, installedVersions } from './support/install.ts'

/** Old versions do with our files what the newest does, and send what `npm run drift` saw. */

const names = ['codex', 'claude', 'opencode'] as const

const versions = names.flatMap((name) =>
  installedVersions[name].map((version) => ({ name, version })),
)

describe.concurrent('each version', () => {
  test.each(versions)(
    '$name $version: set up, answers, calls a tool, rolled back',
    async ({ name, version }) => {
      const gateway: Gateway = await startGateway()
      const program = installedClient(name, version)
      const seen = await tryVersion({ gateway, name, version, program, setup: [name] })
      await gateway.close()
      expect(seen.failed).toEqual([])
      expect(tested.rows.map((row) => JSON.stringify(row))).toContain(JSON.stringify(seen))
    },
    // Five runs of the client, two others beside it.
    240_000,
  )
})
