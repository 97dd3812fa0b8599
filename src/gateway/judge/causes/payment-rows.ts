/** Rejections because nobody has paid for the request: a plan does not cover it, or no credit is left. */

import { zh } from './chinese.ts'
import { anyModel, consumed, lapsed, money, plan, usedUp } from './english.ts'
import { anyOf, near, phrases } from './patterns.ts'
import { type CauseRow, github, noStatus } from './row.ts'

/**
 * A subscription has ended, or does not cover the request or the model. Money comes between two rows of
 * plans: "your plan has no credits left" is about the credits.
 */
const planRows: readonly CauseRow[] = [
  {
    cause: 'plan',
    codes: ['1308', '1309', '1310', '1316', '1317'],
    statuses: [noStatus, 400, 403, 429],
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
      // Your plan is used up. 套餐已用完.
      near(plan, consumed, { before: 40, after: 40 }),
      ...phrases`\bextra usage\b | \bfree usage\b`,
      near(zh.plan, '(?:用完|用尽|耗尽|已达|上限|到期|过期)', { before: 6, after: 14 }),
    ),
    source:
      'DashScope `FreeTierOnly`, 2026-11-24; https://support.huaweicloud.com/Token-plan-maas/tokenplan-maas-0013.html (2026-11-26)',
  },
  {
    cause: 'model-not-allowed',
    words: anyOf(
      // Your plan does not include this model.
      near(plan, anyModel, { before: 80, after: 80 }),
      near(zh.plan, '模型', { before: 30, after: 30 }),
    ),
    source: 'https://docs.zenmux.ai/guide/advanced/error-codes.html (2026-11-24)',
  },
  {
    cause: 'quota',
    words: anyOf(
      // Insufficient balance.
      near(money, usedUp, { before: 30, after: 40 }),
      // No payment method is set up.
      near(
        String.raw`\b(?:billing|payments?(?: method)?|credit card)\b`,
        String.raw`\b(?:not (?:\w+ )?(?:set up|enabled|configured|active|added|found)|disabled|inactive|required|missing|declined|failed)\b`,
      ),
      // 0 credits left.
      String.raw`\b(?:0|no|zero) (?:[\w-]+ )?(?:credits?|tokens?|funds) (?:left|remaining)\b`,
      String.raw`\bout of tokens\b`,
    ),
    source: `${github}/MCPJam/inspector/issues/1287 (2026-01), ${github}/infiniflow/ragflow/issues/1048 (2024-06); https://docs.merge.dev/merge-gateway/errors (2026-11-26)`,
  },
  {
    cause: 'plan',
    words: anyOf(
      // Your subscription is not active. Please upgrade your plan.
      near(plan, lapsed, { before: 30, after: 50 }),
      ...phrases`
        \b(?:please |must )?upgrade (?:to|your|required)\b
        \bunpurchased\b | \b(?:please|must) subscribe\b
      `,
    ),
    source:
      'Ark `InvalidSubscription`, 2026-11-24; https://platform.minimax.io/docs/api-reference/errorcode.md (2026-11-24)',
  },
  {
    cause: 'plan',
    words: anyOf(
      // 套餐已过期: the plan has expired. 请购买套餐: please buy a plan.
      `${zh.plan}.{0,20}${zh.lapsed}`,
      '(?:未|请|没有|无).{0,6}(?:订阅|购买|开通|续费|升级).{0,10}(?:套餐|会员|计划|plan)',
    ),
    source: 'https://docs.z.ai/api-reference/api-code (2026-11-24)',
  },
]

/** The balance is zero. */
const quotaRows: readonly CauseRow[] = [
  {
    cause: 'quota',
    codes: [
      'insufficient_user_quota',
      'insufficient_quota',
      'pre_consume_token_quota_failed',
      'insufficient_balance',
      'insufficient_credits',
      'insufficient_credit',
      'billing_hard_limit_reached',
      'billing_not_active',
      'billing_error',
      'exceeded_current_quota_error',
      'budget_exceeded',
      'payment_required',
      'arrearage',
      'credit_balance_exhausted',
      'organization_spend_limit_exceeded',
      'project_spend_limit_exceeded',
      'organization_usage_limit_exceeded',
      'reject_no_credit',
      'quote_exceeded',
      'accountoverdueerror',
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
    // 令牌额度已用尽: the key's quota is used up.
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
    // 余额不足: insufficient balance. 欠费: in arrears. 充值: top up.
    words: anyOf(
      `${zh.money}.{0,12}${zh.usedUp}`,
      `${zh.usedUp}.{0,6}${zh.money}`,
      ...phrases`欠费 | 充值`,
    ),
    source: 'https://docs.z.ai/api-reference/api-code (2026-11-24)',
  },
  {
    cause: 'quota',
    words: /额度|余额|配额/,
    statuses: [402, 403],
    source: `${github}/QuantumNous/new-api, 2026-11-21`,
  },
]

export const paymentRows = [...planRows, ...quotaRows]
