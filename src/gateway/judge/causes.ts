import type { HttpAnswer } from './answer.ts'
import type { ErrorBody } from './error-body.ts'

/** Who or what a rejection blames. */
export type Cause =
  | 'upstream'
  | 'gateway'
  | 'client'
  | 'region'
  | 'network'
  | 'content'
  | 'rate'
  | 'quota'
  | 'plan'
  | 'account'
  | 'model-unpriced'
  | 'model-not-allowed'
  | 'model-unknown'
  | 'provider-unknown'
  | 'protocol'
  | 'route'
  | 'key'

/** One way in which gateways name a cause. */
interface CauseRow {
  readonly cause: Cause
  /** Values of `code`, `type` or `reason`, in lower case. */
  readonly codes?: readonly string[]
  /**
   * What a sentence says. A code is read as a sentence too: `USER_INACTIVE` as "user inactive",
   * `InvalidSubscription` as "invalid subscription".
   */
  readonly words?: RegExp
  /** The row counts only with these statuses. */
  readonly statuses?: readonly number[]
  /** Where the row was seen, and when. */
  readonly source: string
}

const github = 'https://github.com'
const facts = 'seen at forged and real gateways, 2026-11-23 and 2026-11-24'

/** Programs that gateways reserve themselves for, and words for programs like them. */
const clientNames = String.raw`(?<![\w/.]|(?<!\bnon)-)(?:(?:claude|qwen|kimi|roo|kilo)[- _]?(?:code|cli)|codex(?:[- _]?cli)?|opencode|gemini[- _]?cli|cline|cursor|copilot|coding (?:agents?|tools?|assistants?)|(?:official|approved|supported|certain|specific|whitelisted) (?:cli|clients?|apps?|tools?))(?![-\w.]*(?: \w+)? ?models?\b)(?!-\w)`
const client = String.raw`\b(?:clients?|user[- ]?agents?|third[- ]party (?:\w+ )?(?:apps?|tools?|clients?|software|harness(?:es)?))\b(?! (?:errors?|ids?|secrets?|cert\w*|credentials?|ip|addresse?s?|tokens?|keys?|side|closed|network))`
const clientNamesZh = String.raw`(?:客户端|claude ?(?:code|cli)|codex|opencode|cli\b|编程工具|编码工具|coding ?(?:agent|tool))(?!.{0,6}模型)(?!-)`

/** Words for an account or what it belongs to. */
const holder = String.raw`\b(?:accounts?|users?(?: ?ids?)?|members?|organi[sz]ations?|workspaces?|teams?|tenants?|projects?|customers?|owners?|profiles?|subscribers?)\b`
const holderState = String.raw`\b(?:suspended|suspension|deactivated|disabled|banned|blocked|restricted|frozen|locked|closed|terminated|inactive|not (?:yet |currently )?(?:been )?(?:active|activated|verified|approved|enabled)|un-?verified|pending (?:review|approval|verification)|under review|on hold|delinquent|not in good standing|deleted|flagged)\b`
const holderZh = '(?:账号|账户|帐号|帐户|賬號|帳號|用户|用戶|组织|企业|团队|租户)'
const holderStateZh =
  '(?:封禁|封号|禁用|停用|冻结|凍結|锁定|注销|限制|异常|未激活|未绑定|未认证|未实名|未验证|审核|违规|停权)'

/** Words for a credential. */
const secret = String.raw`(?:(?:api|access|secret|bearer|auth\w*|security|subscription|virtual|id)[-_ ]?(?:keys?|tokens?)(?: ?ids?)?|apikeys?|x-api-key|secret ?ids?|credentials?|jwt|signature)`
const broken = String.raw`(?:invalid|incorrect|wrong|expired|revoked|disabled|deactivated|deleted|malformed|missing|no|bad|unknown|unrecogni[sz]ed|unregistered|leaked|compromised|mismatch(?:ed)?|blocked|not (?:valid|found|recogni[sz]ed|active|exist|provided|authori[sz]ed|registered|match)|does(?: not|n't) (?:exist|match)|required|rejected|could not (?:be )?(?:validate|verif)\w*|reported as leaked|flagged)`
const secretZh =
  '(?:令牌|密钥|密鑰|金鑰|钥匙|api ?key|apikey|access ?key|token|鉴权|认证|認證|身份验证|身份校验|凭证|凭据)'
const brokenZh =
  '(?:无效|無效|错误|錯誤|过期|失效|不正确|不合法|非法|禁用|停用|删除|吊销|不存在|失败|缺失|为空|未提供|未通过|有误)'

const model = String.raw`\bmodels?(?: (?:id|name|identifier|code))?\b[\s:"'\x60]{0,3}(?:[\w./:@-]{1,120})?["'\x60]?,?`
const notThisWay = String.raw`(?! (?:in|on|for|with|by|via|at|when) (?:the |this |an? )?(?:\/?v\d|end ?point|api|responses|chat|messages|tool|function|stream|protocol|image|route))`
const notTheseZh = '(?!.{0,10}(?:工具|参数|函数|流式|图片|图像|接口|协议|function|tool|stream|api))'

/**
 * How gateways name a cause, in English and Chinese, with the source of each. The first matching row
 * counts, and codes come before sentences. Sentences are patterns, because every gateway has its own: a
 * pattern contains what all known ones have in common.
 */
export const causeRows: readonly CauseRow[] = [
  // The gateway's own key, account or login at the service behind it.
  {
    cause: 'upstream',
    codes: ['token_invalidated', 'token_revoked', 'refresh_token_reused', 'channel:invalid_key'],
    source: `${github}/router-for-me/CLIProxyAPI, ${github}/QuantumNous/new-api, 2026-11-24`,
  },
  {
    cause: 'upstream',
    codes: ['bad_response_status_code', 'auth_unavailable'],
    statuses: [401, 403, 500, 502, 503],
    source: `${github}/router-for-me/CLIProxyAPI, ${github}/QuantumNous/new-api, 2026-11-24`,
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
    words:
      /\bupstream\b.{0,60}\b(?:auth\w*|unauthori[sz]ed|credentials?|(?:api )?keys?|tokens?|rejected|denied|forbidden|accounts?|40[13])\b|\b(?:auth\w*|keys?|tokens?|credentials?|accounts?)\b.{0,40}\bupstream\b/i,
    source: `${github}/Wei-Shaw/sub2api/issues/1178 (2026-03)`,
  },
  {
    cause: 'upstream',
    words:
      /\b(?:oauth|refresh)[ _]?token\b.{0,30}\b(?:refresh|expired|revoked|invalid\w*|failed|reused)|\bauth unavailable\b|\bno auth available\b|\byour authentication token has been invalidated\b/i,
    source: `${github}/router-for-me/CLIProxyAPI, 2026-11-24`,
  },
  {
    cause: 'upstream',
    words:
      /(?:上游|渠道|供应商).{0,12}(?:密钥|key|令牌|账号|账户|认证|鉴权|授权)|(?:密钥|key|令牌|账号|账户|认证|鉴权).{0,8}(?:上游|渠道)/i,
    source: `${github}/QuantumNous/new-api, 2026-11-24`,
  },

  // Only certain programs are accepted.
  {
    cause: 'client',
    codes: ['client_validation_error', 'client_platform_not_allowed', 'access_terminated_error'],
    source: `${github}/Wei-Shaw/claude-relay-service/issues/1088 (2026-03), ${github}/james-6-23/codex2api/pull/610 (2026-09)`,
  },
  {
    cause: 'client',
    words: /^error code: 1010\b/i,
    source:
      'https://developers.cloudflare.com/support/troubleshooting/http-status-codes/cloudflare-1xxx-errors/ (2026-11-23)',
  },
  {
    cause: 'client',
    words: new RegExp(`\\bonly\\b.{0,60}${clientNames}|${clientNames}.{0,30}\\bonly\\b`, 'i'),
    source: `${github}/Wei-Shaw/sub2api/issues/248 (2026-01), ${github}/anthropics/claude-code/issues/24690 (2026-02)`,
  },
  {
    cause: 'client',
    words: new RegExp(
      `${client}.{0,40}\\b(?:not (?:allowed|authori[sz]ed|supported|permitted|recogni[sz]ed|accepted)|unsupported|restrict\\w*|rejected|blocked|forbidden|prohibited|denied)\\b|\\b(?:unsupported|unauthori[sz]ed|unknown|unrecogni[sz]ed|disallowed|forbidden|unofficial|non-official|blocked)\\b.{0,15}${client}`,
      'i',
    ),
    source: `${github}/Wei-Shaw/claude-relay-service/issues/972 (2026-02); agentrouter, 2025-11`,
  },
  {
    cause: 'client',
    words: new RegExp(
      `\\b(?:invalid|non[- ]|not an? (?:valid |genuine |real )?) ?${clientNames}(?: \\w+)? (?:requests?|clients?)\\b|\\brestricted to\\b.{0,30}${clientNames}|${clientNames}.{0,20}\\brestricted\\b|\\buse (?:the |an? )?(?:official )?${clientNames}|${clientNames}.{0,20}\\brequired\\b`,
      'i',
    ),
    source: `${github}/leookun/cursor-byok/issues/131 (2026-11-24)`,
  },
  {
    cause: 'client',
    words: new RegExp(
      `(?:仅|只|限).{0,12}${clientNamesZh}|(?:非|第三方|未授权的?|不支持|不允许|禁止|拒绝|请使用).{0,10}${clientNamesZh}|${clientNamesZh}.{0,8}(?:受限|不被允许|不允许|被禁止|被拒绝|专用|专属)`,
      'i',
    ),
    source: facts,
  },

  // The country.
  {
    cause: 'region',
    codes: ['unsupported_country_region_territory', 'unsupported_location', 'region_not_supported'],
    source: `${github}/continuedev/continue/issues/11449 (2026-03)`,
  },
  {
    cause: 'region',
    words: /^error code: 1009\b|^request not allowed\.?$/i,
    source: `${github}/anthropics/claude-code/issues/1613 (2025-06)`,
  },
  {
    cause: 'region',
    words:
      /\b(?:country|countries|region|territory|location|jurisdiction|geograph\w+|(?:your|this) area)\b.{0,40}\b(?:not (?:supported|available|allowed|served|permitted|eligible)|unsupported|unavailable|restricted|blocked|denied|prohibited|embargoed)\b/i,
    source: 'https://ai.google.dev/gemini-api/docs/troubleshooting (2026-11-23)',
  },
  {
    cause: 'region',
    words:
      /\b(?:not (?:supported|available|allowed|served|permitted|offered)|unsupported|unavailable|restricted|blocked|denied|prohibited)\b.{0,40}\b(?:country|countries|territory|jurisdiction|(?:in|from) (?:this|your) (?:area|region|location)|geograph\w+)\b|\bunsupported region\b|\bgeo[- ]?(?:\w+ )?(?:block|restrict|fenc|den)\w*/i,
    source: `${github}/anthropics/claude-code/issues/1613 (2025-06)`,
  },
  {
    cause: 'region',
    words:
      /(?:地区|国家|区域|所在地|地域|地區|國家).{0,12}(?:不支持|不支援|不可用|无法|受限|限制|禁止|不在|未开放|暂不)|(?:不支持|禁止|限制|未对).{0,10}(?:地区|国家|区域|地域)/,
    source: facts,
  },

  // The IP address of the request.
  {
    cause: 'network',
    words: /^error code: 100[678]\b|\bnetwork settings\b|\bvpn\b/i,
    source:
      'https://developers.cloudflare.com/support/troubleshooting/http-status-codes/cloudflare-1xxx-errors/ (2026-11-23); Groq, 2025',
  },
  {
    cause: 'network',
    words:
      /(?:\b(?:ips?|ip address(?:es)?)\b|\b(?<!e-?mail )address\b).{0,60}\b(?:not (?:on|in|allowed|authori[sz]ed|permitted|whitelisted|allowlisted)|blocked|denied|forbidden|banned|restricted|rejected|allow-? ?list|white-? ?list)/i,
    source: 'https://developers.openai.com/api/docs/guides/error-codes (2026-11-24)',
  },
  {
    cause: 'network',
    words: /\b(?:unauthori[sz]ed|disallowed|blocked|forbidden|invalid) (?:source )?ip\b/i,
    source: 'https://developers.openai.com/api/docs/guides/error-codes (2026-11-24)',
  },
  {
    cause: 'network',
    words:
      /\bip\b.{0,20}(?:不在|白名单|白名單|禁止|限制|不允许|封禁|拦截|未授权)|(?:网络|来源).{0,10}(?:受限|不允许|限制|拦截)|ip ?白名单/i,
    source: `${github}/QuantumNous/new-api/issues/6752 (2026-08)`,
  },

  // Too many requests. Before the quota, because both are called a limit.
  {
    cause: 'rate',
    codes: ['rate_limit_exceeded', 'too_many_requests', 'throttlingexception', 'slow_down'],
    source: 'https://developers.openai.com/api/docs/guides/error-codes (2026-11-24)',
  },
  {
    cause: 'rate',
    codes: ['1002', '1302', '1303', '1305'],
    statuses: [0, 200, 429],
    source:
      'https://docs.z.ai/api-reference/api-code, https://platform.minimax.io/docs/api-reference/errorcode.md (2026-11-24)',
  },
  {
    cause: 'rate',
    words:
      /\brate[- ]?limit\w*\b(?!\w* error)|\btoo many requests\b|\bthrottl\w+|\brate exceeded\b|\b(?:requests?|tokens?) per (?:second|minute|hour|day)\b|\b(?:rpm|tpm|qps)\b|\bretry (?:again )?(?:in|after) \d|\bconcurren\w+ (?:requests? )?(?:limit|exceeded)/i,
    source: 'https://developers.openai.com/api/docs/guides/error-codes (2026-11-24)',
  },
  {
    cause: 'rate',
    words:
      /频繁|频率|限流|限速|速率|并发.{0,8}(?:上限|限制|超|过)|(?:请求|访问|调用).{0,4}(?:过快|过多|次数.{0,4}上限)/,
    source: 'https://docs.z.ai/api-reference/api-code (2026-11-24)',
  },

  // A content filter rejected the request.
  {
    cause: 'content',
    words:
      /\bmoderation\b|\bwas flagged\b|\bcontent (?:policy|filter)\b|\bno credits were charged\b/i,
    source: 'https://openrouter.ai/docs/api-reference/errors (2026-11-23)',
  },
  {
    cause: 'content',
    words: /敏感(?:内容|词|信息)|内容.{0,6}(?:审核|违规|不合规)|测试内容/,
    source: 'https://docs.z.ai/api-reference/api-code (2026-11-24)',
  },

  // A subscription that has ended or does not cover the request.
  {
    cause: 'plan',
    codes: ['1308', '1309', '1310', '1316', '1317'],
    statuses: [0, 200, 400, 403, 429],
    source: `https://docs.z.ai/api-reference/api-code; ${github}/openclaw/openclaw/issues/33785 (2026-03)`,
  },
  {
    cause: 'plan',
    codes: ['2056', '2062'],
    source: 'https://platform.minimax.io/docs/api-reference/errorcode.md (2026-11-24)',
  },
  {
    cause: 'model-not-allowed',
    codes: ['1311', 'model_not_available', 'unsupportedmodel'],
    source: `${github}/farion1231/cc-switch/issues/1386 (2026); https://docs.zenmux.ai/guide/advanced/error-codes.html, https://www.volcengine.com/docs/82379/1299023 (2026-11-24)`,
  },
  {
    cause: 'model-not-allowed',
    words:
      /\b(?:plan|subscription|tier)\b.{0,80}\bmodels?\b(?!\w)|\bmodels?\b.{0,80}\b(?:plan|subscription|tier)\b|(?:套餐|订阅).{0,30}模型|模型.{0,30}(?:套餐|订阅)/i,
    source: 'https://docs.zenmux.ai/guide/advanced/error-codes.html (2026-11-24)',
  },
  {
    cause: 'plan',
    words:
      /\b(?:plan|subscription(?! keys?)|package|membership|trial|free[- ]tier|free allowance)\b.{0,50}\b(?:expired|ended|inactive|not (?:active|included?|support\w*|cover\w*|allow\w*|valid|found)|does(?: not|n't) (?:include|support|cover|allow)|required|exhausted|lapsed|cancell?ed|invalid|missing|only|used up|limit)\b/i,
    source: 'Ark `InvalidSubscription`, DashScope `FreeTierOnly`, 2026-11-24',
  },
  {
    cause: 'plan',
    words:
      /\b(?:no|without|invalid|expired|inactive|requires?|need|purchase|renew)\b.{0,30}\b(?:plan|subscription(?! keys?)|membership)\b|\b(?:please |must )?upgrade (?:to|your)\b|\busage limit\b.{0,40}\bplan\b|\bunpurchased\b/i,
    source: 'https://platform.minimax.io/docs/api-reference/errorcode.md (2026-11-24)',
  },
  {
    cause: 'plan',
    words:
      /(?:套餐|订阅|訂閱|会员|资源包|流量包|体验包).{0,20}(?:到期|过期|失效|未|不支持|不包含|不可|无|用完|耗尽|不足|升级|购买|续费|开通)|(?:未|请|没有|无).{0,6}(?:订阅|购买|开通|续费|升级).{0,10}(?:套餐|会员|计划|plan)/i,
    source: 'https://docs.z.ai/api-reference/api-code (2026-11-24)',
  },

  // The balance is zero.
  {
    cause: 'quota',
    codes: [
      ...['insufficient_user_quota', 'insufficient_quota', 'pre_consume_token_quota_failed'],
      ...['insufficient_balance', 'insufficient_credits', 'insufficient_credit'],
      ...['billing_hard_limit_reached', 'billing_not_active', 'billing_error'],
      ...['exceeded_current_quota_error', 'budget_exceeded', 'payment_required', 'arrearage'],
      ...['credit_balance_exhausted', 'organization_spend_limit_exceeded'],
      ...['project_spend_limit_exceeded', 'organization_usage_limit_exceeded'],
      ...['reject_no_credit', 'quote_exceeded', 'accountoverdueerror'],
    ],
    source:
      'https://developers.openai.com/api/docs/guides/error-codes, https://docs.zenmux.ai/guide/advanced/error-codes.html (2026-11-24)',
  },
  {
    cause: 'quota',
    codes: ['creditserror'],
    source: `${github}/anomalyco/opencode/issues/37161 (2026-07)`,
  },
  {
    cause: 'quota',
    codes: ['1113', '1008'],
    source:
      'https://docs.z.ai/api-reference/api-code, https://platform.minimax.io/docs/api-reference/errorcode.md (2026-11-24)',
  },
  {
    cause: 'quota',
    words: /\btokenstatusexhausted\b|令牌额度已用尽/i,
    source: `${github}/QuantumNous/new-api/blob/main/model/token.go (2026-11-23)`,
  },
  {
    cause: 'quota',
    words:
      /\b(?:insufficient|low|not enough|no|negative|exhausted|overdue|out of|depleted|run out of)\b.{0,30}\b(?:balance|credits?|funds|quota|allowance)\b|\b(?:balance|credits?|funds|quota|allowance|budget|spend(?:ing)? limit|key limit|usage limit)\b.{0,40}\b(?:insufficient|low|not enough|exhausted|exceeded|depleted|used up|overdue|reached|negative)\b|\bexceeded\b.{0,30}\b(?:quota|budget|spend(?:ing)? limit)\b|\b(?:overdue|arrears)\b/i,
    source: `${github}/MCPJam/inspector/issues/1287 (2026-01), ${github}/infiniflow/ragflow/issues/1048 (2024-06)`,
  },
  {
    cause: 'quota',
    words: /[$＄¥￥€]\s?-?\d|quota|balance|credit/iu,
    statuses: [402, 403],
    source: `${github}/QuantumNous/new-api, 2026-11-21`,
  },
  {
    cause: 'quota',
    words: /(?:额度|余额|餘額|配额|积分|费用).{0,12}(?:不足|用尽|用完|耗尽|超|已达|上限)|欠费|充值/,
    source: 'https://docs.z.ai/api-reference/api-code (2026-11-24)',
  },
  {
    cause: 'quota',
    words: /额度|余额|配额/,
    statuses: [402, 403],
    source: `${github}/QuantumNous/new-api, 2026-11-21`,
  },

  // The key is valid, but not for this request.
  {
    cause: 'route',
    words:
      /\bmissing scopes?\b|\bnot allowed to call this route\b|\bpermission is required to access this endpoint\b/i,
    statuses: [401, 403],
    source: 'restricted keys of OpenAI, LiteLLM and GitHub, 2026-11-22',
  },

  // The account behind the key.
  {
    cause: 'account',
    codes: ['account_deactivated', 'user_inactive', 'account_disabled', 'account_suspended'],
    source: `${github}/songquanpeng/one-api/issues/271 (2023-07), ${github}/Wei-Shaw/sub2api, 2026-11-24`,
  },
  {
    cause: 'account',
    codes: ['1110', '1111', '1112', '1121'],
    statuses: [401, 403, 429],
    source: 'https://docs.z.ai/api-reference/api-code (2026-11-24)',
  },
  {
    cause: 'account',
    words: new RegExp(
      `${holder}(?:(?!\\b(?:keys?|tokens?|models?)\\b|[.,;]).){0,60}?${holderState}|${holderState}(?: \\w+)? ${holder}(?! keys?| tokens?)|${holder} (?:associated|linked|connected|behind|owning|for)\\b.{0,60}${holderState}`,
      'i',
    ),
    source: `${github}/anthropics/claude-code/issues/19028 (2026-01), ${github}/gpustack/gpustack/issues/3262 (2025-11), ${github}/chaogei/Kiro-account-manager/issues/82 (2026-05)`,
  },
  {
    cause: 'account',
    words:
      /\b(?:must be|not been) verified\b|\b(?:verify|confirm|complete|bind|link) your (?:[\w-]+ ){0,3}(?:e-?mail|phone|identity|accounts?|organi[sz]ation|registration|profile)\b|\b(?:accept|agree to)\b.{0,20}\b(?:terms|agreement|licen[cs]e|eula)\b|\bunusual (?:\w+ )?activity\b/i,
    source: `${github}/langflow-ai/openrag/issues/257 (2025-10); ModelScope, 2026-11-24`,
  },
  {
    cause: 'account',
    words: new RegExp(
      `${holderZh}.{0,20}${holderStateZh}|实名|绑定.{0,8}(?:手机|邮箱|账号|账户|阿里云)`,
    ),
    source: `${github}/QuantumNous/new-api, 2026-11-21`,
  },

  // The model.
  {
    cause: 'model-unpriced',
    codes: ['model_price_error'],
    source: `${github}/QuantumNous/new-api, 2026-11-21`,
  },
  {
    cause: 'model-not-allowed',
    codes: [
      ...['model_not_allowed', 'key_model_access_denied', 'team_model_access_denied'],
      ...['user_model_access_denied', 'org_model_access_denied', 'project_model_access_denied'],
      ...['accessdenied.model', 'model_access_denied'],
    ],
    source: `${github}/BerriAI/litellm, 2026-11-22`,
  },
  {
    cause: 'model-unknown',
    codes: [
      ...['model_not_found', 'unknown_model', 'invalid_model', 'model_not_supported'],
      ...['modelnotfound', 'modelnotopen', 'invalidendpointormodel.notfound'],
      ...['deploymentnotfound', 'endpoint_not_found', 'resource_does_not_exist', '1211'],
    ],
    source:
      'https://www.volcengine.com/docs/82379/1299023, https://docs.databricks.com/aws/en/machine-learning/model-serving/, https://docs.z.ai/api-reference/api-code (2026-11-24)',
  },
  {
    cause: 'model-unknown',
    codes: ['modelerror'],
    source: `${github}/leookun/cursor-byok/issues/94 (2026-07)`,
  },
  {
    cause: 'model-not-allowed',
    words:
      /\b(?:not (?:authori[sz]ed|allowed|permitted|entitled|granted|enabled)|no (?:access|permission)|don't have (?:access|permission)|not have (?:access|permission)|denied|forbidden|may not use|cannot (?:use|access)|unauthori[sz]ed)\b.{0,40}\bmodels?\b/i,
    statuses: [0, 200, 400, 401, 403, 404],
    source: `${github}/anthropics/claude-code/issues/536 (2025-03), ${github}/continuedev/continue/issues/10120 (2026-02)`,
  },
  {
    cause: 'model-not-allowed',
    words:
      /\baccess to (?:the|this) (?:requested )?model\b|\bmodels?\b.{0,40}\b(?:access (?:denied|not)|not (?:allowed|enabled|permitted|activated|open(?:ed)?)|restricted|disabled|forbidden|requires? (?:access|approval))\b|\bnot found for account\b|\b(?:data|publication) policy\b/i,
    statuses: [0, 200, 400, 401, 403, 404],
    source: `${github}/Alishahryar1/free-claude-code/issues/1021 (2026-07), ${github}/dnakov/anon-kode/issues/13 (2025-03)`,
  },
  {
    cause: 'model-not-allowed',
    words:
      /(?:无权|没有权限|未授权|未开通|未开放|禁止|不允许|无法).{0,10}模型|模型.{0,40}(?:无权|未开通|未授权|未开放|没有权限|权限不足|禁用)/,
    statuses: [0, 200, 400, 401, 403, 404],
    source: `${github}/QuantumNous/new-api; https://docs.siliconflow.cn/en/faqs/error-code (2026-11-23)`,
  },
  {
    cause: 'model-unknown',
    words: new RegExp(
      `\\b(?:unknown|unsupported|invalid|unrecogni[sz]ed|non-?existent|no such|unavailable)(?: or \\w+)? model\\b(?! (?:parameter|config\\w*|settings?))|${model} (?:is |was |does |could |has |identifier is )?(?:currently |been |longer )?(?:not (?:be )?(?:found|exist\\b|available|deployed|loaded|recogni[sz]ed|valid|served|supported${notThisWay})|doesn't exist|unknown|unsupported|unavailable|invalid|no longer|deprecated|retired|removed)|\\bmodel not (?:found|exist\\b)|\\bnot found the model\\b`,
      'i',
    ),
    source: `${github}/anyme123/Any-code/issues/1 (2025-07), ${github}/iOfficeAI/AionCore/pull/377 (2026-06)`,
  },
  {
    cause: 'model-unknown',
    words:
      /\bno (?:\w+ ){0,3}(?:routes?|channels?|providers?|deployments?|backends?|endpoints?|instances?|servers?|replicas?|workers?|distributors?)\b.{0,40}\bmodel\b|\b(?:unknown|invalid) provider for\b|\b(?:could not|failed to|cannot|unable to) (?:load|find|resolve|locate) (?:the )?model\b|\bno (?:active )?credentials for provider\b/i,
    source: `9router, 2026-11-22; LocalAI, CLIProxyAPI, Envoy and Cloudflare, 2026-11-24`,
  },
  {
    cause: 'model-unknown',
    words: new RegExp(
      `模型.{0,30}(?:不存在|未找到|找不到|无效|未知|已下线|未部署|无可用渠道|没有可用|不支持${notTheseZh})|(?:不存在|未知|无效|不支持|找不到|没有).{0,6}模型`,
    ),
    source: `${github}/QuantumNous/new-api, 2026-11-21; https://docs.z.ai/api-reference/api-code (2026-11-24)`,
  },

  {
    cause: 'provider-unknown',
    words: /\b(?:unknown|invalid) provider\b/i,
    source: 'Cloudflare AI Gateway, code 2008, 2026-11-24',
  },

  // New API, for a model whose channel does not speak the protocol.
  {
    cause: 'protocol',
    codes: ['convert_request_failed'],
    source: `${github}/QuantumNous/new-api, 2026-11-21`,
  },

  // The gateway itself.
  {
    cause: 'gateway',
    words:
      /\b(?:database|db|redis|postgres\w*|mysql|mongo\w*|sqlite|sqlalchemy\S*|connection pool)\b.{0,60}\b(?:not connected|(?:could not |cannot |failed to )?connect\w*|errors?|failed|unavailable|down|timeout|locked|closed|operationalerror)\b|\bno connected db\b|\bconnection refused\b|\beconnrefused\b|\bdial tcp\b|\bi\/o timeout\b|\binternal (?:server )?error\b|\bunder maintenance\b|^error code: 1033\b|\b(?:tunnel|endpoint)\b.{0,60}\boffline\b/i,
    source: `${github}/BerriAI/litellm ("No connected db."), 2026-11-24`,
  },
  {
    cause: 'gateway',
    words: /维护中?|系统(?:繁忙|错误|异常)|服务(?:不可用|异常|暂停)|内部错误|数据库/,
    source: facts,
  },

  // The key.
  {
    cause: 'key',
    codes: [
      ...['invalid_api_key', 'invalid_token', 'token_not_found_in_db', 'expired_key'],
      ...['api_key_invalid', 'api_key_expired', 'api_key_revoked', 'bad_token', 'expired_token'],
      ...['unrecognizedclientexception', 'invalidclienttokenid', 'incorrect_api_key'],
    ],
    source:
      'https://developers.openai.com/api/docs/guides/error-codes, https://ai.google.dev/gemini-api/docs/troubleshooting (2026-11-23)',
  },
  {
    cause: 'key',
    codes: ['1000', '1001', '1002', '1003', '1004', '2049'],
    statuses: [0, 200, 401],
    source:
      'https://docs.z.ai/api-reference/api-code, https://platform.minimax.io/docs/api-reference/errorcode.md (2026-11-24)',
  },
  {
    cause: 'key',
    words: new RegExp(
      `\\b${broken}\\b(?:\\W+\\w+){0,4}?\\W+${secret}\\b|\\b${secret}\\b(?:\\W+\\w+){0,8}?\\W+${broken}\\b`,
      'i',
    ),
    source: `${github}/hotovo/aider-desk/issues/653 (2026-02) and nearly everybody`,
  },
  {
    cause: 'key',
    words:
      /^(?:your )?(?:invalid|expired|bad|wrong|unknown|revoked) (?:token|key)\b|\bauthentication (?:failed|failure|error|required|fails)\b|\b(?:request denied by )?key auth check\b|\btoken (?:is |has |was )?(?:been )?(?:invalid|expired|revoked|not valid|incorrect|not found)\b/i,
    source: `${github}/deepwn/addi/issues/13 (2026-03); Higress, 2026-11-24`,
  },
  {
    cause: 'key',
    words: new RegExp(
      `${secretZh}.{0,12}${brokenZh}|${brokenZh}(?:的)?.{0,4}${secretZh}|未(?:登录|授权|认证)|没有登录`,
      'i',
    ),
    source: `${github}/QuantumNous/new-api, 2026-11-21`,
  },
  {
    cause: 'key',
    words:
      /\b(?:keys?|tokens?|apikey|credentials?|authenticat\w+|unauthenticated|authori[sz]ation|unauthori[sz]ed|not authori[sz]ed|bearer|log ?in|logged in|sign ?in|access denied|user not found|no (?:cookie )?auth\w*)\b|^forbidden\b/i,
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

/** Codes that many failures share. They count only if no row matches the sentence next to them. */
const commonCodes: readonly Required<Pick<CauseRow, 'cause' | 'codes'>>[] = [
  { cause: 'rate', codes: ['rate_limit_error', 'resource_exhausted', 'rate_limit', 'throttled'] },
  {
    cause: 'key',
    codes: [
      ...['authentication_error', 'auth_error', 'invalid_authentication_error', 'autherror'],
      ...['unauthenticated', 'unauthorized', 'authenticationerror'],
    ],
  },
]

/** The causes that match the codes and words of a rejection, most likely first. */
export function causesOf(error: ErrorBody, status: number): readonly Cause[] {
  const { codes, codeWords, words } = error
  const isShared = (code: string) => commonCodes.some((row) => row.codes.includes(code))
  const sentences = [...codeWords.filter((_, index) => !isShared(codes[index]!)), words]
  const rows = causeRows.filter(({ statuses }) => statuses?.includes(status) ?? true)

  const named = rows.filter((row) => row.codes?.some((code) => codes.includes(code)))
  const said = rows.filter((row) => sentences.some((sentence) => row.words?.test(sentence)))
  const shared = commonCodes.filter((row) => row.codes.some((code) => codes.includes(code)))
  return [...new Set([...named, ...said, ...shared].map(({ cause }) => cause))]
}

/** Sentences that name a required header. A group captures the header. */
const headerSentences: readonly RegExp[] = [
  /["'`]?\b(x-[\w-]+|\w+(?:-\w+)+)["'`]? (?:(?:request |http )?header )?(?:is |was |must be )?(?:required|missing|not (?:provided|set|found|present|sent)|mandatory|absent)\b/i,
  /\b(?:missing|requires?|provide|include|set|send|specify|expected|contain|absent|add|need)\b(?: (?:the|an?|your))?(?: (?:valid|required|mandatory))?(?: (?:request|http|custom))?(?: headers?)?:? ?["'`]?\b(x-[\w-]+|\w+(?:-\w+)+)\b["'`]?(?: (?:request |http )?header)?(?=$|\W)/i,
  /\bheaders? ["'`]?(x-[\w-]+|\w+(?:-\w+)+)["'`]? (?:must|is|was|has|should|needs|not)\b/i,
  /(?:缺少|缺失|必须|需要|未提供|请提供|请携带|请求头)[^\w]{0,10}(?:header|请求头)?[^\w]{0,4}["'`]?(x-[\w-]+|\w+(?:-\w+)+)/i,
]

/** Required headers that the sentence does not name. */
const unnamedHeaders: readonly {
  readonly words?: RegExp
  readonly codes?: readonly string[]
  readonly header: string
  readonly source: string
}[] = [
  {
    words: /^no api key found in request\b/i,
    header: 'apikey',
    source: 'https://developer.konghq.com/plugins/key-auth/ (2026-11-23)',
  },
  {
    words: /\bmissing subscription key\b/i,
    header: 'ocp-apim-subscription-key',
    source: `${github}/continuedev/continue/issues/4601 (2025-03)`,
  },
  {
    codes: ['2009'],
    header: 'cf-aig-authorization',
    source:
      'https://developers.cloudflare.com/ai-gateway/configuration/authentication/ (2026-11-24)',
  },
]

/** Headers that contain a key, and headers that repoint sends with every request. */
const ownHeaders =
  /^(?:x-api-key|api-key|x-goog-api-key|content-\w+|accept(?:-\w+)?|user-agent|set-\w+)$/

/** Words with a hyphen that are not headers, unless a word next to them calls them one. */
const noHeader =
  /^(?:(?:re|non|pre|multi|sub|up|opt|e|third|end|real|long|short|pay|top|old|new|api|end|sign|log|gpt|claude|per)-.*|.*-(?:only|in|up|out|based|level|specific|authentication))$/i

/** The header that a rejection asks for, in lower case. */
export function wantedHeader(error: ErrorBody, body: string): string | undefined {
  const { words, codes } = error
  const unnamed = unnamedHeaders.find(
    (row) => row.words?.test(words) || row.codes?.some((code) => codes.includes(code)),
  )
  if (unnamed !== undefined) return unnamed.header

  // FastAPI names the place of what is missing.
  const placed = /"loc"\s*:\s*\[\s*"header"\s*,\s*"([\w-]{1,60})"/.exec(body)?.[1]
  const [named] = headerSentences.flatMap((pattern) => pattern.exec(words)?.[1] ?? [])
  const header = (placed ?? named)?.toLowerCase()
  if (header === undefined || ownHeaders.test(header)) return undefined

  const isCalledHeader = placed !== undefined || /header|请求头/i.test(words)
  return isCalledHeader || (/^(?:x|cf)-/.test(header) && !noHeader.test(header))
    ? header
    : undefined
}

/** Pages and headers of firewalls and web servers that reject a request before the gateway sees it. */
const firewalls: readonly {
  readonly body?: RegExp
  readonly header?: readonly [name: string, value: RegExp]
  readonly statuses: readonly number[]
  readonly source: string
}[] = [
  {
    body: /<center>(?:nginx|openresty|tengine|apisix|kong)\b|<h1>Forbidden<\/h1>\s*<p>You don't have permission/i,
    statuses: [403],
    source: 'the default pages of nginx, OpenResty, Tengine and Apache httpd, 2026-11-24',
  },
  {
    header: ['x-amzn-waf-action', /./],
    statuses: [202, 403, 405],
    source:
      'https://docs.aws.amazon.com/waf/latest/developerguide/waf-captcha-and-challenge.html (2026-11-24)',
  },
  {
    body: /Request blocked\.|The request could not be satisfied|generated by cloudfront/i,
    statuses: [403],
    source: 'AWS CloudFront with AWS WAF, 2026-11-24',
  },
  {
    header: ['server', /^AkamaiGHost/i],
    statuses: [403],
    source: 'Akamai, 2026-11-24',
  },
  {
    header: ['x-iinfo', /./],
    statuses: [403, 405, 406],
    source: 'Imperva, 2026-11-24',
  },
  {
    body: /errors\.edgesuite\.net|Incapsula|Sucuri|Mod_Security|\bWAF\b|web application firewall|The request is blocked|requested URL was rejected|Web Page Blocked|Attack ID|访问被阻断|访问被拦截|安全威胁|防火墙|网站防护/i,
    statuses: [400, 403, 405, 406, 418, 493, 501],
    source: `${github}/anomalyco/opencode/issues/41320 (2026-08); Akamai, Imperva, Sucuri, ModSecurity, Azure, F5, FortiGate, Aliyun and Tencent, 2026-11-24`,
  },
]

/** How much of a page is searched, in characters. */
const maxPageSearched = 20_000

/** Whether something in front of the gateway rejected the request. */
export function isFirewall({ status, headers, body }: HttpAnswer): boolean {
  const start = body.slice(0, maxPageSearched)
  return firewalls.some(
    ({ statuses, header, body: words }) =>
      statuses.includes(status) &&
      (words === undefined || (/^\s*</.test(start) && words.test(start))) &&
      (header === undefined || header[1].test(headers[header[0]] ?? '')),
  )
}

/** Whether a tunnel answered because the gateway behind it is not connected. */
export function isTunnelClosed({ body }: HttpAnswer): boolean {
  return /\bERR_NGROK_\d+\b|cloudflare tunnel error|\bargotunnel\b/i.test(
    body.slice(0, maxPageSearched),
  )
}
