import * as v from 'valibot'
import { compact } from '../compact.ts'
import { ask } from './ask.ts'
import type { GatewayAccess } from './types.ts'

/** What is left on a key, as its gateway says it. */
export interface Balance {
  /** In `unit`, and never below 0. */
  readonly remaining: number | 'unlimited'
  /** `USD`, `CNY`, `requests`, `%`: as people say it behind the number. */
  readonly unit: string
  /** When it is full again, as an ISO date. */
  readonly resets?: string
  /** When the key ends, as an ISO date. */
  readonly expires?: string
}

/** One way to ask, known by the shape of its answer and not by a name. */
interface Source {
  readonly url: (access: GatewayAccess) => string
  /** The vendor's own hosts: there it is asked first, and alone. */
  readonly hosts?: readonly string[]
  /** The key stands in `authorization` without `Bearer`. */
  readonly isBareKey?: true
  readonly answer: v.GenericSchema<unknown, Balance>
}

/** A number, also where it is written as text. */
const amount = v.pipe(v.union([v.number(), v.string()]), v.transform(Number), v.finite())
const maybeAmount = v.nullish(amount)
const maybeText = v.nullish(v.string())

/** New API and One API count in quota: so many for a dollar, unless the owner says otherwise. */
const quotaPerDollar = 500_000

const newApi: Source = {
  url: ({ baseUrl }) => `${baseUrl}/api/usage/token/`,
  answer: v.pipe(
    v.object({
      data: v.object({
        object: v.literal('token_usage'),
        total_available: amount,
        unlimited_quota: v.optional(v.boolean(), false),
        expires_at: maybeAmount,
      }),
    }),
    v.transform(({ data }) =>
      balance({
        // With `unlimited_quota` the number means nothing.
        remaining: data.unlimited_quota ? 'unlimited' : data.total_available / quotaPerDollar,
        unit: 'USD',
        expires: data.expires_at,
      }),
    ),
  ),
}

const sub2api: Source = {
  url: ({ roots }) => `${roots.chat}/usage`,
  answer: v.pipe(
    v.object({
      remaining: amount,
      unit: v.optional(v.string(), 'USD'),
      // It tells this answer from others with a `remaining`.
      isValid: v.boolean(),
      expires_at: maybeText,
    }),
    v.transform(({ remaining, unit, expires_at }) =>
      // Below 0 it counts nothing: the key has no limit.
      balance({ remaining: remaining < 0 ? 'unlimited' : remaining, unit, expires: expires_at }),
    ),
  ),
}

const liteLlm: Source = {
  url: ({ baseUrl }) => `${baseUrl}/key/info`,
  answer: v.pipe(
    v.object({
      info: v.object({
        spend: amount,
        max_budget: maybeAmount,
        budget_reset_at: maybeText,
        expires: maybeText,
      }),
    }),
    v.transform(({ info: { spend, max_budget: budget, budget_reset_at: resets, expires } }) =>
      balance({
        remaining: budget == null ? 'unlimited' : budget - spend,
        unit: 'USD',
        resets,
        expires,
      }),
    ),
  ),
}

const openRouter: Source = {
  url: ({ roots }) => `${roots.chat}/key`,
  hosts: ['openrouter.ai'],
  answer: v.pipe(
    v.object({
      data: v.object({
        limit_remaining: v.nullable(amount),
        usage: amount,
        limit_reset: maybeText,
        expires_at: maybeText,
      }),
    }),
    v.transform(({ data }) =>
      balance({
        remaining: data.limit_remaining ?? 'unlimited',
        unit: 'USD',
        expires: data.expires_at,
      }),
    ),
  ),
}

const deepSeek: Source = {
  url: ({ baseUrl }) => `${new URL(baseUrl).origin}/user/balance`,
  hosts: ['api.deepseek.com'],
  answer: v.pipe(
    v.object({
      is_available: v.boolean(),
      balance_infos: v.tupleWithRest(
        [v.object({ currency: v.string(), total_balance: amount })],
        v.unknown(),
      ),
    }),
    v.transform(({ balance_infos: [{ currency, total_balance }] }) =>
      balance({ remaining: total_balance, unit: currency }),
    ),
  ),
}

const siliconFlow: Source = {
  url: ({ roots }) => `${roots.chat}/user/info`,
  hosts: ['api.siliconflow.cn', 'api.siliconflow.com'],
  answer: v.pipe(
    v.object({ data: v.object({ totalBalance: amount }) }),
    v.transform(({ data }) => balance({ remaining: data.totalBalance, unit: 'CNY' })),
  ),
}

const kimiCode: Source = {
  url: ({ roots }) => `${roots.chat}/usages`,
  hosts: ['api.kimi.com'],
  answer: v.pipe(
    v.object({
      limits: v.pipe(
        v.array(
          v.object({
            detail: v.object({
              remaining: amount,
              resetTime: v.nullish(v.union([v.string(), v.number()])),
            }),
          }),
        ),
        v.minLength(1),
      ),
    }),
    v.transform(({ limits }) => {
      const [tightest] = limits.toSorted(
        (one, other) => one.detail.remaining - other.detail.remaining,
      )
      const { remaining, resetTime } = tightest!.detail
      return balance({ remaining, unit: 'requests', resets: resetTime })
    }),
  ),
}

const zai: Source = {
  url: ({ baseUrl }) => `${new URL(baseUrl).origin}/api/monitor/usage/quota/limit`,
  hosts: ['api.z.ai', 'open.bigmodel.cn'],
  isBareKey: true,
  answer: v.pipe(
    v.object({
      data: v.object({
        limits: v.array(
          v.object({ type: v.string(), percentage: maybeAmount, nextResetTime: maybeAmount }),
        ),
      }),
    }),
    v.transform(({ data: { limits } }) =>
      limits.filter(({ type }) => /^tokens_?limit$/i.test(type)),
    ),
    v.minLength(1),
    v.transform((limits) => {
      const used = (one: { percentage?: number | null | undefined }) => one.percentage ?? 0
      const [tightest] = limits.toSorted((one, other) => used(other) - used(one))
      return balance({
        remaining: 100 - used(tightest!),
        unit: '%',
        resets: tightest!.nextResetTime,
      })
    }),
  ),
}

/**
 * Where gateways say what is left on the key that asks, the likeliest first. From their sources: New API
 * `controller/token.go`, CC Switch `services/balance.rs` and `coding_plan.rs` (2026-11-23).
 */
const sources = [newApi, sub2api, liteLlm, openRouter, deepSeek, siliconFlow, kimiCode, zai]

/** Nothing hangs on the answer. In ms. */
const patienceMs = 3_000
const maxBytes = 100_000

/**
 * What is left on the key of a gateway; undefined: it does not say. At most one request for each way to
 * ask, one after the other, and none after the first that answers. Never throws for what a gateway does.
 */
export async function balanceOf(access: GatewayAccess): Promise<Balance | undefined> {
  const { hostname } = new URL(access.baseUrl)
  const own = sources.filter(({ hosts }) => hosts?.includes(hostname))
  for (const source of own.length > 0 ? own : sources) {
    const found = await askFor(access, source)
    if (found === 'unreachable') return undefined
    if (found !== undefined) return found
  }
  return undefined
}

async function askFor(
  access: GatewayAccess,
  source: Source,
): Promise<Balance | undefined | 'unreachable'> {
  const result = await ask(access, {
    method: 'GET',
    url: source.url(access),
    headers: { accept: 'application/json', ...(source.isBareKey && { authorization: access.key }) },
    maxBytes,
    answerWithinMs: Math.min(patienceMs, access.timeoutMs),
  })
  if (!('status' in result)) return 'unreachable'
  if (result.status !== 200) return undefined

  const read = v.safeParse(v.pipe(v.string(), v.parseJson(), source.answer), result.body)
  return read.success ? read.output : undefined
}

/** @param found `resets` and `expires` as text, or in seconds or ms since 1970; 0, -1 and null: never */
function balance(found: {
  readonly remaining: Balance['remaining']
  readonly unit: string
  readonly resets?: string | number | null | undefined
  readonly expires?: string | number | null | undefined
}): Balance {
  const { remaining, unit, resets, expires } = found
  return compact({
    remaining: remaining === 'unlimited' ? remaining : Math.max(0, remaining),
    // What a gateway calls it goes to a terminal.
    unit: /^[A-Za-z%]{1,12}$/.test(unit) ? unit : 'units',
    resets: asDate(resets),
    expires: asDate(expires),
  })
}

function asDate(when: string | number | null | undefined): string | undefined {
  if (when === null || when === undefined || when === '') return undefined
  const isTime = typeof when === 'number'
  if (isTime && when <= 0) return undefined
  const date = new Date(isTime && when < 1e12 ? when * 1000 : when)
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString()
}
