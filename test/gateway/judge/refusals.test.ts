import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { AskedRequest, HttpAnswer, Outcome } from '../../../src/gateway/judge/answer.ts'
import { causeRows } from '../../../src/gateway/judge/causes.ts'
import { readErrorBody } from '../../../src/gateway/judge/error-body.ts'
import { diagnose } from '../../../src/gateway/judge/http-answer.ts'
import type { Protocol } from '../../../src/gateway/types.ts'

/**
 * Rejections of gateways, one on each line. About half are quoted from the error references of
 * Huawei MaaS, CloudBase, Zhipu, ZenMux, LiteLLM, Portkey, Kong, Tyk, Apigee, AWS, Azure, New API,
 * claude-code-hub and others (read 2026-11-26). The rest are invented, and were first judged by rules
 * that had not seen them.
 */
interface Refusal {
  /** The cause, or several acceptable ones, separated by `|`. */
  readonly cause: string
  readonly status: number
  /** JSON, or plain text. */
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Absent: chat. */
  readonly asked?: Protocol
  readonly model?: string
  /** False: the catalog does not list the model. */
  readonly listed?: boolean
}

const refusals: readonly Refusal[] = readFileSync(
  new URL('refusals.jsonl', import.meta.url),
  'utf8',
)
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line))

function answerTo({ status, body, headers = {} }: Refusal): HttpAnswer {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const isPage = text.startsWith('<')
  const type = isPage ? 'text/html' : /^[[{]/.test(text) ? 'application/json' : 'text/plain'
  return {
    url: 'https://gw.example/v1/chat/completions',
    status,
    headers: { 'content-type': type, ...headers },
    body: text,
  }
}

function questionOf(refusal: Refusal): AskedRequest {
  const { asked = 'chat', model = 'gpt-5.6-sol', listed = true } = refusal
  return {
    asked,
    baseUrl: 'https://gw.example',
    model,
    secrets: ['sk-canary-0123456789'],
    isBaseProven: true,
    catalog: { models: [{ id: listed ? model : 'glm-5' }, { id: 'other-1' }] },
  }
}

/** The name of an outcome in the file. */
function causeOf({ code, blamed, header }: Outcome): string | undefined {
  if (header !== undefined) return `header:${header}`
  if (blamed !== undefined) return causeNames[blamed] ?? blamed
  return causeNames[code]
}

const causeNames: Readonly<Record<string, string>> = {
  'key-rejected': 'key',
  'rate-limited': 'rate',
  'client-refused': 'client',
  'route-not-allowed': 'route',
  'model-not-allowed': 'notallowed',
  'model-unknown': 'model',
  'protocol-unsupported': 'protocol',
  'request-rejected': 'rejected',
  'gateway-fault': 'fault',
  forbidden: 'unknown',
  balance: 'quota',
  price: 'unpriced',
}

describe('the cause of a rejection', () => {
  test.each(refusals.map((refusal, n) => [n + 1, refusal] as const))('line %i', (_n, refusal) => {
    const outcome = diagnose(answerTo(refusal), questionOf(refusal))
    expect(refusal.cause.split('|'), JSON.stringify(refusal)).toContain(causeOf(outcome!))
  })
})

test('every row of causes matches a rejection in this file', () => {
  const errors = refusals.map((refusal) => readErrorBody(answerTo(refusal)))
  const idle = causeRows.filter(
    ({ codes = [], words }) =>
      !errors.some(
        (error) =>
          codes.some((code) => error.codes.includes(code)) ||
          [...error.codeWords, error.words].some((sentence) => words?.test(sentence)),
      ),
  )
  expect(idle.map(({ cause, codes, words }) => [cause, codes ?? words])).toEqual([])
})
