import type { Machine } from '../../platform/platform.ts'

/** An environment in which everything that programs usually look at points at a gateway. */
export function pointedAt(
  { baseUrl, key }: { readonly baseUrl: string; readonly key: string },
  env: Machine['env'],
): Machine['env'] {
  return {
    ...env,
    REPOINT_BASE_URL: baseUrl,
    REPOINT_API_KEY: key,
    OPENAI_BASE_URL: `${baseUrl}/v1`,
    OPENAI_API_KEY: key,
    ANTHROPIC_BASE_URL: baseUrl,
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
