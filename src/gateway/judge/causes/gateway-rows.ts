/** Failures of the gateway: of the service behind it, or of the gateway itself. */
import { anyOf, near, phrases, within } from './patterns.ts'
import { type CauseRow, github } from './row.ts'

/** The service behind the gateway rejects the gateway's own key, account or login. */
export const upstreamRows: readonly CauseRow[] = [
  {
    cause: 'upstream',
    codes: ['token_invalidated', 'token_revoked', 'refresh_token_reused', 'channel:invalid_key'],
    source: `${github}/router-for-me/CLIProxyAPI, ${github}/QuantumNous/new-api, 2026-11-24`,
  },
  {
    cause: 'upstream',
    codes: ['bad_response_status_code', 'auth_unavailable', 'channel:no_available_key'],
    statuses: [401, 403, 500, 502, 503],
    source: `${github}/router-for-me/CLIProxyAPI; https://doc.tokendog.io/zh/api-reference/guide/error-codes (2026-11-26)`,
  },
  {
    cause: 'upstream',
    codes: ['upstream_error'],
    statuses: [401],
    source: `${github}/QuantumNous/new-api, 2026-11-21`,
  },
  {
    cause: 'upstream',
    words: /\blitellm\.(?:authentication|permissiondenied)error\b/i,
    source: `${github}/BerriAI/litellm, 2026-11-24`,
  },
  {
    cause: 'upstream',
    words: anyOf(
      // The upstream account was rejected.
      near(
        String.raw`\b(?:upstream|(?:relay |channel |pool(?:ed)? )accounts?|channel(?= keys?)|vendor|(?:backend|model) provider)\b`,
        String.raw`\b(?:auth\w*|unauthori[sz]ed|credentials?|(?:api )?keys?|tokens?|rejected|denied|forbidden|accounts?|40[13])\b`,
        { before: 40, after: 60 },
      ),
      // The provider's key is wrong.
      String.raw`\b(?:provider|vendor|upstream|byok)(?:['’]s)? (?:api )?(?:keys?|credentials?|auth\w*)\b`,
      // The service answered with 401.
      String.raw`\b(?:returned|answered|responded with) 40[13]\b`,
      String.raw`\b40[13]\b${within(30)}\bfrom (?:the )?provider\b`,
      // All accounts are disabled.
      String.raw`\bchannels?\b${within(20)}\b(?:disabled|suspended|banned|expired)\b`,
      String.raw`\b(?:all|no available|no healthy) (?:\w+ )?accounts? (?:failed|are|is|have|were|limited|unhealthy)`,
    ),
    source: `${github}/Wei-Shaw/sub2api/issues/1178 (2026-03), ${github}/lbjlaq/Antigravity-Manager/issues/3051 (2026-04)`,
  },
  {
    cause: 'upstream',
    words: anyOf(
      // The OAuth token could not be refreshed.
      near(
        String.raw`\b(?:oauth|refresh)[ _]?token\b`,
        String.raw`\b(?:refresh(?:ed|ing)?\b(?! token)|expired|revoked|invalid\w*|failed|reused|not found)`,
        { before: 20, after: 40 },
      ),
      ...phrases`
        \bauth unavailable\b | \bno auth available\b
        \byour authentication token has been invalidated\b | \binvalid_grant\b
      `,
    ),
    source: `${github}/router-for-me/CLIProxyAPI, 2026-11-24`,
  },
  {
    cause: 'upstream',
    words: anyOf(
      // 上游密钥无效: the upstream key is invalid.
      near(
        '(?:上游|渠道|供应商|后端账号|号池)',
        '(?:密钥|key|令牌|账号|账户|认证|鉴权|授权|无效|禁用|拒绝|40[13])',
        { before: 8, after: 12 },
      ),
    ),
    source: `${github}/QuantumNous/new-api, 2026-11-24`,
  },
]

/** The gateway itself is broken, overloaded or under maintenance. */
export const gatewayRows: readonly CauseRow[] = [
  {
    cause: 'gateway',
    words: anyOf(
      // Database connection failed.
      near(
        String.raw`\b(?:database|db|redis|postgres\w*|mysql|mongo\w*|sqlite|sqlalchemy\S*|connection pool)\b`,
        String.raw`\b(?:not connected|connect\w*|errors?|failed|unavailable|down|timeout|locked|closed|operationalerror)\b`,
        { before: 0, after: 60 },
      ),
      // dial tcp: connection refused. Internal server error. Under maintenance.
      ...phrases`
        \bno connected db\b | \bconnection refused\b | \beconnrefused\b | \bdial tcp\b
        \bi\/o timeout\b | \bdeadline exceeded\b | \btimed out\b
        \binternal (?:server )?error\b | \b(?:unexpected|unknown) error\b
        \bsomething went wrong\b | \bmaintenance\b
        \b(?:could not|cannot|unable to|failed to) (?:reach|connect)\b | ^error code: 1033\b
        \b(?:service|server|system)\b.{0,30}\b(?:unavailable|busy|down|overloaded)\b
        \b(?:tunnel|endpoint)\b.{0,60}\boffline\b
      `,
    ),
    source: `${github}/BerriAI/litellm ("No connected db."), 2026-11-24`,
  },
  {
    cause: 'gateway',
    words: anyOf(
      // 维护: maintenance. 系统繁忙: the system is busy. 内部错误: internal error. 数据库: database.
      ...phrases`
        维护中? | 系统(?:繁忙|错误|异常) | 服务(?:器|内部)?(?:不可用|异常|暂停|错误|繁忙)
        内部错误 | 数据库
      `,
    ),
    source: 'seen at forged and real gateways, 2026-11-23 and 2026-11-24',
  },
]
