import { describe, expect, test } from 'vitest'
import type { RejectedModel, Sample } from '../../../src/clients/contract/setup.ts'
import { type Ask, prove, Skipped } from '../../../src/commands/prove/prove.ts'
import type { ErrorCode } from '../../../src/error-codes.ts'
import { UserError } from '../../../src/errors.ts'
import type { GatewayRequester } from '../../../src/gateway/gateway-requester.ts'
import { BusyError, type ProbeRequest } from '../../../src/gateway/probe/probe.ts'
import type { CatalogAnswer } from '../../../src/gateway/types.ts'

const errorOf = (code: ErrorCode) => new UserError({ code, message: code, hint: 'x' })
const received: CatalogAnswer = { kind: 'received', catalog: { models: [] } }

/** A gateway that serves every model except these. It answers in the order of the requests. */
class FakeGateway {
  readonly #rejections: Readonly<Record<string, unknown>>
  readonly #list: CatalogAnswer
  /** The models of the requests, each with a bracket around what was sent before its answer. */
  log = ''
  readonly steps: string[] = []

  constructor(rejections: Readonly<Record<string, unknown>> = {}, list = received) {
    this.#rejections = rejections
    this.#list = list
  }

  readonly access = 'the access'

  async requestCatalog() {
    return this.#list
  }

  async probe({ model }: ProbeRequest) {
    this.log += `(${model}`
    await new Promise((settle) => setTimeout(settle, 5))
    this.log += ')'
    if (model in this.#rejections) throw this.#rejections[model]
    return { baseUrl: model, findings: [], safeguards: 'not-requested' }
  }

  /** Asks for a choice of models each: `a b` is the model a, and b after its rejection. */
  prove(...asks: readonly (string | Ask<string>)[]) {
    const step = <T>(what: string, work: Promise<T>) => {
      this.steps.push(what)
      return work
    }
    return prove<string>({ step, addFindings: () => {} }, this as unknown as GatewayRequester, {
      isModelKnown: true,
      asksFor: () => asks.map((ask) => (typeof ask === 'string' ? askFor(ask) : ask)),
    })
  }
}

const requestOf = (model: string): ProbeRequest => ({ model, protocol: 'chat' })

function askFor(models: string, more: Partial<Ask<string>> = {}): Ask<string> {
  const [first = '', ...others] = models.split(' ')
  return {
    first: () => first,
    requestsOf: (choice) => [requestOf(choice)],
    next: (_, rejections) => (rejections.length > 0 ? others.shift() : undefined),
    ...more,
  }
}

/** Why there is no choice, or what the user decided about it. */
const failing = (error: unknown) =>
  askFor('', {
    first: () => {
      throw error
    },
  })

describe('the order of the requests', () => {
  test('one after the other until an API has answered, then all others at once', async () => {
    const gateway = new FakeGateway({ a: errorOf('wrong-route') })
    await gateway.prove('a', 'b', 'c', 'd')
    expect(gateway.log).toBe('(a)(b)(c(d))')
  })

  test('a rejection for another reason than the key or the address is an answer too', async () => {
    const gateway = new FakeGateway({ a: errorOf('model-unknown') })
    await gateway.prove('a', 'b', 'c')
    expect(gateway.log).toBe('(a)(b(c))')
  })

  test('each request is sent once, for all asks', async () => {
    const gateway = new FakeGateway()
    const { answers } = await gateway.prove('a', 'a', 'a')
    expect(gateway.log).toBe('(a)')
    expect(answers.map(({ kind }) => kind)).toEqual(['works', 'works', 'works'])
  })

  test('the requests of a choice are made once', async () => {
    let count = 0
    const requestsOf = (choice: string) => {
      count++
      return [requestOf(choice)]
    }
    await new FakeGateway().prove(askFor('a', { requestsOf }))
    expect(count).toBe(1)
  })

  test('the user sees which models are asked', async () => {
    const gateway = new FakeGateway({ a: errorOf('model-unknown') })
    await gateway.prove('a b', 'c')
    expect(gateway.steps).toEqual([
      'Asking the gateway for its models',
      'Asking a, c for one word',
      'Asking b for one word',
    ])
  })

  test('an earlier request is not sent or shown again for the next choice of another ask', async () => {
    const gateway = new FakeGateway({ a: errorOf('model-unknown') })
    await gateway.prove('a b', 'b')
    expect(gateway.log).toBe('(a)(b)')
    expect(gateway.steps).toHaveLength(2)
  })

  const sender = { label: 'x', body: { model: 'a' } }
  test.each<[string, Partial<ProbeRequest>]>([
    ['protocol', { protocol: 'responses' }],
    ['body', { sender: { ...sender, body: {} } }],
    ['headers', { sender: { ...sender, headers: { 'x-team': 'red' } } }],
    ['safeguards', { sender: { ...sender, safeguards: 'withheld' } }],
    ['accepted responses', { sender: { ...sender, accepts: { rejects: [], retries: [] } } }],
  ])('requests with another %s are not the same', async (_, other) => {
    const gateway = new FakeGateway()
    const request = { ...requestOf('a'), sender }
    const requestsOf = () => [request, { ...request, ...other }]
    await gateway.prove(askFor('x', { requestsOf }))
    expect(gateway.log).toBe('(a)(a)')
  })
})

describe('an answer', () => {
  test('is the next choice that works after a rejection, while others keep theirs', async () => {
    const { answers } = await new FakeGateway({ a: errorOf('model-unknown') }).prove('a b', 'c')
    expect(answers).toMatchObject([
      { kind: 'works', choice: 'b', results: [{ baseUrl: 'b' }] },
      { kind: 'works', choice: 'c' },
    ])
  })

  test('without a further choice names the first rejection', async () => {
    const error = errorOf('model-unknown')
    const requestsOf = () => ['a', 'b', 'c'].map(requestOf)
    const gateway = new FakeGateway({ b: error, c: errorOf('route-not-allowed') })
    const { answers } = await gateway.prove(askFor('x', { requestsOf }))
    expect(answers).toEqual([
      { kind: 'failed', error, rejected: { choice: 'x', rejection: { ...requestOf('b'), error } } },
    ])
  })

  test('gets all rejections of its choice', async () => {
    const seen: (readonly RejectedModel[])[] = []
    const next = (_: string, rejections: readonly RejectedModel[]) => {
      seen.push(rejections)
      return undefined
    }
    const requestsOf = () => ['a', 'b', 'c'].map(requestOf)
    const gateway = new FakeGateway({ a: errorOf('model-unknown'), c: errorOf('model-unknown') })
    await gateway.prove(askFor('x', { requestsOf, next }))
    expect(seen.map((rejections) => rejections.map(({ model }) => model))).toEqual([['a', 'c']])
  })

  test('has the error that describes the rejections better', async () => {
    const better = errorOf('model-not-allowed')
    const next = () => {
      throw better
    }
    const gateway = new FakeGateway({ a: errorOf('model-unknown') })
    const { answers } = await gateway.prove(askFor('a', { next }))
    expect(answers).toMatchObject([{ kind: 'failed', error: better, rejected: { choice: 'a' } }])
  })

  test('is an error if there is no choice, and the others go on', async () => {
    const error = errorOf('config-conflict')
    const { answers } = await new FakeGateway().prove(failing(error), 'b')
    expect(answers).toMatchObject([{ kind: 'failed', error }, { kind: 'works' }])
  })

  test('is skipped if the user goes on without it, before a request or after one', async () => {
    const skipped = new Skipped({ code: 'usage', message: 'x', hint: 'x' })
    const next = () => {
      throw skipped
    }
    const gateway = new FakeGateway({ b: errorOf('model-unknown') })
    const { answers } = await gateway.prove(failing(skipped), askFor('b', { next }), 'c')
    expect(answers).toMatchObject([{ kind: 'skipped' }, { kind: 'skipped' }, { kind: 'works' }])
    const alone = await gateway.prove(failing(skipped))
    expect(alone).toMatchObject({ answers: [{ kind: 'skipped' }] })
  })

  test.each([
    ['Ctrl-C', errorOf('cancelled')],
    ['a bug', new Error('ours')],
  ])('is none after %s', async (_, error) => {
    const next = () => {
      throw error
    }
    const gateway = new FakeGateway({ a: errorOf('model-unknown'), b: error })
    await expect(gateway.prove(failing(error))).rejects.toBe(error)
    await expect(gateway.prove(askFor('a', { next }))).rejects.toBe(error)
    if (!(error instanceof UserError)) await expect(gateway.prove('b')).rejects.toBe(error)
  })
})

describe('a fault', () => {
  test.each<ErrorCode>(['key-rejected', 'quota', 'header-missing', 'timeout'])(
    '%s ends all asks after one request',
    async (code) => {
      const gateway = new FakeGateway({ a: errorOf(code), b: errorOf(code) })
      expect(await gateway.prove('a', 'b')).toEqual({
        access: 'the access',
        list: received,
        answers: [],
        fault: errorOf(code),
      })
      expect(gateway.log).toBe('(a)')
    },
  )

  test('that an ask finds before any request ends the others too', async () => {
    const gateway = new FakeGateway()
    const { fault } = await gateway.prove(failing(errorOf('key-rejected')), 'b')
    expect(fault?.code).toBe('key-rejected')
    expect(gateway.log).toBe('')
  })

  test('is none if the gateway has answered another request', async () => {
    const error = errorOf('key-rejected')
    const { answers, fault } = await new FakeGateway({ b: error }).prove('a', 'b')
    expect(fault).toBeUndefined()
    expect(answers).toMatchObject([{ kind: 'works' }, { kind: 'failed', error }])
  })

  test('is none if an ask finds it after the gateway has answered another request', async () => {
    const error = errorOf('quota')
    const next = () => {
      throw error
    }
    const gateway = new FakeGateway({ a: errorOf('model-unknown') })
    const { answers } = await gateway.prove(askFor('a', { next }), 'b')
    expect(answers).toMatchObject([{ kind: 'failed', error }, { kind: 'works' }])
  })

  test('is the first that concerns all, if nothing works', async () => {
    const shared = { b: errorOf('quota'), c: errorOf('key-rejected') }
    const rejections = { a: errorOf('model-unknown'), ...shared }
    expect((await new FakeGateway(rejections).prove('a', 'b', 'c')).fault?.code).toBe('quota')
    const models = { a: errorOf('model-unknown'), b: errorOf('model-unknown') }
    expect((await new FakeGateway(models).prove('a', 'b')).fault).toBeUndefined()
  })

  test('is the address, if no ask finds an API there', async () => {
    const rejections = { a: errorOf('wrong-route'), b: errorOf('not-an-api') }
    expect((await new FakeGateway(rejections).prove('a', 'b')).fault?.code).toBe('wrong-route')
    const one = { ...rejections, b: errorOf('protocol-unsupported') }
    expect((await new FakeGateway(one).prove('a', 'b')).fault).toBeUndefined()
  })

  test('is the error of the list after which no model can be served, without a request', async () => {
    const listWith = (code: ErrorCode) => ({ kind: 'failed', error: errorOf(code) }) as const
    const rejected = new FakeGateway({}, listWith('key-rejected'))
    expect(await rejected.prove('a')).toMatchObject({
      answers: [],
      fault: { code: 'key-rejected' },
    })
    expect(rejected.log).toBe('')
    expect((await new FakeGateway({}, listWith('wrong-route')).prove('a')).fault).toBeUndefined()
  })
})

describe('one model for each further protocol', () => {
  /** A choice that wants these samples, and contains what they showed. */
  const sampled = (first: string, models: string) => {
    const left = models.split(' ')
    return askFor(first, {
      nextSample: async () => {
        const model = left.shift()
        return model === undefined ? undefined : requestOf(model)
      },
      withSamples: (choice, samples) => `${choice.split(':')[0]}: ${samples.map(shown).join(' ')}`,
    })
  }
  const shown = ({ model, error, isBusy }: Sample) =>
    [model, error?.code, isBusy && 'busy'].filter(Boolean).join('-')

  test('one after the other for a client, at once for several clients', async () => {
    const gateway = new FakeGateway()
    const { answers } = await gateway.prove(sampled('a', 'b c'), sampled('x', 'y'), 'z')
    expect(gateway.log).toBe('(a)(x(z))(b(y))(c)')
    expect(answers).toMatchObject([{ choice: 'a: b c' }, { choice: 'x: y' }, { choice: 'z' }])
  })

  test('says whether the gateway serves it, and whether that is known', async () => {
    const gateway = new FakeGateway({
      b: errorOf('model-unknown'),
      c: new BusyError({ code: 'rate-limited', message: 'x', hint: 'x' }),
      d: errorOf('timeout'),
    })
    const { answers, fault } = await gateway.prove(sampled('a', 'b c d'))
    expect(fault).toBeUndefined()
    expect(answers).toMatchObject([
      { kind: 'works', choice: 'a: b-model-unknown c-rate-limited-busy d-timeout-busy' },
    ])
  })

  test('is not requested for a client that cannot use the gateway', async () => {
    const gateway = new FakeGateway({ a: errorOf('model-unknown') })
    await gateway.prove(sampled('a', 'b'))
    expect(gateway.log).toBe('(a)')
  })

  test.each([errorOf('cancelled'), new Error('ours')])('ends with %s', async (error) => {
    await expect(new FakeGateway({ b: error }).prove(sampled('a', 'b'))).rejects.toBe(error)
  })
})
