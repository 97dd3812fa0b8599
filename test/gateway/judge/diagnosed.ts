import { diagnose } from '../../../src/gateway/judge/diagnose.ts'
import type { Outcome } from '../../../src/gateway/judge/types.ts'
import { base, key, model, type Row } from '../../fixtures/gateway/answers.ts'

const routes = {
  catalog: '/v1/models',
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
  messages: '/v1/messages?beta=true',
} as const

export interface Answer {
  readonly asked: Row[1]
  readonly status: number
  readonly body: Row[3]
  readonly more?: Row[5]
}

export function diagnoseRow([, asked, status, body, , more]: Row) {
  return diagnoseAnswer({ asked, status, body, more })
}

export function diagnoseAnswer({ asked, status, body, more = {} }: Answer) {
  const json = typeof body !== 'string'
  const baseUrl = more.base ?? base
  return diagnose(
    {
      url: baseUrl + routes[asked],
      status,
      headers: { 'content-type': json ? 'application/json' : 'text/html', ...more.headers },
      body: json ? JSON.stringify(body) : body,
      ...(more.cut === undefined ? {} : { cut: more.cut }),
      ...(more.proxy === undefined ? {} : { proxy: more.proxy }),
    },
    {
      route: asked,
      address: baseUrl,
      secrets: [key],
      ...(asked === 'catalog' ? {} : { model }),
      ...more.request,
    },
  )
}

/** The outcome of an answer that must not count as a success. */
export function failing(
  status: number,
  body: string | object,
  more: Row[5] = {},
  asked: Row[1] = 'catalog',
): Outcome {
  return diagnoseAnswer({ asked, status, body, more })!
}

/** An error of New API. */
export const newApiError = (message: string, more: object = {}) => ({
  error: { message, type: 'new_api_error', ...more },
})
/** An error without signs of a product. */
export const apiError = (message: string, more: object = {}) => ({ error: { message, ...more } })
export const page = (title: string, text = '') => `<html><title>${title}</title>${text}</html>`
export const head = (name: string, value: string) => ({ headers: { [name]: value } })
export const plain = head('content-type', 'text/plain')
export const plainHttp = { base: 'http://gw.example' }
export const onTls = 'The plain HTTP request was sent to HTTPS port'
export const proven = { request: { apiAnswered: 'catalog' as const } }
export const asking = (name: string) => ({ request: { model: name } })
