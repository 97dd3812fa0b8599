import { isObject, type JsonObject, objectsIn } from './read.ts'
import { anthropicWords, Refusal } from './refusal.ts'
import { knownBetas } from './shapes.ts'

/**
 * Versions of the messages protocol, as the header `anthropic-version` names them
 * (https://platform.claude.com/docs/en/api/versioning, read 2026-11-23). Without the header the service
 * speaks the one of 2023.
 */
const versions = ['2023-01-01', '2023-06-01', '2026-10-21']

/** Betas that clients send and the SDK does not name, by who sends them (found in them, 2026-11-23). */
const furtherBetas: Readonly<Record<string, string>> = {
  'Claude Code 2.1.54 to 2.1.330': `adaptive-thinking-2026-01-28 advanced-tool-use-2025-11-20
    afk-mode-2026-01-31 auto-mode-classifier-2026-07-16 cache-keepalive-2026-09-03
    ccr-byoc-2025-07-29 ccr-triggers-2026-01-30 claude-code-20250219
    claude-code-side-query-2026-09-29 context-hint-2026-04-09 dangerous-tool-use-2026-09-03
    effort-2025-11-24 environments-2025-11-01 mcp-servers-2025-12-04
    mid-conversation-system-2026-04-07 oauth-2025-04-20 oidc-federation-2026-04-01
    per-turn-control-2026-07-01 program-use-case-ids-2026-09-17 prompt-caching-evict-2026-05-12
    prompt-caching-scope-2026-01-05 redact-thinking-2026-02-12 request-tags-2026-08-21
    resumption-2026-10-08 structured-outputs-2025-12-15 summarize-connector-text-2026-03-13
    thinking-resumption-2026-07-17 timing-2026-09-09 tool-examples-2025-10-29
    tool-provenance-2026-10-26 tool-search-tool-2025-10-19 web-search-2025-03-05
    web-search-results-only-2026-11-15`,
  '@ai-sdk/anthropic 4.0.105': `code-execution-2025-08-25 code-execution-web-tools-2026-02-09
    web-fetch-2025-09-10`,
  'droid 0.225.2': `fine-grained-tool-streaming-2025-05-14 mid-conversation-effort-2026-08-01`,
}

const betas: ReadonlySet<string> = new Set([
  ...knownBetas,
  ...Object.values(furtherBetas).flatMap((names) => names.split(/\s+/)),
])

/** @throws Refusal where a version or a beta is none, or does not take what the body holds */
export function checkVersion(
  body: JsonObject,
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
): void {
  const version = String(headers['anthropic-version'] ?? versions[1])
  if (!versions.includes(version))
    throw new Refusal(`anthropic-version: "${version}" is not a valid version.`)

  const asked = String(headers['anthropic-beta'] ?? '').split(',')
  const unknown = asked.map((beta) => beta.trim()).find((beta) => beta !== '' && !betas.has(beta))
  if (unknown !== undefined)
    throw new Refusal(
      `Unexpected value(s) \`${unknown}\` for the \`anthropic-beta\` header. Please consult our documentation at docs.claude.com or try again without the header.`,
    )
  if (version >= '2026-10-21') checkNewest(body)
}

/** What went with the version of 2026-10-21, which the official SDKs send from 1.0 on. */
function checkNewest(body: JsonObject): void {
  for (const name of ['temperature', 'top_p', 'top_k'])
    if (typeof body[name] === 'number') throw anthropicWords.unknown(name)

  for (const [index, { role, content }] of objectsIn(body['messages']).entries())
    for (const [at, { type, citations }] of objectsIn(content).entries()) {
      const where = `messages.${index}.content.${at}`
      if (role === 'assistant' && type === 'document')
        throw new Refusal(`${where}: document blocks are not permitted in assistant messages`)
      if (role === 'user' && type === 'text' && isFilled(citations))
        throw anthropicWords.unknown(`${where}.text.citations`)
    }
}

function isFilled(list: unknown): boolean {
  return Array.isArray(list) ? list.length > 0 : isObject(list)
}
