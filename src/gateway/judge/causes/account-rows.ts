/** Rejections of a valid key: it may not use this route, or its account is blocked or incomplete. */

import { zh } from './chinese.ts'
import { held, holder, notAllowed } from './english.ts'
import { anyOf, near, phrases, within } from './patterns.ts'
import { type CauseRow, forged, github } from './row.ts'

/** The key is valid, but not for this route. */
const routeRows: readonly CauseRow[] = [
  {
    cause: 'route-not-allowed',
    words: anyOf(
      // The key lacks a required scope.
      ...phrases`
        \b(?:missing|lacks?|insufficient|without)(?: the| a)?(?: required)? scopes?\b
        \bnot allowed to call this route\b | \bpermission is required to access this endpoint\b
      `,
    ),
    source: 'restricted keys of OpenAI, LiteLLM and GitHub, 2026-11-22',
  },
  {
    cause: 'route-not-allowed',
    // This key is not allowed to use the endpoint.
    words: anyOf(
      String.raw`\b(?:keys?|tokens?)\b${within(40)}\b(?:only|${notAllowed})${within(40)}(?:\/v\d|\broutes?\b|\bend ?points?\b)`,
    ),
    source: forged,
  },
]

/** A model is blocked for the account, which is not itself blocked. */
const modelOfAccountRows: readonly CauseRow[] = [
  {
    cause: 'model-not-allowed',
    words: anyOf(
      // The model is disabled for your organization.
      String.raw`\bmodels?\b${within(60)}\b(?:blocked|disabled|denied|restricted)\b${within(12)}\b(?:at|by|for|in|on)\b${within(12)}${holder}`,
      String.raw`\bmodel permissions?\b`,
    ),
    source: forged,
  },
]

/** The account behind the key is blocked, or somebody has to complete it first. */
const accountRows: readonly CauseRow[] = [
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
      // Your organization has been disabled. The account associated with this key is suspended.
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
      // Your organization must be verified. Please verify your e-mail.
      ...phrases`
        \b(?:must be|not been) verified\b | \bwait-?list\b | \b(?:beta|early) access\b
        \b(?:verify|confirm|complete|bind|link) your (?:[\w-]+ ){0,3}(?:e-?mail|phone|identity|accounts?|organi[sz]ation|registration|profile)\b
        \bunusual (?:\w+ )?activity\b | \bgood standing\b
      `,
      // You have to accept the terms.
      near(
        String.raw`\b(?:terms|agreement|licen[cs]e|eula|usage polic(?:y|ies)|form|questionnaire)\b`,
        String.raw`\b(?:accept(?:ed)?|agreed?(?: to)?|sign(?:ed)?|fill out|submit(?:ted)?)\b`,
        { before: 40 },
      ),
      // Phone verification required.
      near(
        String.raw`\b(?:identity|kyc|phone|e-?mail|real[- ]name|onboarding|registration|sign-?up)\b`,
        String.raw`\b(?:required|needed|verification|verified|confirm\w*|finish|complete|incomplete|missing)\b`,
        { after: 40 },
      ),
      // You must be a member of the organization.
      ...phrases`\bmust be an? (?:\w+ )?member\b | \bnot an? (?:\w+ )?member\b`,
      // The service is not activated.
      String.raw`\b(?:service|product|feature|gateway|api(?! keys?))\b${within(30)}\b(?:not|never)(?: \w+){0,2} (?:enabled|opened?|activated|subscribed|used)\b`,
    ),
    source: `${github}/langflow-ai/openrag/issues/257 (2025-10); ModelScope, 2026-11-24; https://docs.coreweave.com/support/inference (2026-11-26)`,
  },
  {
    cause: 'account',
    words: anyOf(
      // 账号已被封禁: the account is banned.
      `${zh.holder}.{0,20}${zh.held}`,
      // 实名: identity. 绑定手机: link a phone. 服务未开通: the service is not activated.
      ...phrases`
        实名 | 绑定.{0,8}(?:手机|邮箱|账号|账户|阿里云)
        未(?:开通|订购|激活).{0,6}(?:服务|产品|功能) | (?:服务|产品|功能).{0,6}未(?:开通|激活)
        请.{0,12}(?:开通|激活|启用).{0,8}(?:服务|产品|功能)
      `,
    ),
    source: `${github}/QuantumNous/new-api, 2026-11-21`,
  },
]

export const keyHolderRows = [...routeRows, ...modelOfAccountRows, ...accountRows]
