import type { GatewayAccess } from '../../gateway/types.ts'
import type { Machine } from '../../platform/platform.ts'

/** An environment in which everything that programs usually look at points at a gateway. */
export function pointedAt(
  { baseUrl, roots, key }: Pick<GatewayAccess, 'baseUrl' | 'roots' | 'key'>,
  env: Machine['env'],
): Machine['env'] {
  return {
    ...env,
    REPOINT_BASE_URL: baseUrl,
    REPOINT_API_KEY: key,
    OPENAI_BASE_URL: roots.chat,
    OPENAI_API_KEY: key,
    ANTHROPIC_BASE_URL: roots.messages,
    ANTHROPIC_AUTH_TOKEN: key,
    // Beside the token it would go out too, and win.
    ANTHROPIC_API_KEY: undefined,
    ...withoutProxyHere(env),
  }
}

/** Claude Code 2.1.329 asks a proxy even for 127.0.0.1 (2026-11-21). */
export function withoutProxyHere(env: Machine['env']): Machine['env'] {
  const here = [env['NO_PROXY'] ?? env['no_proxy'], '127.0.0.1,localhost'].filter(Boolean).join(',')
  return { NO_PROXY: here, no_proxy: here }
}
