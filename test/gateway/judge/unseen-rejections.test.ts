import { describe, expect, test } from 'vitest'
import { diagnose } from '../../../src/gateway/judge/diagnose.ts'
import type { HttpResponse, SentRequest } from '../../../src/gateway/judge/types.ts'
import { type UnseenRejection, unseenRejections } from './unseen-rejections.ts'

const baseUrl = 'https://gw.example'
const request: SentRequest = {
  route: 'responses',
  address: baseUrl,
  model: 'gpt-5.6-sol',
  secrets: ['sk-canary-0123456789'],
  apiAnswered: 'catalog',
  catalog: { models: [{ id: 'gpt-5.6-sol' }] },
}

function answerOf({ status, body, headers = {} }: UnseenRejection): HttpResponse {
  const isText = typeof body === 'string'
  const text = isText ? body : JSON.stringify(body)
  const type = text.startsWith('<') && !text.startsWith('<?xml') ? 'text/html' : 'text/plain'
  return {
    url: `${baseUrl}/v1/responses`,
    status,
    headers: { 'content-type': isText ? type : 'application/json', ...headers },
    body: text,
  }
}

describe.each(Object.entries(unseenRejections))('%s', (_class, rows) => {
  test.each(rows.map((row) => [row.who, row] as const))('%s', (_who, row) => {
    const outcome = diagnose(answerOf(row), request)
    expect(outcome?.code).toBe(row.code)
    if (row.says !== undefined) expect(`${outcome!.message} ${outcome!.hint}`).toMatch(row.says)
  })
})
