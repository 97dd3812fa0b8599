/** Requests the balance of a key. It is optional: a gateway that does not report it is no failure. */
import { setTimeout as pause } from 'node:timers/promises'
import { asList, jsonIn, valueAt } from './foreign-text.ts'
import { closeIdleConnections } from './http/request.ts'
import { sendWithKey } from './send.ts'
import type { Catalog, GatewayAccess } from './types.ts'

/** The balance of a key, as its gateway reports it. */
export interface Balance {
  /** In `unit`, and never below 0. */
  readonly remaining: number | 'unlimited'
  /** `USD`, `CNY`, `requests`, `%`: the unit to write after the number. */
  readonly unit: string
  /** When it is full again, as an ISO date. */
  readonly resets?: string
  /** When the key expires, as an ISO date. */
  readonly expires?: string
}

/** New API counts in quota units. This is one dollar, unless the operator changes it. */
const quotaPerDollar = 500_000

/** How long to wait for an answer, in ms. Best effort: the balance is optional. */
const answerTimeoutMs = 3_000
const maxBytes = 100_000

/**
 * The balance of a gateway's key, if the gateway reports it. Sends one request if the host or the catalog
 * shows the way, otherwise one for each possible way, in parallel. Never throws because of a gateway.
 */
export async function balanceOf(
  access: GatewayAccess,
  catalog?: Catalog,
): Promise<Balance | undefined> {
  const known = knownWay(access, catalog)
  const ways = known ? [known] : balanceWays.filter(({ hosts }) => hosts === undefined)
  const balances = await Promise.all(ways.map((way) => requestBalance(access, way)))
  return balances.find((balance) => balance !== undefined)
}

/** How long to wait for the balance after all other work is done, in ms. Too short for anyone to notice. */
const graceMs = 50

/** A balance request that runs in parallel with other work. */
export interface BalanceRequest {
  /** The balance, if it has arrived. */
  readonly ifAnswered: () => Promise<Balance | undefined>
  /** Aborts the request. */
  readonly end: () => Promise<void>
}

/**
 * Requests the balance in parallel with other work, if one request is enough. The other work need not
 * wait for it.
 */
export function startBalanceRequest(
  access: GatewayAccess,
  catalog: Catalog | undefined,
): BalanceRequest | undefined {
  const way = knownWay(access, catalog)
  if (way === undefined) return undefined

  const ended = new AbortController()
  const interrupt = access.signal === undefined ? [] : [access.signal]
  // A separate access has separate connections, which `end` can close.
  const separate = { ...access, signal: AbortSignal.any([ended.signal, ...interrupt]) }
  const answer = requestBalance(separate, way).catch(() => undefined)

  return {
    ifAnswered: () => Promise.race([answer, pause(graceMs, undefined)]),
    async end() {
      ended.abort()
      await closeIdleConnections(separate)
    },
  }
}

export async function requestBalance(
  access: GatewayAccess,
  way: BalanceWay,
): Promise<Balance | undefined> {
  // A gateway that accepts the key in another header is not one of these.
  const isBare = way.isBareKey && access.keyHeader === 'authorization'
  const headers: Readonly<Record<string, string>> = isBare ? { authorization: access.key } : {}
  const answer = await fetchJson(access, way.url(access), headers)
  const raw = way.read((path) => valueAt(answer, path.split('.')))
  if (raw === undefined) return undefined

  const quotaUnits = numberOf(raw.remaining)
  if (way.quota === undefined || !quotaUnits) return balanceFrom(raw)

  const status = await fetchJson(access, way.quota.url(access))
  const unitsPerDollar = numberOf(valueAt(status, way.quota.path.split('.'))) || quotaPerDollar
  return balanceFrom({ ...raw, remaining: quotaUnits / unitsPerDollar })
}

/** The JSON of an answer. Undefined: the gateway has no such route, or does not answer in time. */
async function fetchJson(
  access: GatewayAccess,
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<unknown> {
  const result = await sendWithKey(access, {
    method: 'GET',
    url,
    headers: { accept: 'application/json', ...headers },
    maxBytes,
    answerWithinMs: Math.min(answerTimeoutMs, access.timeoutMs),
  })
  return 'status' in result && result.status === 200 ? jsonIn(result.body) : undefined
}

/** Cleans the values of a gateway. Undefined: the answer has no amount, so it has a different shape. */
function balanceFrom({
  remaining,
  unit = 'USD',
  resets,
  expires,
}: RawBalance): Balance | undefined {
  const left = numberOf(remaining)
  const isUnlimited = remaining === 'unlimited'
  if (left === undefined && !isUnlimited) return undefined

  const amount: Balance['remaining'] = isUnlimited ? 'unlimited' : Math.max(0, left!)
  return {
    remaining: amount,
    // The gateway's unit will be printed on a terminal.
    unit: typeof unit === 'string' && /^[A-Za-z%]{1,12}$/.test(unit) ? unit : 'units',
    resets: dateOf(resets),
    expires: dateOf(expires),
  }
}

function dateOf(when: unknown): string | undefined {
  const time = numberOf(when)
  if (time !== undefined && time <= 0) return undefined

  // A number below 1e12 is in seconds.
  const ms = time !== undefined && time < 1e12 ? time * 1000 : time
  const date = new Date(ms ?? String(when))
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString()
}

/** `14.20 USD left, renewed on 2026-12-01`, `no limit`, `nothing left`: the words after "the key has". */
export function shownBalance({ remaining, unit, resets, expires }: Balance): string {
  const day = (date: string) => date.slice(0, 10)
  const parts = [shownAmount(remaining, unit)]
  if (resets !== undefined) parts.push(`renewed on ${day(resets)}`)
  if (expires !== undefined) parts.push(`the key ends on ${day(expires)}`)
  return parts.join(', ')
}

function shownAmount(remaining: Balance['remaining'], unit: string): string {
  if (remaining === 'unlimited') return 'no limit'
  if (remaining === 0) return 'nothing left'
  const isMoney = /^[A-Z]{3}$/.test(unit)
  return `${isMoney ? remaining.toFixed(2) : remaining} ${unit} left`
}

/** Reads the value at a path of an answer, such as `data.limits`. Undefined: there is none. */
type At = (path: string) => unknown

/**
 * The values as a gateway sends them. Dates are text, or seconds or ms since 1970; 0, -1 and null mean
 * never.
 */
interface RawBalance {
  /** If it is not a number, the answer has a different shape. */
  readonly remaining: unknown
  readonly unit?: unknown
  readonly resets?: unknown
  readonly expires?: unknown
}

/** One way to request the balance, recognized by the shape of its answer. */
interface BalanceWay {
  readonly url: (access: GatewayAccess) => string
  /** The vendor's hosts. There this way alone is used, and it is used nowhere else. */
  readonly hosts?: readonly string[]
  /** Whether the catalog shows that this is the way. */
  readonly isShownBy?: (catalog: Catalog) => boolean
  /** Where to read how many of the gateway's units make one dollar. Absent: it reports money. */
  readonly quota?: { readonly url: (access: GatewayAccess) => string; readonly path: string }
  /** `authorization` contains the key without `Bearer`. */
  readonly isBareKey?: true
  readonly read: (at: At) => RawBalance | undefined
}

/**
 * How gateways report the balance of the requesting key, most likely first. From their sources: New API
 * `controller/token.go`, CC Switch `services/balance.rs` and `coding_plan.rs` (2026-11-23).
 */
const balanceWays: readonly BalanceWay[] = [
  // New API. With `unlimited_quota` the number means nothing.
  {
    url: ({ address }) => `${address}/api/usage/token/`,
    isShownBy: ({ isNewApi }) => isNewApi === true,
    quota: { url: ({ address }) => `${address}/api/status`, path: 'data.quota_per_unit' },
    read: (at) => {
      if (at('data.object') !== 'token_usage') return undefined
      const isUnlimited = at('data.unlimited_quota') === true
      return {
        remaining: isUnlimited ? 'unlimited' : at('data.total_available'),
        expires: at('data.expires_at'),
      }
    },
  },
  // sub2api. A number below 0 means that the key has no limit.
  {
    url: ({ baseUrls }) => `${baseUrls.chat}/usage`,
    read: (at) => {
      if (typeof at('isValid') !== 'boolean') return undefined
      const left = numberOf(at('remaining'))
      return {
        remaining: left !== undefined && left < 0 ? 'unlimited' : left,
        unit: at('unit'),
        expires: at('expires_at'),
      }
    },
  },
  // LiteLLM.
  {
    url: ({ address }) => `${address}/key/info`,
    read: (at) => {
      const spend = numberOf(at('info.spend'))
      if (spend === undefined) return undefined

      const budget = at('info.max_budget')
      const limit = numberOf(budget)
      const left = limit === undefined ? undefined : limit - spend
      return {
        remaining: budget == null ? 'unlimited' : left,
        resets: at('info.budget_reset_at'),
        expires: at('info.expires'),
      }
    },
  },
  {
    url: ({ baseUrls }) => `${baseUrls.chat}/key`,
    hosts: ['openrouter.ai'],
    read: (at) => {
      const left = at('data.limit_remaining')
      return { remaining: left === null ? 'unlimited' : left, expires: at('data.expires_at') }
    },
  },
  {
    url: ({ address }) => `${new URL(address).origin}/user/balance`,
    hosts: ['api.deepseek.com'],
    read: (at) => ({
      remaining: at('balance_infos.0.total_balance'),
      unit: at('balance_infos.0.currency'),
    }),
  },
  {
    url: ({ baseUrls }) => `${baseUrls.chat}/user/info`,
    hosts: ['api.siliconflow.cn', 'api.siliconflow.com'],
    read: (at) => ({ remaining: at('data.totalBalance'), unit: 'CNY' }),
  },
  // Kimi Code. The tightest of its windows counts.
  {
    url: ({ baseUrls }) => `${baseUrls.chat}/usages`,
    hosts: ['api.kimi.com'],
    read: (at) => {
      const leftOf = (limit: unknown) =>
        numberOf(valueAt(limit, ['detail', 'remaining'])) ?? Infinity
      const [tightest] = asList(at('limits')).toSorted((a, b) => leftOf(a) - leftOf(b))
      return {
        remaining: valueAt(tightest, ['detail', 'remaining']),
        unit: 'requests',
        resets: valueAt(tightest, ['detail', 'resetTime']),
      }
    },
  },
  // Z.ai and Zhipu report the used share, in percent.
  {
    url: ({ address }) => `${new URL(address).origin}/api/monitor/usage/quota/limit`,
    hosts: ['api.z.ai', 'open.bigmodel.cn'],
    isBareKey: true,
    read: (at) => {
      const usedOf = (limit: unknown) => numberOf(valueAt(limit, ['percentage'])) ?? 0
      const [tightest] = asList(at('data.limits'))
        .filter((limit) => /^tokens_?limit$/i.test(String(valueAt(limit, ['type']))))
        .toSorted((a, b) => usedOf(b) - usedOf(a))
      if (tightest === undefined) return undefined
      return {
        remaining: 100 - usedOf(tightest),
        unit: '%',
        resets: valueAt(tightest, ['nextResetTime']),
      }
    },
  },
]

/** The way that the host or the catalog shows. */
export function knownWay(
  { address }: Pick<GatewayAccess, 'address'>,
  catalog: Catalog | undefined,
): BalanceWay | undefined {
  const { hostname } = new URL(address)
  return balanceWays.find(
    ({ hosts, isShownBy }) => hosts?.includes(hostname) || (catalog && isShownBy?.(catalog)),
  )
}

/** A number, or text that contains one. */
function numberOf(value: unknown): number | undefined {
  const isText = typeof value === 'string' && value.trim() !== ''
  const number = isText ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined
}
