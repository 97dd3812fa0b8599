/** The ways to request the balance of a key: one for each kind of gateway. */
import { asList, valueAt } from './foreign-text.ts'
import type { Catalog, GatewayAccess } from './types.ts'

/** Reads the value at a path of an answer, such as `data.limits`. Undefined: there is none. */
type At = (path: string) => unknown

/**
 * The values as a gateway sends them. Dates are text, or seconds or ms since 1970; 0, -1 and null mean
 * never.
 */
export interface RawBalance {
  /** If it is not a number, the answer has a different shape. */
  readonly remaining: unknown
  readonly unit?: unknown
  readonly resets?: unknown
  readonly expires?: unknown
}

/** One way to request the balance, recognized by the shape of its answer. */
export interface BalanceWay {
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
export const balanceWays: readonly BalanceWay[] = [
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
export function numberOf(value: unknown): number | undefined {
  const isText = typeof value === 'string' && value.trim() !== ''
  const number = isText ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined
}
