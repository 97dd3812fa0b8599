import { describe, expect, test } from 'vitest'
import { diagnose } from '../../../src/gateway/judge/diagnose.ts'
import { isComplete } from '../../../src/gateway/judge/inference.ts'
import type { HttpResponse } from '../../../src/gateway/judge/types.ts'

describe('diagnose: a body on which a slow pattern would take very long', () => {
  const busy: readonly (readonly [string, string, string])[] = [
    ['endless titles', 'text/html', '<title>'.repeat(150_000)],
    ['spaces after a request id', 'text/plain', `request id${' '.repeat(1_000_000)}`],
    ['a request id without an end', 'text/plain', 'request id a'.repeat(80_000)],
    ['comments', 'text/html', '<!---->'.repeat(150_000)],
    ['an error of blanks', 'application/json', `{"error":{"message":"${' '.repeat(1_000_000)}"}}`],
    [
      'events that never end',
      'text/event-stream',
      'data: {"type":"response.completed" '.repeat(30_000),
    ],
  ]
  test.each(busy)('%s', (_name, type, body) => {
    const before = process.cpuUsage()
    for (const route of ['catalog', 'chat', 'responses', 'messages'] as const) {
      for (const status of [200, 403, 404, 500]) {
        const answer: HttpResponse = {
          url: 'https://gw.example/v1/models',
          status,
          headers: { 'content-type': type },
          body,
        }
        const request = { route, model: 'gpt-5.6-sol', address: 'https://gw.example', secrets: [] }
        expect(diagnose(answer, request)?.message.length).toBeLessThan(1_000)
      }
    }
    for (const protocol of ['chat', 'responses', 'messages'] as const) isComplete(protocol, body)
    // Processor time, because the machine may be busy. A pattern that backtracks needs minutes for 1 MB.
    expect(process.cpuUsage(before).user / 1_000).toBeLessThan(5_000)
  })
})
