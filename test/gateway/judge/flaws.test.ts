import { describe, expect, test } from 'vitest'
// @ts-expect-error plain JavaScript, shared with the script
import { casesOf } from '../../../scripts/responses/cases.js'
import { loadAllClients } from '../../../src/clients/list.ts'
import { diagnose } from '../../../src/gateway/judge/diagnose.ts'
import { flawWords } from '../../../src/gateway/judge/flaws.ts'
import { readInference } from '../../../src/gateway/judge/inference.ts'
import type { HttpResponse } from '../../../src/gateway/judge/types.ts'
import { type Protocol, protocols } from '../../../src/gateway/types.ts'

/** The responses that scripts/try-responses.js sent to the real clients, as the judge reads them. */

interface Sent {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly pieces: readonly (string | Buffer)[]
  readonly end?: 'cut' | 'open'
}

function sent(protocol: Protocol, name: string): Sent {
  return casesOf(protocol)[name](protocol, {
    count: 1,
    path: '/',
    url: 'http://a',
    otherUrl: 'http://b',
  })
}

/** The decoded answer, as the HTTP layer returns it. */
function answerOf(protocol: Protocol, name: string): HttpResponse {
  const { status = 200, headers = {}, pieces, end } = sent(protocol, name)
  const isPacked = headers['content-encoding'] !== undefined
  const plain = isPacked ? sent(protocol, 'ok').pieces : pieces
  const isOpen = name === 'open'
  return {
    url: 'http://127.0.0.1/v1',
    status,
    headers,
    body: Buffer.concat(plain.map((piece) => Buffer.from(piece))).toString(),
    ...(end === 'cut' && { cut: 'connection' as const }),
    ...(isOpen && { isOpen }),
  }
}

const all = await loadAllClients()
const clients = all
  .map(({ id, label, program }) => ({ id, label, accepts: program.accepts }))
  .filter(({ accepts }) => accepts)

/** The case of another name that shows the same flaw. */
const caseOf: Partial<Record<string, string>> = {
  'finish-filter': 'finish-refusal',
  'finish-tools': 'finish-tool',
  'thinking-only': 'content-null',
}

/** Each flaw that some client does not accept over a protocol, and the case that shows it. */
const flawCases = protocols.flatMap((protocol) => {
  const tables = clients.flatMap(({ accepts }) => accepts?.[protocol] ?? [])
  const rejectedByClients = tables.flatMap(({ rejects, repeats = [] }) => [...rejects, ...repeats])
  return Object.keys(flawWords).flatMap((flaw) => {
    const name = [flaw, caseOf[flaw]].find(
      (candidate) => candidate !== undefined && candidate in casesOf(protocol),
    )
    return name !== undefined && rejectedByClients.includes(flaw) ? [{ protocol, flaw, name }] : []
  })
})

describe('flaws of a response', () => {
  test.each(flawCases)(
    '$protocol: the judge sees $flaw in the case $name',
    ({ protocol, flaw, name }) => {
      // The responses protocol gives no reason before its last event. Chat sends empty text before any other.
      const seenInstead: Record<Protocol, Partial<Record<string, string>>> = {
        chat: { 'no-finish': 'finish-null', 'empty-text': 'no-text' },
        responses: { cut: 'cut-at-end' },
        messages: { 'no-finish': 'finish-null' },
      }
      const seen = seenInstead[protocol][flaw] ?? flaw
      const inference = readInference(protocol, answerOf(protocol, name))
      expect(inference).toMatchObject({ kind: 'answered', flaws: expect.arrayContaining([seen]) })
    },
  )

  const usual = [
    ...['ok', 'crlf', 'no-space', 'comments', 'lines', 'type-json', 'type-none', 'headers-15kb'],
    ...['no-usage', 'usage-null', 'no-index', 'no-number', 'unknown-event', 'bytes', 'huge-2mb'],
  ]
  test.each(protocols.flatMap((protocol) => usual.map((name) => ({ protocol, name }))))(
    '$protocol: the judge sees no other flaw in $name',
    ({ protocol, name }) => {
      const knownFlaws = name in flawWords ? [name] : []
      expect(readInference(protocol, answerOf(protocol, name))).toEqual({
        kind: 'answered',
        flaws: knownFlaws,
      })
    },
  )
})

describe.each(clients)('$id', ({ label, accepts }) => {
  test.each(Object.entries(accepts!))(
    '%s: the table of the client has only flaws that the judge knows',
    (_, table) => {
      const { rejects, repeats = [] } = table
      expect([...Object.keys(flawWords), 'whole']).toEqual(
        expect.arrayContaining([...rejects, ...repeats]),
      )
    },
  )

  test.each(Object.entries(accepts!))(
    '%s: only flaws that the client rejects are an outcome',
    (name, table) => {
      const protocol = name as Protocol
      for (const { name: caseName } of flawCases.filter((row) => row.protocol === protocol)) {
        const request = { route: protocol, address: 'http://127.0.0.1', secrets: [] }
        const sender = { label, body: {}, accepts: table }
        const outcome = diagnose(answerOf(protocol, caseName), { ...request, sender })
        const { flaws = [] } = readInference(protocol, answerOf(protocol, caseName)) as {
          flaws?: string[]
        }
        const isRejected = flaws.some((flaw) => table.rejects.includes(flaw))
        expect([caseName, outcome !== undefined]).toEqual([caseName, isRejected])
      }
    },
  )
})

test('a flaw quotes no events, and the hint names what may help', () => {
  const accepts = { rejects: ['gzip'], retries: [] }
  const sender = { label: 'Codex', body: {}, accepts }
  const request = { route: 'responses', address: 'http://127.0.0.1', secrets: [], sender } as const
  expect(diagnose(answerOf('responses', 'gzip'), request)).toMatchObject({
    message: expect.stringMatching(/, which Codex does not accept \(HTTP 200\)$/),
    hint: expect.stringContaining('{--model ID}'),
  })
})
