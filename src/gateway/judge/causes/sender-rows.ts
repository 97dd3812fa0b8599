/** Rejections of the sender: the gateway does not serve its program, country or network. */

import { zh } from './chinese.ts'
import { client, clientName, country, denied, network, notAllowed } from './english.ts'
import { anyOf, either, near, phrases, within } from './patterns.ts'
import { type CauseRow, github } from './row.ts'

const seenOrForged = 'seen at forged and real gateways, 2026-11-23 and 2026-11-24'

/** The gateway accepts only certain programs. */
const clientRows: readonly CauseRow[] = [
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
    words: anyOf(
      // This key works only with Claude Code. Claude Code only.
      String.raw`\bonly\b.{0,60}${clientName}`,
      String.raw`${clientName}.{0,30}\b(?:only|exclusively|(?:nothing|nobody|no one) else|alone)\b`,
      String.raw`\boutside (?:of )?(?:\w+ )?${clientName}`,
    ),
    source: `${github}/Wei-Shaw/sub2api/issues/248 (2026-01), ${github}/anthropics/claude-code/issues/24690 (2026-02), ${github}/anomalyco/opencode/issues/49494 (2026-09)`,
  },
  {
    cause: 'client',
    words: anyOf(
      // Your client is not allowed.
      near(client, denied, { before: 15, after: 40 }),
      // Unknown client. Your client is outdated. Please update your CLI.
      String.raw`\b(?:unknown|unrecogni[sz]ed|unofficial|non-official|invalid|outdated|too old)${within(15)}${client}`,
      String.raw`${client}${within(15)}\b(?:outdated|too old|obsolete)\b`,
      String.raw`\b(?:upgrade|update) (?:to )?(?:your|the)${within(20)}${client}`,
      String.raw`${clientName}${within(20)}\b(?:too old|outdated|not supported|upgrade)\b`,
      // Please upgrade to Codex CLI 0.180.0. Not: upgrade to Cursor Pro.
      String.raw`\b(?:upgrade|update)(?: to)? ${clientName}(?: cli)? (?:version )?v?\d`,
      String.raw`\b(?:upgrade|update)(?: to)? (?:the |a )?(?:latest|newest|newer|current) (?:version of )?${clientName}`,
    ),
    source: `${github}/Wei-Shaw/claude-relay-service/issues/972 (2026-02); agentrouter, 2025-11`,
  },
  {
    cause: 'client',
    words: anyOf(
      // Not a genuine Claude Code request.
      String.raw`\b(?:invalid|non[- ]|not an? (?:valid |genuine |real )?) ?${clientName}(?: \w+)? (?:requests?|clients?|traffic)\b`,
      // Restricted to Codex.
      String.raw`\b(?:restricted|reserved|limited|locked|exclusive|dedicated) (?:to|for)\b.{0,30}${clientName}`,
      String.raw`${clientName}.{0,20}\brestricted\b`,
      // Requests must come from the official CLI. Use Claude Code.
      String.raw`\b(?:come|originate|sent|made|called?)\b${within(12)}\b(?:from|by|through|via|with)\b${within(15)}${clientName}`,
      String.raw`\buse (?:the |an? )?(?:official )?${clientName}`,
      String.raw`${clientName}.{0,20}\brequired\b`,
      String.raw`\bwithout an?\b.{0,10}${clientName}`,
      String.raw`\bclient fingerprint\b`,
    ),
    source: `${github}/leookun/cursor-byok/issues/131 (2026-11-24), ${github}/mnfst/llm-gateway/issues/2446 (2026-07)`,
  },
  {
    cause: 'client',
    words: anyOf(
      // 仅支持 Claude Code: only Claude Code is supported.
      `(?:仅|只|限).{0,12}${zh.client}`,
      // 第三方客户端: a third-party client. 请升级: please update.
      `(?:非|不是|不属于|第三方|未授权的?|不支持|不允许|禁止|拒绝|请使用|请在|请通过|请用|请升级|升级).{0,10}${zh.client}`,
      // 客户端版本过低: the client's version is too low.
      `${zh.client}.{0,8}(?:受限|不被允许|不允许|被禁止|被拒绝|专用|专属|版本过低|不在|未在)`,
    ),
    source: seenOrForged,
  },
]

/** The gateway does not serve the sender's country. */
const regionRows: readonly CauseRow[] = [
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
      // Your country is not supported. Geo-blocked.
      near(country, denied, { before: 40, after: 40 }),
      String.raw`\bgeo[- ]?(?:\w+ )?(?:block|restrict|fenc|den)\w*`,
    ),
    source:
      'https://ai.google.dev/gemini-api/docs/troubleshooting (2026-11-23); https://docs.coreweave.com/support/inference (2026-11-26)',
  },
  {
    cause: 'region',
    words: anyOf(near(zh.country, zh.denied, { before: 10, after: 12 })),
    source: seenOrForged,
  },
]

/** What a network is that the gateway does not accept. */
const notAccepted = either(
  notAllowed,
  String.raw`\b(?:not (?:on|in|among)|outside|only (?:from|allowed)|disabled|allow-? ?list(?:ed)?|white-? ?list(?:ed)?|invalid|please configure)\b`,
)

/** The gateway does not accept the IP address of the request. */
const networkRows: readonly CauseRow[] = [
  {
    cause: 'network',
    words: /^error code: 100[678]\b|\bnetwork settings\b|\bvpn\b/i,
    source:
      'https://developers.cloudflare.com/support/troubleshooting/http-status-codes/cloudflare-1xxx-errors/ (2026-11-23); Groq, 2025',
  },
  {
    cause: 'network',
    words: anyOf(
      // Your IP is not on the allowlist. Only from the corporate network.
      near(network, notAccepted, { before: 40, after: 60 }),
      String.raw`\bonly\b${within(40)}${network}`,
    ),
    source:
      'https://developers.openai.com/api/docs/guides/error-codes (2026-11-24); https://docs.aihubmix.com/cn/FAQs/HTTP-Codes (2026-11-26)',
  },
  {
    cause: 'network',
    words: anyOf(
      // IP 不在白名单: the IP is not on the allowlist.
      near(zh.network, `(?:${zh.denied}|仅|不在|白名单|白名單|使用)`, { before: 14, after: 20 }),
      ...phrases`ip ?白名单 | (?:网络|来源).{0,10}(?:受限|不允许|限制|拦截)`,
    ),
    source: `${github}/QuantumNous/new-api/issues/6752 (2026-08)`,
  },
]

export const senderRows = [...clientRows, ...regionRows, ...networkRows]
