/**
 * The key is missing, wrong or expired. These rows come last: many sentences about other causes name the
 * key too, and a 401 without a better cause is about the key.
 */

import { zh } from './chinese.ts'
import { bareSecret, broken, secret } from './english.ts'
import { anyOf, near, phrases } from './patterns.ts'
import { type CauseRow, forged, github, noStatus } from './row.ts'

const keyStatuses = [noStatus, 400, 401, 403]

export const keyRows: readonly CauseRow[] = [
  {
    cause: 'key',
    codes: [
      'token_not_found_in_db',
      'expired_key',
      'invalidclienttokenid',
      'incorrect_api_key',
      'api_key_invalid',
      'api_key_expired',
      'api_key_revoked',
      'bad_token',
      'expired_token',
      'unrecognizedclientexception',
      'incompletesignatureexception',
      'invalid_client',
    ],
    source:
      'https://developers.openai.com/api/docs/guides/error-codes, https://ai.google.dev/gemini-api/docs/troubleshooting (2026-11-23)',
  },
  {
    cause: 'key',
    codes: ['1000', '1001', '1002', '1003', '1004', '2049'],
    statuses: [noStatus, 401],
    source:
      'https://docs.z.ai/api-reference/api-code, https://platform.minimax.io/docs/api-reference/errorcode.md (2026-11-24)',
  },
  {
    cause: 'key',
    // Invalid API key. The token you sent has expired.
    words: anyOf(near(secret, broken, { before: 30, after: 60 })),
    source: `${github}/hotovo/aider-desk/issues/653 (2026-02) and nearly everybody`,
  },
  {
    cause: 'key',
    words: anyOf(
      // Anonymous users may not do this.
      ...phrases`
        \bnot authenticated\b
        \b(?:anonymous|unregistered|unidentified|unauthenticated) (?:users?|callers?|requests?|access)\b
        \b(?:user|caller): anonymous\b
      `,
    ),
    statuses: keyStatuses,
    source: forged,
  },
  {
    cause: 'key',
    words: anyOf(
      // Bad key. Authentication failed.
      near(bareSecret, broken, { before: 25, after: 30 }),
      ...phrases`
        \b(?:auth\w*|certification) (?:check )?(?:failed|failure|error|required|fails)\b
        \b(?:request denied by )?key auth check\b
      `,
    ),
    statuses: keyStatuses,
    source: `${github}/deepwn/addi/issues/13 (2026-03); Higress, 2026-11-24`,
  },
  {
    cause: 'key',
    words: anyOf(
      // 密钥无效: the key is invalid. 未登录: not logged in.
      `${zh.secret}.{0,20}${zh.broken}`,
      `${zh.broken}(?:的)?.{0,10}${zh.secret}`,
      ...phrases`未(?:登录|授权|认证) | 没有登录 | 登录.{0,6}(?:过期|失效)`,
    ),
    source: `${github}/QuantumNous/new-api, 2026-11-21`,
  },
  {
    cause: 'key',
    // Unauthorized. Please log in. A 401 that names no model: not "Unauthorized model".
    words:
      /^(?!.*\bmodels?\b).*\b(?:keys?|tokens?|apikey|credentials?|authenticat\w+|unauthenticated|authori[sz]ation|unauthori[sz]ed|not authori[sz]ed|bearer|jwt|log ?in|logged in|sign ?in|access denied|user not found|no (?:cookie )?auth\w*)\b|^forbidden\b/is,
    statuses: [401],
    source:
      'https://www.rfc-editor.org/rfc/rfc9110#name-401-unauthorized; OpenRouter, Mistral, 2026-11-23',
  },
  {
    cause: 'key',
    words: /令牌|密钥|api ?key|apikey|token|鉴权|认证|身份|登录|授权/i,
    statuses: [401],
    source: 'https://www.rfc-editor.org/rfc/rfc9110#name-401-unauthorized',
  },
]
