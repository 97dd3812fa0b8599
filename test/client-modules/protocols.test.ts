import { describe, expect, test } from 'vitest'
import type { ClientOptions } from '../../src/clients/contract/options.ts'
import {
  chooseProtocol,
  likelyProtocol,
  protocolsForKey,
  protocolsOfProvider,
} from '../../src/clients/models/protocols.ts'
import { sendingFindings } from '../../src/clients/plan/headers.ts'
import { UserError, valueOrError } from '../../src/errors.ts'
import { usualBaseUrls } from '../../src/gateway/base-urls.ts'
import { type Catalog, type KeyHeader, type Protocol, protocols } from '../../src/gateway/types.ts'
import { byId, inputFor } from './support.ts'

const silent = (id: string): Catalog => ({ models: [{ id }] })
const listed = (id: string, ...endpointTypes: string[]): Catalog => ({
  models: [{ id, endpointTypes }],
})
const rejection = (
  model: string,
  protocol: Protocol,
  code: 'tools-unsupported' | 'wrong-route',
) => ({
  model,
  protocol,
  error: new UserError({ code, message: `not over ${protocol}`, hint: 'hint' }),
})

describe('the protocol of a model', () => {
  test.each<[id: string, types: string[], expected: Protocol]>([
    ['gpt-5.6-sol', [], 'responses'],
    ['openai/gpt-5.4-mini', [], 'responses'],
    ['claude-sonnet-5-5', [], 'messages'],
    ['anthropic/claude-opus-4.6', [], 'messages'],
    ['us.anthropic.claude-haiku-5-5-v1:0', [], 'messages'],
    ['glm-5', [], 'chat'],
    ['gpt-oss-120b', [], 'chat'],
    // New API lists GPT models for chat only, and translates: the probe decides.
    ['gpt-5.6-sol', ['openai'], 'responses'],
    ['gpt-5.6-sol', ['anthropic'], 'messages'],
    ['claude-sonnet-5-5', ['openai', 'anthropic'], 'messages'],
    ['glm-5', ['openai', 'anthropic', 'openai-response'], 'chat'],
    ['glm-5', ['anthropic'], 'messages'],
  ])('%s, listed for %j: %s', (id, types, expected) => {
    const catalog = types.length === 0 ? silent(id) : listed(id, ...types)
    expect(chooseProtocol(id, inputFor(catalog), protocols)).toBe(expected)
  })

  test('without a catalog is the native one, which the probe then tries', () => {
    expect(chooseProtocol('gpt-5.6-sol', inputFor(undefined), protocols)).toBe('responses')
  })

  test('if no probe follows, is one that the catalog lists, or chat', () => {
    const choose = (catalog: Catalog | undefined, proven?: Protocol) =>
      chooseProtocol(
        'gpt-5.6-sol',
        inputFor(catalog, {}, undefined, {
          noProbeFollows: true,
          provenModel: proven && { model: 'gpt-5.4', protocol: proven },
        }),
        protocols,
      )
    expect(choose(undefined)).toBe('chat')
    expect(choose(silent('gpt-5.6-sol'))).toBe('chat')
    expect(choose(listed('gpt-5.6-sol', 'openai', 'openai-response'))).toBe('responses')
    expect(choose(silent('gpt-5.6-sol'), 'responses')).toBe('responses')
  })

  test('is the requested one, or the one that it had before', () => {
    const catalog = listed('gpt-5.6-sol', 'openai', 'openai-response')
    expect(chooseProtocol('gpt-5.6-sol', inputFor(catalog, { protocol: 'chat' }), protocols)).toBe(
      'chat',
    )
    const before = inputFor(catalog, {}, { options: { model: 'gpt-5.6-sol', protocol: 'chat' } })
    expect(chooseProtocol('gpt-5.6-sol', before, protocols)).toBe('chat')
  })

  test('is the next one that the client and the gateway share, if the gateway rejects it', () => {
    const choose = (rejected: ReturnType<typeof rejection>[], supported = protocols) =>
      chooseProtocol(
        'gpt-5.6-sol',
        inputFor(silent('gpt-5.6-sol'), {}, undefined, { rejections: rejected }),
        supported,
      )
    const [responses, chat] = [
      rejection('gpt-5.6-sol', 'responses', 'wrong-route'),
      rejection('gpt-5.6-sol', 'chat', 'tools-unsupported'),
    ]
    expect(choose([responses])).toBe('chat')
    expect(choose([responses, chat])).toBe('messages')
    // A route that is missing for one model is missing for all.
    expect(choose([rejection('gpt-5.4', 'responses', 'wrong-route')])).toBe('chat')
    expect(choose([rejection('gpt-5.4', 'responses', 'tools-unsupported')])).toBe('responses')
  })

  test('does not exist if the gateway rejected all: the error gives every reason', () => {
    const rejected = [
      rejection('gpt-5.6-sol', 'responses', 'wrong-route'),
      rejection('gpt-5.6-sol', 'chat', 'tools-unsupported'),
    ]
    const input = inputFor(silent('gpt-5.6-sol'), {}, undefined, { rejections: rejected })
    const choose = () => chooseProtocol('gpt-5.6-sol', input, ['chat', 'responses'])
    const error = valueOrError(choose) as UserError
    expect(error).toMatchObject({ code: 'tools-unsupported', hint: 'hint' })
    expect(error.message).toContain('not over chat')
    expect(error.message).toContain('not over responses')
  })
})

describe('a gateway that accepts the key in one header only', () => {
  /** Like Kimi Code: over messages it sends the key as x-api-key, without a setting. */
  const client = {
    label: 'Any',
    protocols,
    sends: {
      headers: true,
      otherKeyHeaders: { messages: ['x-api-key'] },
      fixedKeyHeader: { messages: 'x-api-key' },
    },
  } as const
  const usable = (keyHeader: KeyHeader, requested: Protocol | undefined) =>
    protocolsForKey(
      client,
      inputFor(undefined, { protocol: requested }, undefined, {
        accessSoFar: { baseUrls: usualBaseUrls('https://gw.example'), keyHeader },
      }),
    )

  test('gets requests over the protocols that can carry the header', () => {
    expect(usable('authorization', undefined)).toEqual(protocols)
    expect(usable('x-api-key', undefined)).toEqual(['messages'])
    expect(usable('x-api-key', 'messages')).toEqual(['messages'])
    expect(valueOrError(() => usable('x-api-key', 'chat'))).toMatchObject({
      code: 'protocol-unsupported',
      hint: expect.stringContaining('--protocol messages'),
    })
  })

  test('is left to `sendingFindings` if no protocol can', () => {
    expect(usable('api-key', 'chat')).toEqual(protocols)
    expect([...sendingFindings(client, { keyHeader: 'api-key' })]).toMatchObject([
      { code: 'protocol-unsupported', severity: 'error' },
    ])
    expect([...sendingFindings(client, { keyHeader: 'x-api-key' })]).toEqual([])
  })

  test.each(['opencode', 'kilo', 'droid'])('%s: never over a protocol that cannot', (id) => {
    const accessSoFar = {
      baseUrls: usualBaseUrls('https://gw.example'),
      keyHeader: 'api-key',
    } as const
    const catalog = listed('claude-opus-5-5', 'anthropic', 'openai')
    const resolve = (requested: ClientOptions) =>
      byId(id).resolve(inputFor(catalog, requested, undefined, { accessSoFar }))
    const messages = valueOrError(() => resolve({ protocol: 'messages' }))
    expect(messages).toMatchObject({ code: 'protocol-unsupported' })
    const { protocol = 'chat' } = resolve({ model: 'claude-opus-5-5' })
    expect(protocol).toBe('chat')
  })
})

describe('a model that is only offered', () => {
  const offer = (id: string, proven: Protocol, types: readonly string[] = []) =>
    likelyProtocol(
      { id, ...(types.length > 0 && { endpointTypes: types }) },
      proven,
      { catalogAnswer: { kind: 'not-requested' }, rejections: [] },
      protocols,
    )

  test('uses its native protocol if that was proven or is listed, else chat', () => {
    expect(offer('gpt-5.4', 'responses')).toBe('responses')
    expect(offer('gpt-5.4', 'chat')).toBe('chat')
    expect(offer('gpt-5.4', 'chat', ['openai', 'openai-response'])).toBe('responses')
    expect(offer('claude-opus-5-5', 'responses')).toBe('chat')
    expect(offer('claude-opus-5-5', 'responses', ['anthropic'])).toBe('messages')
    expect(offer('glm-5', 'responses')).toBe('chat')
  })

  test('shares the base URL of the first model', () => {
    const beside = (first: Protocol, chat: string, messages: string) =>
      protocolsOfProvider(first, protocols, {
        catalogAnswer: { kind: 'not-requested' },
        rejections: [],
        accessSoFar: { baseUrls: { chat, messages }, keyHeader: 'authorization' },
      })
    expect(beside('chat', 'https://gw.example/v1', 'https://gw.example')).toEqual(protocols)
    const apart = ['https://gw.example/v1', 'https://gw.example/anthropic'] as const
    expect(beside('chat', ...apart)).toEqual(['chat', 'responses'])
    expect(beside('messages', ...apart)).toEqual(['messages'])
  })
})
