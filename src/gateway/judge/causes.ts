import type { Cause } from './answer.ts'
import type { ErrorBody } from './error-body.ts'
import { causeOfSubject } from './subjects.ts'
import {
  anyModel,
  anyOf,
  bareSecret,
  broken,
  client,
  clientName,
  consumed,
  country,
  denied,
  goneModel,
  held,
  holder,
  lapsed,
  money,
  near,
  network,
  plan,
  refused,
  secret,
  usedUp,
  within,
  zh,
} from './vocabulary.ts'

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
const notTheseZh = '(?!.{0,10}(?:工具|参数|函数|流式|图片|图像|接口|协议|function|tool|stream|api))'
const facts = 'seen at forged and real gateways, 2026-11-23 and 2026-11-24'
const forged = 'forged rejections, 2026-11-26'

/**
 * How gateways name a cause, in English and Chinese, with the source of each.
 *
 * repoint reads a rejection as a careful person does: first its code, which is a fixed value of one vendor.
 * Then its sentence: which thing does it name, and what does it say about the thing? "Key" and "expired" are
 * about the key, "credits" and "used up" about the quota, "model" and "not found" about the model. A row
 * joins one kind of thing with what gateways say about it ({@link near}; the words are in vocabulary.ts), so
 * that it matches sentences that nobody has seen. The first matching row counts. If none matches,
 * subjects.ts looks whether the sentence is about one thing only. If that fails too, repoint shows the
 * gateway's words and blames nothing.
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
      near(
        String.raw`\b(?:upstream|(?:relay |channel |pool(?:ed)? )accounts?|channel(?= keys?)|vendor|(?:backend|model) provider)\b`,
        String.raw`\b(?:auth\w*|unauthori[sz]ed|credentials?|(?:api )?keys?|tokens?|rejected|denied|forbidden|accounts?|40[13])\b`,
        { before: 40, after: 60 },
      ),
      String.raw`\b(?:provider|vendor|upstream|byok)(?:['’]s)? (?:api )?(?:keys?|credentials?|auth\w*)\b`,
      String.raw`\b(?:returned|answered|responded with) 40[13]\b|\b40[13]\b${within(30)}\bfrom (?:the )?provider\b`,
      String.raw`\bchannels?\b${within(20)}\b(?:disabled|suspended|banned|expired)\b`,
      String.raw`\b(?:all|no available|no healthy) (?:\w+ )?accounts? (?:failed|are|is|have|were|limited|unhealthy)`,
    ),
    source: `${github}/Wei-Shaw/sub2api/issues/1178 (2026-03), ${github}/lbjlaq/Antigravity-Manager/issues/3051 (2026-04)`,
  },
  {
    cause: 'upstream',
    words: anyOf(
      near(
        String.raw`\b(?:oauth|refresh)[ _]?token\b`,
        String.raw`\b(?:refresh(?:ed|ing)?\b(?! token)|expired|revoked|invalid\w*|failed|reused|not found)`,
        { before: 20, after: 40 },
      ),
      String.raw`\bauth unavailable\b|\bno auth available\b|\byour authentication token has been invalidated\b|\binvalid_grant\b`,
    ),
    source: `${github}/router-for-me/CLIProxyAPI, 2026-11-24`,
  },
  {
    cause: 'upstream',
    words: anyOf(
      near(
        '(?:上游|渠道|供应商|后端账号|号池)',
        '(?:密钥|key|令牌|账号|账户|认证|鉴权|授权|无效|禁用|拒绝|40[13])',
        { before: 8, after: 12 },
      ),
    ),
    source: `${github}/QuantumNous/new-api, 2026-11-24`,
  },

  // Only certain programs are accepted.
  {
    cause: 'client',
    codes: ['client_validation_error', 'client_platform_not_allowed'],
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
    words: new RegExp(
      `\\bonly\\b.{0,60}${clientName}|${clientName}.{0,30}\\b(?:only|exclusively|(?:nothing|nobody|no one) else|alone)\\b|\\boutside (?:of )?(?:\\w+ )?${clientName}`,
      'i',
    ),
    source: `${github}/Wei-Shaw/sub2api/issues/248 (2026-01), ${github}/anthropics/claude-code/issues/24690 (2026-02), ${github}/anomalyco/opencode/issues/49494 (2026-09)`,
  },
  {
    cause: 'client',
    words: anyOf(
      near(client, denied, { before: 15, after: 40 }),
      String.raw`\b(?:unknown|unrecogni[sz]ed|unofficial|non-official|invalid|outdated|too old)${within(15)}${client}`,
      String.raw`${client}${within(15)}\b(?:outdated|too old|obsolete)\b`,
      String.raw`\b(?:upgrade|update) (?:to )?(?:your|the)${within(20)}${client}`,
      String.raw`${clientName}${within(20)}\b(?:too old|outdated|not supported|upgrade)\b`,
    ),
    source: `${github}/Wei-Shaw/claude-relay-service/issues/972 (2026-02); agentrouter, 2025-11`,
  },
  {
    cause: 'client',
    words: anyOf(
      String.raw`\b(?:invalid|non[- ]|not an? (?:valid |genuine |real )?) ?${clientName}(?: \w+)? (?:requests?|clients?|traffic)\b`,
      String.raw`\b(?:restricted|reserved|limited|locked|exclusive|dedicated) (?:to|for)\b.{0,30}${clientName}`,
      String.raw`${clientName}.{0,20}\brestricted\b`,
      String.raw`\b(?:come|originate|sent|made|called?)\b${within(12)}\b(?:from|by|through|via|with)\b${within(15)}${clientName}`,
      String.raw`\buse (?:the |an? )?(?:official )?${clientName}|${clientName}.{0,20}\brequired\b`,
      String.raw`\bwithout an?\b.{0,10}${clientName}|\bclient fingerprint\b`,
    ),
    source: `${github}/leookun/cursor-byok/issues/131 (2026-11-24), ${github}/mnfst/llm-gateway/issues/2446 (2026-07)`,
  },
  {
    cause: 'client',
    words: new RegExp(
      `(?:仅|只|限).{0,12}${zh.client}|(?:非|不是|不属于|第三方|未授权的?|不支持|不允许|禁止|拒绝|请使用|请在|请通过|请用|请升级|升级).{0,10}${zh.client}|${zh.client}.{0,8}(?:受限|不被允许|不允许|被禁止|被拒绝|专用|专属|版本过低|不在|未在)`,
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
    words: anyOf(
      near(country, denied, { before: 40, after: 40 }),
      String.raw`\bgeo[- ]?(?:\w+ )?(?:block|restrict|fenc|den)\w*`,
    ),
    source:
      'https://ai.google.dev/gemini-api/docs/troubleshooting (2026-11-23); https://docs.coreweave.com/support/inference (2026-11-26)',
  },
  {
    cause: 'region',
    words: anyOf(near(zh.country, zh.denied, { before: 10, after: 12 })),
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
    words: anyOf(
      near(
        network,
        String.raw`(?:${refused}|\b(?:not (?:on|in|among)|outside|only (?:from|allowed)|disabled|allow-? ?list(?:ed)?|white-? ?list(?:ed)?|invalid|please configure)\b)`,
        { before: 40, after: 60 },
      ),
      String.raw`\bonly\b${within(40)}${network}`,
    ),
    source:
      'https://developers.openai.com/api/docs/guides/error-codes (2026-11-24); https://docs.aihubmix.com/cn/FAQs/HTTP-Codes (2026-11-26)',
  },
  {
    cause: 'network',
    words: anyOf(
      near(zh.network, `(?:${zh.denied}|仅|不在|白名单|白名單|使用)`, { before: 14, after: 20 }),
      'ip ?白名单|(?:网络|来源).{0,10}(?:受限|不允许|限制|拦截)',
    ),
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
    words: anyOf(
      String.raw`\brate[- ]?limit\w*\b(?!\w* error)|\btoo many (?:\w+ )?(?:requests|connections|sessions)\b|\bthrottl\w+|\brate exceeded\b`,
      String.raw`\b(?:requests?|tokens?) per (?:second|minute|hour|day)\b|\b(?:[rt]p[smhd]|ipm|q(?:ps|pm))\b`,
      near(
        String.raw`\b(?:requests?|calls?|generations?|jobs?|streams?|sessions?)\b`,
        String.raw`\b(?:already (?:running|open|active|in progress)|in flight|in parallel|at once|at a time|at the same time|simultaneous\w*)\b`,
        { after: 30 },
      ),
      String.raw`\brequests? limit\b|\bretry (?:again )?(?:in|after) \d|\bengine is currently overloaded\b|\btoo (?:quickly|fast|frequently)\b`,
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
    words:
      /频繁|频率|频次|流控|每(?:秒|分钟|小时).{0,8}(?:限制|上限|次)|限流|限速|速率|(?:并发|同时).{0,10}(?:上限|限制|超|过)|(?:请求|访问|调用).{0,4}(?:过快|过多|太快|太多|太密集|过密|超限|速度|超过|次数.{0,4}上限)/,
    source: 'https://docs.z.ai/api-reference/api-code (2026-11-24)',
  },

  {
    cause: 'model-not-allowed',
    words:
      /\bno (?:allowed )?(?:end ?points?|providers?)\b.{0,60}\bpolicy\b|\b(?:data|publication) policy\b/i,
    source: 'https://openrouter.ai/docs/features/privacy-and-logging (2026-11-26)',
  },

  // A content filter rejected the request.
  {
    cause: 'content',
    codes: ['1026', '1027'],
    statuses: [0, 200],
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
      String.raw`\bmoderation\b|\bcontent (?:policy|filter\w*|classif\w+|management|safety|inspection|moderation)\b|\bno credits were charged\b|\bguard(?:rails?| models?)\b|\bprompt injections?\b|\bjailbreak\w*|\bsafety (?:checks?|systems?|polic\w+|filters?|settings?|classif\w+|rules?|guard\w*)\b`,
      String.raw`\b(?:inappropriate|unsafe|harmful) content\b|\bsens?i?tive (?:words?|content|information)\b|\bmay contain sens?i?tive\b|\bconsidered high risk\b|\bviolat\w+ .{0,20}\bpolic(?:y|ies)\b`,
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
    words:
      /敏感(?:内容|词|信息)|(?:违规|不当|违法|有害)(?:的)?(?:内容|信息)|内容.{0,6}(?:审核|违规|不合规|安全|风控|拦截)|测试内容|不安全/,
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
    codes: ['1311', 'modelnotopen', 'model_not_available', 'unsupportedmodel'],
    source: `${github}/farion1231/cc-switch/issues/1386 (2026); https://docs.zenmux.ai/guide/advanced/error-codes.html, https://www.volcengine.com/docs/82379/1299023 (2026-11-24)`,
  },
  {
    cause: 'plan',
    words: anyOf(
      near(plan, consumed, { before: 40, after: 40 }),
      String.raw`\bextra usage\b|\bfree usage\b`,
      near(zh.plan, '(?:用完|用尽|耗尽|已达|上限|到期|过期)', { before: 6, after: 14 }),
    ),
    source:
      'DashScope `FreeTierOnly`, 2026-11-24; https://support.huaweicloud.com/Token-plan-maas/tokenplan-maas-0013.html (2026-11-26)',
  },
  {
    cause: 'model-not-allowed',
    words: anyOf(
      near(plan, anyModel, { before: 80, after: 80 }),
      near(zh.plan, '模型', { before: 30, after: 30 }),
    ),
    source: 'https://docs.zenmux.ai/guide/advanced/error-codes.html (2026-11-24)',
  },
  {
    cause: 'quota',
    words: anyOf(
      near(money, usedUp, { before: 30, after: 40 }),
      near(
        String.raw`\b(?:billing|payments?(?: method)?|credit card)\b`,
        String.raw`\b(?:not (?:\w+ )?(?:set up|enabled|configured|active|added|found)|disabled|inactive|required|missing|declined|failed)\b`,
      ),
      String.raw`\b(?:0|no|zero) (?:[\w-]+ )?(?:credits?|tokens?|funds) (?:left|remaining)\b`,
      String.raw`\bout of tokens\b`,
    ),
    source: `${github}/MCPJam/inspector/issues/1287 (2026-01), ${github}/infiniflow/ragflow/issues/1048 (2024-06); https://docs.merge.dev/merge-gateway/errors (2026-11-26)`,
  },
  {
    cause: 'plan',
    words: anyOf(
      near(plan, lapsed, { before: 30, after: 50 }),
      String.raw`\b(?:please |must )?upgrade (?:to|your|required)\b|\bunpurchased\b|\b(?:please|must) subscribe\b`,
    ),
    source:
      'Ark `InvalidSubscription`, 2026-11-24; https://platform.minimax.io/docs/api-reference/errorcode.md (2026-11-24)',
  },
  {
    cause: 'plan',
    words: anyOf(
      `${zh.plan}.{0,20}${zh.lapsed}`,
      `(?:未|请|没有|无).{0,6}(?:订阅|购买|开通|续费|升级).{0,10}(?:套餐|会员|计划|plan)`,
    ),
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
    words: /[$＄¥￥€]\s?-?\d|quota|balance|credit/iu,
    statuses: [402, 403],
    source: `${github}/QuantumNous/new-api, 2026-11-21`,
  },
  {
    cause: 'quota',
    words: anyOf(`${zh.money}.{0,12}${zh.usedUp}|${zh.usedUp}.{0,6}${zh.money}`, '欠费|充值'),
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
      /\b(?:missing|lacks?|insufficient|without)(?: the| a)?(?: required)? scopes?\b|\bnot allowed to call this route\b|\bpermission is required to access this endpoint\b/i,
    statuses: [401, 403],
    source: 'restricted keys of OpenAI, LiteLLM and GitHub, 2026-11-22',
  },

  {
    cause: 'route',
    words: anyOf(
      String.raw`\b(?:keys?|tokens?)\b${within(40)}\b(?:only|${refused})${within(40)}(?:\/v\d|\broutes?\b|\bend ?points?\b)`,
    ),
    statuses: [401, 403],
    source: forged,
  },

  // The account behind the key.
  {
    cause: 'model-not-allowed',
    words: anyOf(
      String.raw`\bmodels?\b${within(60)}\b(?:blocked|disabled|denied|restricted)\b${within(12)}\b(?:at|by|for|in|on)\b${within(12)}${holder}`,
      String.raw`\bmodel permissions?\b`,
    ),
    source: forged,
  },
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
    words: anyOf(
      near(holder, held, {
        before: 20,
        after: 60,
        without: String.raw`\b(?:keys?|tokens?|models?)\b`,
      }),
      `${holder} (?:associated|linked|connected|behind|owning|for)\\b${within(60)}${held}`,
    ),
    source: `${github}/anthropics/claude-code/issues/19028 (2026-01), ${github}/gpustack/gpustack/issues/3262 (2025-11), ${github}/chaogei/Kiro-account-manager/issues/82 (2026-05)`,
  },
  {
    cause: 'account',
    words: anyOf(
      String.raw`\b(?:must be|not been) verified\b|\bwait-?list\b|\b(?:beta|early) access\b|\b(?:verify|confirm|complete|bind|link) your (?:[\w-]+ ){0,3}(?:e-?mail|phone|identity|accounts?|organi[sz]ation|registration|profile)\b|\bunusual (?:\w+ )?activity\b|\bgood standing\b`,
      near(
        String.raw`\b(?:terms|agreement|licen[cs]e|eula|usage polic(?:y|ies)|form|questionnaire)\b`,
        String.raw`\b(?:accept(?:ed)?|agreed?(?: to)?|sign(?:ed)?|fill out|submit(?:ted)?)\b`,
        { before: 40 },
      ),
      near(
        String.raw`\b(?:identity|kyc|phone|e-?mail|real[- ]name|onboarding|registration|sign-?up)\b`,
        String.raw`\b(?:required|needed|verification|verified|confirm\w*|finish|complete|incomplete|missing)\b`,
        { after: 40 },
      ),
      String.raw`\bmust be an? (?:\w+ )?member\b|\bnot an? (?:\w+ )?member\b`,
      String.raw`\b(?:service|product|feature|gateway|api(?! keys?))\b${within(30)}\b(?:not|never)(?: \w+){0,2} (?:enabled|opened?|activated|subscribed|used)\b`,
    ),
    source: `${github}/langflow-ai/openrag/issues/257 (2025-10); ModelScope, 2026-11-24; https://docs.coreweave.com/support/inference (2026-11-26)`,
  },
  {
    cause: 'account',
    words: anyOf(
      `${zh.holder}.{0,20}${zh.held}`,
      '实名|绑定.{0,8}(?:手机|邮箱|账号|账户|阿里云)|未(?:开通|订购|激活).{0,6}(?:服务|产品|功能)|(?:服务|产品|功能).{0,6}未(?:开通|激活)|请.{0,12}(?:开通|激活|启用).{0,8}(?:服务|产品|功能)',
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
      ...['unknown_model', 'invalid_model', 'model_not_supported'],
      ...['modelnotfound', 'invalidendpointormodel.notfound'],
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
    cause: 'model-unknown',
    words: anyOf(
      String.raw`^(?=.*\bmodels?\b).*\b(?:not exist|not found|unknown|invalid)\b.{0,120}\b(?:or|and)\b.{0,40}\b(?:access|permissions?)\b`,
      String.raw`\b(?:incorrect|wrong|invalid|unknown) models?\b.{0,80}\bpermission\b`,
    ),
    source:
      'OpenAI, Vertex AI and Ark say both at once, 2026-11-24; https://docs.aihubmix.com/cn/FAQs/HTTP-Codes (2026-11-26)',
  },
  {
    cause: 'protocol',
    words: anyOf(
      near(
        String.raw`(?:(?:\bv1\/(?:chat\/completions|responses|messages|completions)|\bchat\/completions|\b(?:responses|messages|chat completions|anthropic|openai) (?:api|end ?point|protocol|format))\b|\b(?:responses|messages|chat) ?(?:接口|协议|格式))`,
        String.raw`(?:\b(?:only|instead|unsupported|did you mean)\b|\b(?:not|n['’]t) (?:\w+ ){0,3}support\w*|不支持|仅支持|只支持|请使用)`,
        { before: 40, after: 40 },
      ),
    ),
    statuses: [0, 200, 400, 404, 405, 422],
    source: forged,
  },
  {
    cause: 'model-unknown',
    words: anyOf(
      String.raw`${anyModel}${within(60)}\b(?:must|should|can only) be (?:one of|in)\b`,
      String.raw`${anyModel}${within(60)}\b(?:allowed|valid|supported|available|possible) (?:values|options|models|ids)\b`,
    ),
    statuses: [0, 200, 400, 404, 422],
    source: forged,
  },
  {
    cause: 'model-not-allowed',
    words: anyOf(near(refused, anyModel, { before: 60, after: 40 })),
    statuses: [0, 200, 400, 401, 403, 404],
    source: `${github}/anthropics/claude-code/issues/536 (2025-03), ${github}/continuedev/continue/issues/10120 (2026-02)`,
  },
  {
    cause: 'model-not-allowed',
    words: anyOf(
      String.raw`\b(?:limited|restricted|confined) to (?:\w+ ){0,2}models?\b|\bonly (?:access|use|call)\b.{0,20}\bmodels?\b`,
      String.raw`\bpermissions? to (?:\w+ )?(?:the )?models?\b|\b(?:must|needs? to|please) (?:first )?(?:enable|activate|unlock|request) (?:the )?models?\b`,
      String.raw`\b(?:scopes?|keys?|tokens?)\b${within(30)}\b(?:not (?:include|cover|extend to|list)|exclude\w*)${within(20)}${anyModel}`,
      String.raw`\baccess to (?:the|this) (?:requested )?model\b|\bnot found for account\b`,
      String.raw`${anyModel}.{0,40}\b(?:access not|not (?:enabled|activated|open(?:ed)?)|disabled|gated|requires? (?:access|approval))\b|\brequest access\b`,
    ),
    statuses: [0, 200, 400, 401, 403, 404],
    source: `${github}/Alishahryar1/free-claude-code/issues/1021 (2026-07), ${github}/dnakov/anon-kode/issues/13 (2025-03)`,
  },
  {
    cause: 'model-not-allowed',
    words: new RegExp(
      [
        `(?:无权|没有权限|未(?:被)?授权|未开通|未开放|禁止|不允许|无法).{0,10}${zh.model}`,
        `${zh.model}.{0,40}(?:无权|未开通|未授权|未开放|没有权限|权限不足|禁用)`,
        `没有.{0,8}${zh.model}.{0,6}(?:权限|使用权|访问权|资格)|${zh.model}.{0,12}(?:不在.{0,8}列表|申请)`,
        `(?:仅|只)(?:可|能|允许|限).{0,8}${zh.model}`,
        `${zh.model}.{0,6}(?:白名单|范围|权限).{0,6}(?:没有|不含|不包|无)`,
      ].join('|'),
    ),
    statuses: [0, 200, 400, 401, 403, 404],
    source: `${github}/QuantumNous/new-api; https://docs.siliconflow.cn/en/faqs/error-code (2026-11-23)`,
  },
  {
    cause: 'model-unknown',
    words: anyOf(...goneModel),
    source: `${github}/anyme123/Any-code/issues/1 (2025-07), ${github}/iOfficeAI/AionCore/pull/377 (2026-06)`,
  },
  {
    cause: 'model-unknown',
    words:
      /\bno (?:\w+ ){0,3}(?:routes?|channels?|providers?|deployments?|backends?|endpoints?|instances?|servers?|replicas?|workers?|distributors?|adapters?|handlers?|engines?)\b(?:.{0,40}\bmodel\b| (?:\w+ )?for\b)|\bnot one of the (?:\w+ )?models\b|\b(?:unknown|invalid) provider for\b|\b(?:could not|failed to|cannot|unable to) (?:load|find|resolve|locate|route|map|match|serve|schedule) (?:\w+ ){0,2}model\b|\bno (?:active )?credentials for provider\b|\bllm provider not provided\b/i,
    source: `9router, 2026-11-22; LocalAI, CLIProxyAPI, Envoy and Cloudflare, 2026-11-24`,
  },
  {
    cause: 'model-unknown',
    words: new RegExp(
      [
        '(?:没有|无)可用.{0,40}(?:渠道|通道)',
        `${zh.model}.{0,30}(?:不存在|未找到|找不到|无效|未知|已?下线|已?下架|未(?:在.{0,6})?上架|未部署|已?停止服务|无可用渠道|没有可用|名称?(?:错误|有误|不正确)|不支持${notTheseZh})`,
        `(?:未能|无法|不能|没能)(?:匹配|找到|定位|路由|识别|解析).{0,6}${zh.model}`,
        `(?:不存在|未知|无效|不支持|找不到|未找到|没有)(?:的|该|此|这个|具体|任何|当前|指定| ){0,3}${zh.model}`,
      ].join('|'),
    ),
    source: `${github}/QuantumNous/new-api, 2026-11-21; https://docs.z.ai/api-reference/api-code (2026-11-24)`,
  },
  {
    cause: 'provider-unknown',
    words: /\b(?:unknown|invalid) provider\b/i,
    source: 'Cloudflare AI Gateway, code 2008, 2026-11-24',
  },

  {
    cause: 'protocol',
    words: anyOf(
      near(
        String.raw`\b(?:end ?points?|routes?|paths?|(?<!image[_ ])ur[il]s?)\b`,
        String.raw`\b(?:unknown|unexpected|unsupported|unrecogni[sz]ed|no such|not (?:found|exist|implemented|supported|available))\b`,
        { after: 40 },
      ),
    ),
    statuses: [400, 422],
    source: forged,
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
    words: anyOf(
      near(
        String.raw`\b(?:database|db|redis|postgres\w*|mysql|mongo\w*|sqlite|sqlalchemy\S*|connection pool)\b`,
        String.raw`\b(?:not connected|connect\w*|errors?|failed|unavailable|down|timeout|locked|closed|operationalerror)\b`,
        { before: 0, after: 60 },
      ),
      String.raw`\bno connected db\b|\bconnection refused\b|\beconnrefused\b|\bdial tcp\b|\bi\/o timeout\b|\bdeadline exceeded\b|\btimed out\b`,
      String.raw`\binternal (?:server )?error\b|\b(?:unexpected|unknown) error\b|\bsomething went wrong\b|\bmaintenance\b|\b(?:could not|cannot|unable to|failed to) (?:reach|connect)\b|^error code: 1033\b`,
      String.raw`\b(?:service|server|system)\b.{0,30}\b(?:unavailable|busy|down|overloaded)\b|\b(?:tunnel|endpoint)\b.{0,60}\boffline\b`,
    ),
    source: `${github}/BerriAI/litellm ("No connected db."), 2026-11-24`,
  },
  {
    cause: 'gateway',
    words:
      /维护中?|系统(?:繁忙|错误|异常)|服务(?:器|内部)?(?:不可用|异常|暂停|错误|繁忙)|内部错误|数据库/,
    source: facts,
  },

  // The key.
  {
    cause: 'key',
    codes: [
      ...['token_not_found_in_db', 'expired_key', 'invalidclienttokenid', 'incorrect_api_key'],
      ...['api_key_invalid', 'api_key_expired', 'api_key_revoked', 'bad_token', 'expired_token'],
      ...['unrecognizedclientexception', 'incompletesignatureexception', 'invalid_client'],
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
    words: anyOf(near(secret, broken, { before: 30, after: 60 })),
    source: `${github}/hotovo/aider-desk/issues/653 (2026-02) and nearly everybody`,
  },
  {
    cause: 'key',
    words:
      /\bnot authenticated\b|\b(?:anonymous|unregistered|unidentified|unauthenticated) (?:users?|callers?|requests?|access)\b|\b(?:user|caller): anonymous\b/i,
    statuses: [0, 200, 400, 401, 403],
    source: forged,
  },
  {
    cause: 'key',
    words: anyOf(
      near(bareSecret, broken, { before: 25, after: 30 }),
      String.raw`\b(?:auth\w*|certification) (?:check )?(?:failed|failure|error|required|fails)\b|\b(?:request denied by )?key auth check\b`,
    ),
    statuses: [0, 200, 400, 401, 403],
    source: `${github}/deepwn/addi/issues/13 (2026-03); Higress, 2026-11-24`,
  },
  {
    cause: 'key',
    words: new RegExp(
      `${zh.secret}.{0,20}${zh.broken}|${zh.broken}(?:的)?.{0,10}${zh.secret}|未(?:登录|授权|认证)|没有登录|登录.{0,6}(?:过期|失效)`,
      'i',
    ),
    source: `${github}/QuantumNous/new-api, 2026-11-21`,
  },
  {
    cause: 'key',
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

/** Codes that many failures share. They count only if no row matches the sentence next to them. */
const commonCodes: readonly Required<Pick<CauseRow, 'cause' | 'codes'>>[] = [
  { cause: 'rate', codes: ['rate_limit_error', 'resource_exhausted', 'rate_limit', 'throttled'] },
  // OpenAI, also for a model that exists and is not allowed.
  { cause: 'model-unknown', codes: ['model_not_found'] },
  // Kimi Code, for other programs as well as for a plan that is used up.
  { cause: 'client', codes: ['access_terminated_error'] },
  {
    cause: 'key',
    codes: [
      ...['authentication_error', 'auth_error', 'invalid_authentication_error', 'autherror'],
      ...['unauthenticated', 'unauthorized', 'authenticationerror', 'invalid_api_key'],
      ...['invalid_token'],
    ],
  },
]

/**
 * The causes that match the codes and words of a rejection, most likely first.
 *
 * @param model the ID of the requested model; the words may use it instead of the word "model"
 */
export function causesOf(error: ErrorBody, status: number, model = ''): readonly Cause[] {
  const { codes, codeWords } = error
  const words = withModelNamed(error.words, model)
  // A sentence may be nothing but a code: `bad_credentials`.
  const spoken = /\s/.test(words) ? words : words.replace(/[_-]+/g, ' ')
  const isShared = (code: string) => commonCodes.some((row) => row.codes.includes(code))
  const sentences = [...codeWords.filter((_, index) => !isShared(codes[index]!)), words, spoken]
  const rows = causeRows.filter(({ statuses }) => statuses?.includes(status) ?? true)

  const named = rows.filter((row) => row.codes?.some((code) => codes.includes(code)))
  const said = rows.filter((row) => sentences.some((sentence) => row.words?.test(sentence)))
  const shared = commonCodes.filter((row) => row.codes.some((code) => codes.includes(code)))
  const causes = [...new Set([...named, ...said, ...shared].map(({ cause }) => cause))]
  const isReadable = isOfSender(status) && error.param === ''
  return causes.length > 0 || !isReadable ? causes : causeOfSubject(sentences, status)
}

/** Whether the status says that the sender or the request is at fault. 0: no status says anything. */
function isOfSender(status: number): boolean {
  return status === 0 || (status >= 400 && status < 500)
}

/** The words with "model" instead of the model's ID, so that "no access to gpt-5.6-sol" is about a model. */
function withModelNamed(words: string, model: string): string {
  return model.length < 2 ? words : words.replace(idPattern(model), 'model')
}

/** A model's ID that is not part of a longer one. */
export function idPattern(model: string): RegExp {
  return new RegExp(`(?<![\\w-])${model.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}(?![\\w-])`, 'gi')
}
