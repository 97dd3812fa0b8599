import type { ErrorBody } from './error-body.ts'

/** What a refusal is about, where neither its status nor its code says so. */
export type Cause =
  | 'client'
  | 'region'
  | 'network'
  | 'content'
  | 'quota'
  | 'account'
  | 'model'
  | 'route'
  | 'key'

/** Words by which somebody refuses, with whom they were seen at; the first row that fits counts. */
const causes: readonly (readonly [cause: Cause, words: RegExp])[] = [
  // Anyrouter and its relatives; Kimi Code; claude-relay-service in two forms (its issues 972, 1088,
  // 2026-02); sub2api (issue 248, 2026-01); Anthropic about a subscription's token (2025-10).
  ['client', /\bunauthorized client\b|\bonly (?:available|allowed) for coding agents\b/i],
  ['client', /\bclient is not authorized\b|\bclient not allowed\b|\bonly accepts requests from\b/i],
  ['client', /\bonly allows \w[\w ]* clients\b|\bonly authorized for use with\b/i],
  // Cloudflare, by number: the asking program, its country, its address (developers.cloudflare.com,
  // 2026-11-23).
  ['client', /^error code: 1010\b/i],
  ['region', /^error code: 1009\b/i],
  ['network', /^error code: 100[678]\b/i],
  // OpenAI; Gemini; Anthropic, which says no more (claude-code issue 1613, 2025-06).
  [
    'region',
    /\b(?:country|region|territory|location)\b.{0,30}\bnot (?:supported|available|allowed)\b/i,
  ],
  ['region', /\bnot available in (?:this|your) (?:country|region)\b|^request not allowed\.?$/i],
  // Groq; New API's tokens for some addresses.
  ['network', /\bnetwork settings\b|\bip\b.{0,30}\b(?:not (?:allowed|in)|whitelist|allowlist)/i],
  ['network', /\bip\b.{0,20}不在|ip ?白名单/i],
  // OpenRouter's moderation, which speaks of credits too.
  [
    'content',
    /\bmoderation\b|\bwas flagged\b|\bcontent (?:policy|filter)\b|\bno credits were charged\b/i,
  ],
  // OpenRouter's limit of a key; an amount of money, or the word for what has run out.
  ['quota', /\bkey limit exceeded\b|[$＄¥￥€]\s?-?\d|quota|balance|credit|额度|余额|欠费/iu],
  // OpenAI; New API; Anthropic and Groq, both with status 400 (claude-code issue 19028, 2026-01; one-api
  // issue 271, 2024-08).
  ['account', /\borganization must be verified\b|用户已被封禁/i],
  ['account', /\b(?:organization|user) (?:is|has been) (?:banned|blocked|disabled|restricted)\b/i],
  // Bedrock; SiliconFlow; NVIDIA, for a listed model (2026-07); OpenRouter's data policy.
  ['model', /\baccess to (?:the|this) (?:requested )?model\b|\bmodel (?:is )?disabled\b/i],
  ['model', /\bnot found for account\b|\bdata policy\b|\bpublication policy\b/i],
  // A key that is good, and not for this: restricted keys of OpenAI, LiteLLM and GitHub (2026-11-22).
  ['route', /\bmissing scopes?\b|\bnot allowed to call this route\b/i],
  ['route', /\bpermission is required to access this endpoint\b/i],
  // Nearly everybody's, xAI's with status 400.
  [
    'key',
    /\b(?:invalid|incorrect|wrong|expired|revoked|disabled|deactivated|malformed|missing|no|valid)\b(?:\W+\w+){0,3}?\W+(?:(?:api|secret|access|bearer|auth\w*)[-_ ]?(?:keys?|tokens?)|x-api-key|credentials?|subscription key)\b/i,
  ],
  [
    'key',
    /\b(?:api[-_ ]?key|token|credentials?)\b(?:\W+\w+){0,3}?\W+(?:invalid|not valid|incorrect|expired|revoked|disabled|deactivated|not found|does not exist|required)\b/i,
  ],
  [
    'key',
    /^(?:invalid|expired|bad) (?:token|key)\b|\bauthentication (?:failed|failure|error|required|fails)\b/i,
  ],
  ['key', /(?:令牌|密钥|api ?key).{0,10}(?:无效|错误|过期|失效|不正确|禁用|不存在)/i],
  ['key', /(?:无效|错误|过期|失效|不正确).{0,4}(?:令牌|密钥|api ?key)/i],
]

/** The same by codes. */
const codes: Readonly<Record<string, Cause>> = {
  client_validation_error: 'client',
  unsupported_country_region_territory: 'region',
}

/** What the words of a refusal, or its code, are about. */
export function causeOf({ words, codes: said }: ErrorBody): Cause | undefined {
  const [byCode] = said.flatMap((code) => codes[code] ?? [])
  return byCode ?? causes.find(([, pattern]) => pattern.test(words))?.[0]
}
