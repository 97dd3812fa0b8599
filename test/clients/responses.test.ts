import { execa } from 'execa'
import { expect, test } from 'vitest'
import { loadAllClients } from '../../src/clients/list.ts'
import type { Protocol } from '../../src/gateway/types.ts'

/**
 * The newest real clients still handle unusual responses as their tables say. A sample of the cases
 * in scripts/responses/cases.js, with one that each accepts and one that it does not.
 */
const samples: readonly (readonly [client: string, protocol: Protocol, cases: string])[] = [
  ['codex', 'responses', 'gzip headers-60kb item-only usage-text once-503'],
  ['claude', 'messages', 'no-end zstd no-block-stop whole once-529'],
  ['opencode', 'chat', 'no-end choices-missing'],
  ['cline', 'chat', 'finish-null whole-choice'],
  ['copilot', 'responses', 'whole output-empty'],
  ['droid', 'chat', 'finish-unknown content-list'],
  ['pi', 'messages', 'br no-end'],
  ['qwen', 'chat', 'finish-error type-json'],
]

interface Row {
  readonly case: string
  readonly answered: boolean
  readonly unstreamed?: number
}

const clients = await loadAllClients()

test.each(samples)('%s over %s: %s', { timeout: 400_000 }, async (client, protocol, cases) => {
  const { stdout } = await execa(
    process.execPath,
    ['scripts/try-responses.js', client, protocol, ...cases.split(' ')],
    { env: { AT_ONCE: '1' } },
  )
  const rows: readonly Row[] = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  const { accepts } = clients.find(({ id }) => id === client)!.program
  const { rejects, repeats = [], retries } = accepts![protocol]!

  for (const { case: name, answered, unstreamed = 0 } of rows) {
    const status = /^once-(\d+)$/.exec(name)?.[1]
    const isAccepted =
      status === undefined ? !rejects.includes(name) : retries.includes(Number(status))
    expect([name, answered, unstreamed > 0]).toEqual([name, isAccepted, repeats.includes(name)])
  }
})
