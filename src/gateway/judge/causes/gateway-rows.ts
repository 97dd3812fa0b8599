/** The gateway itself is broken, overloaded or under maintenance. */
import { anyOf, near, phrases } from './patterns.ts'
import { type CauseRow, github } from './row.ts'

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
