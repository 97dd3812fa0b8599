/** Rejections by a limit: too many requests, the account's data policy, a content filter. */
import { anyOf, near, phrases } from './patterns.ts'
import { type CauseRow, noStatus } from './row.ts'

/** Too many requests. */
const rateRows: readonly CauseRow[] = [
  {
    cause: 'rate',
    codes: ['rate_limit_exceeded', 'too_many_requests', 'throttlingexception', 'slow_down'],
    source: 'https://developers.openai.com/api/docs/guides/error-codes (2026-11-24)',
  },
  {
    cause: 'rate',
    codes: ['1002', '1302', '1303', '1305'],
    statuses: [noStatus, 429],
    source:
      'https://docs.z.ai/api-reference/api-code, https://platform.minimax.io/docs/api-reference/errorcode.md (2026-11-24)',
  },
  {
    cause: 'rate',
    words: anyOf(
      // Rate limit reached. Too many requests. 60 requests per minute. RPM limit.
      ...phrases`
        \brate[- ]?limit\w*\b(?!\w* error)
        \btoo many (?:\w+ )?(?:requests|connections|sessions)\b
        \bthrottl\w+ | \brate exceeded\b
        \b(?:requests?|tokens?) per (?:second|minute|hour|day)\b
        \b(?:[rt]p[smhd]|ipm|q(?:ps|pm))\b
      `,
      // Another request is already running.
      near(
        String.raw`\b(?:requests?|calls?|generations?|jobs?|streams?|sessions?)\b`,
        String.raw`\b(?:already (?:running|open|active|in progress)|in flight|in parallel|at once|at a time|at the same time|simultaneous\w*)\b`,
        { after: 30 },
      ),
      // Retry after 5 seconds. You send requests too quickly.
      ...phrases`
        \brequests? limit\b | \bretry (?:again )?(?:in|after) \d
        \bengine is currently overloaded\b | \btoo (?:quickly|fast|frequently)\b
      `,
      // The concurrency limit is reached.
      near(
        String.raw`\bconcurren\w+\b`,
        String.raw`\b(?:limit\w*|exceed\w*|too (?:many|high)|reached)\b`,
      ),
    ),
    source:
      'https://developers.openai.com/api/docs/guides/error-codes (2026-11-24); https://cloud.baidu.com/doc (2026-11-26)',
  },
  {
    cause: 'rate',
    words: anyOf(
      // 频繁: frequent. 限流: throttled. 每分钟: per minute. 并发: concurrency. 请求过快: requests too fast.
      ...phrases`
        频繁 | 频率 | 频次 | 流控 | 每(?:秒|分钟|小时).{0,8}(?:限制|上限|次) | 限流 | 限速 | 速率
        (?:并发|同时).{0,10}(?:上限|限制|超|过)
        (?:请求|访问|调用).{0,4}(?:过快|过多|太快|太多|太密集|过密|超限|速度|超过|次数.{0,4}上限)
      `,
    ),
    source: 'https://docs.z.ai/api-reference/api-code (2026-11-24)',
  },
]

/** The account's data policy rules out the model. "Policy" alone would be a content filter. */
const dataPolicyRows: readonly CauseRow[] = [
  {
    cause: 'model-not-allowed',
    words:
      /\bno (?:allowed )?(?:end ?points?|providers?)\b.{0,60}\bpolicy\b|\b(?:data|publication) policy\b/i,
    source: 'https://openrouter.ai/docs/features/privacy-and-logging (2026-11-26)',
  },
]

/** A content filter rejected the request. */
const contentRows: readonly CauseRow[] = [
  {
    cause: 'content',
    codes: ['1026', '1027'],
    statuses: [noStatus],
    source: 'https://platform.minimax.io/docs/api-reference/errorcode.md (2026-11-24)',
  },
  {
    cause: 'content',
    codes: ['content_filter', 'datainspectionfailed', 'sensitive_words_detected', 'prompt_blocked'],
    source:
      'https://platform.kimi.com/docs/api/errors, https://doc.tokendog.io/zh/api-reference/guide/error-codes (2026-11-26)',
  },
  {
    cause: 'content',
    words: anyOf(
      // Rejected by the content policy. Prompt injection detected. The safety system blocked it. OpenRouter's
      // moderation ends with "No credits were charged", so credits do not mean the quota there.
      ...phrases`
        \bmoderation\b
        \bcontent (?:policy|filter\w*|classif\w+|management|safety|inspection|moderation)\b
        \bno credits were charged\b | \bguard(?:rails?| models?)\b
        \bprompt injections?\b | \bjailbreak\w*
        \bsafety (?:checks?|systems?|polic\w+|filters?|settings?|classif\w+|rules?|guard\w*)\b
      `,
      // Inappropriate content. It violates our usage policies.
      ...phrases`
        \b(?:inappropriate|unsafe|harmful) content\b
        \bsens?i?tive (?:words?|content|information)\b | \bmay contain sens?i?tive\b
        \bconsidered high risk\b | \bviolat\w+ .{0,20}\bpolic(?:y|ies)\b
      `,
      // Your prompt was flagged.
      near(
        String.raw`\b(?:input|prompt|content|request|message)\b`,
        String.raw`\b(?:flagged|(?:blocked|rejected|refused) for (?:safety|content|policy))\b`,
      ),
    ),
    source:
      'https://openrouter.ai/docs/api-reference/errors (2026-11-23); https://support.huaweicloud.com/intl/en-us/usermanual-maas-modelarts/maas-modelarts-0080.html (2026-11-26)',
  },
  {
    cause: 'content',
    words: anyOf(
      // 敏感内容: sensitive content. 违规内容: content against the rules. 不安全: unsafe.
      ...phrases`
        敏感(?:内容|词|信息) | (?:违规|不当|违法|有害)(?:的)?(?:内容|信息)
        内容.{0,6}(?:审核|违规|不合规|安全|风控|拦截) | 测试内容 | 不安全
      `,
    ),
    source: 'https://docs.z.ai/api-reference/api-code (2026-11-24)',
  },
]

export const limitRows = [...rateRows, ...dataPolicyRows, ...contentRows]
