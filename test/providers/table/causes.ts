import type { ErrorCode } from '../../../src/error-codes.ts'
import type { Reply } from '../shape.ts'

/** A provider's error. test/gateway/judge has many more of them, without a setup. */
export interface ErrorRow {
  readonly who: string
  readonly client: 'codex' | 'claude' | 'opencode'
  readonly reply: Reply
  /** The source of the error, or why it is a guess. */
  readonly source: string
}

/** A provider that rejects all clients but those whose user agent begins with `admits`. */
export interface AdmittingRow extends ErrorRow {
  readonly admits: string
}

/** An error, and what repoint must report for it. */
export interface CauseRow extends ErrorRow {
  /** Whether the requested model is missing from the provider's list. */
  readonly isUnlisted?: true
  readonly code: ErrorCode
  readonly says: RegExp
}

const json = (status: number, body: object): Reply => ({ status, body })
const error = (status: number, message: string, more: object = {}): Reply =>
  json(status, { error: { message, ...more } })
const anthropic = (status: number, type: string, message: string): Reply =>
  json(status, { type: 'error', error: { type, message } })
const text = (status: number, body: string): Reply => ({ status, body })

const github = 'https://github.com/'

/** Errors for other clients than the one of the row. */
export const admittingRows: readonly AdmittingRow[] = [
  {
    who: 'claude-relay-service, which rejects the client for this key',
    client: 'claude',
    reply: json(403, {
      error: 'Client not allowed',
      message: 'Your client is not authorized to use this API key',
      allowedClients: ['claude_code'],
    }),
    admits: 'claude-cli/',
    source: `${github}Wei-Shaw/claude-relay-service/issues/972 (2026-02)`,
  },
  {
    who: 'Kimi Code',
    client: 'opencode',
    reply: error(
      403,
      'Kimi For Coding is currently only available for Coding Agents such as Kimi CLI, Claude Code, Roo Code, Kilo Code, etc.',
      { type: 'access_terminated_error' },
    ),
    admits: 'opencode/',
    source: `${github}musistudio/claude-code-router/issues/991 (2025-11)`,
  },
  {
    who: 'Cloudflare, the user agent',
    client: 'codex',
    reply: text(403, 'error code: 1010'),
    admits: 'codex_',
    source: `${github}anomalyco/opencode/issues/41320 (2026-08)`,
  },
]

/** Errors of providers for a valid key. */
export const goodKeyRows: readonly CauseRow[] = [
  {
    who: 'Anthropic, region',
    client: 'claude',
    reply: anthropic(403, 'forbidden', 'Request not allowed'),
    code: 'forbidden',
    says: /country or region/,
    source: `${github}anthropics/claude-code/issues/1613 (2025-06)`,
  },
  {
    who: 'NVIDIA, a listed model that the account cannot use',
    client: 'opencode',
    reply: json(404, {
      status: 404,
      title: 'Not Found',
      detail: "Function '23d4f03a': Not found for account 'Qawmu2'",
    }),
    code: 'model-not-allowed',
    says: /gpt-5\.6-sol/,
    source: `${github}Alishahryar1/free-claude-code/issues/1021 (2026-07)`,
  },
  {
    who: 'OpenRouter, data policy',
    client: 'opencode',
    reply: error(
      404,
      'No endpoints found matching your data policy. Check your settings: https://openrouter.ai/settings/privacy',
      { code: 404 },
    ),
    code: 'model-not-allowed',
    says: /data policy/,
    source: `${github}dnakov/anon-kode/issues/13 (2025-03)`,
  },
  {
    who: 'OpenAI, an organization that is not verified',
    client: 'codex',
    reply: error(
      400,
      'Your organization must be verified to stream this model. Please go to: https://platform.openai.com/settings/organization/general',
      {
        type: 'invalid_request_error',
        param: 'stream',
        code: 'unsupported_value',
      },
    ),
    code: 'forbidden',
    says: /verified/,
    source: `${github}langflow-ai/openrag/issues/257 (2025-10)`,
  },
  {
    who: 'opencode Zen, forbidden without a message',
    client: 'opencode',
    reply: json(403, { model: 'mimo-v2.5-free' }),
    code: 'forbidden',
    says: /nobody could ask it/,
    source: `${github}anomalyco/opencode/issues/47940 (2026-09)`,
  },
  {
    who: 'Kong, without its header',
    client: 'codex',
    reply: json(401, { message: 'No API key found in request' }),
    code: 'header-missing',
    says: /apikey/,
    source: 'https://developer.konghq.com/plugins/key-auth/',
  },
]

/** Errors of providers for an unknown model. */
export const wrongModelRows: readonly CauseRow[] = [
  {
    who: 'NVIDIA',
    client: 'opencode',
    reply: text(404, '404 page not found'),
    source: `${github}Hmbown/Codewhale/issues/1482 (2026-05)`,
  },
  {
    who: 'Novita, over messages',
    client: 'claude',
    reply: json(404, { code: 404, reason: 'NOT_FOUND', message: 'not found', metadata: {} }),
    source: 'a guess after the same',
  },
  {
    who: 'FastAPI, for every request',
    client: 'codex',
    reply: json(404, { detail: 'Not Found' }),
    source: 'its default',
  },
  {
    who: 'a 400 without a cause',
    client: 'codex',
    reply: error(400, 'Bad request'),
    source: 'a guess',
  },
].map(
  (row) => ({ ...row, isUnlisted: true, code: 'model-unknown', says: /unheard-of-9/ }) as CauseRow,
)
