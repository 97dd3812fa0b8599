/**
 * Rejections of the model or the protocol.
 *
 * The first row that matches decides, so a more precise sentence comes before one that is contained in it: "the
 * model does not exist or you have no access" is about a model that does not exist, "you have no access to the
 * model" about one that is not allowed. That is why the rows of different causes alternate.
 *
 * A new code goes into `modelCodeRows`, in any place: codes come before all sentences. A new sentence goes into the
 * list of its cause. If a row of an earlier list matches it too, and means another cause, the sentence goes into
 * `ambiguousRows`. `scripts/explain-rejection.js` shows which row matches.
 */

import { zh } from './chinese.ts'
import { anyModel, goneModel, notAllowed } from './english.ts'
import { anyOf, near, within } from './patterns.ts'
import { type CauseRow, forged, github, noStatus } from './row.ts'

const notAllowedStatuses = [noStatus, 400, 401, 403, 404]

const modelCodeRows: readonly CauseRow[] = [
  {
    cause: 'model-unpriced',
    codes: ['model_price_error'],
    source: `${github}/QuantumNous/new-api, 2026-11-21`,
  },
  {
    cause: 'model-not-allowed',
    codes: [
      'model_not_allowed',
      'key_model_access_denied',
      'team_model_access_denied',
      'user_model_access_denied',
      'org_model_access_denied',
      'project_model_access_denied',
      'accessdenied.model',
      'model_access_denied',
    ],
    source: `${github}/BerriAI/litellm, 2026-11-22`,
  },
  {
    cause: 'model-unknown',
    codes: [
      'unknown_model',
      'invalid_model',
      'model_not_supported',
      'modelnotfound',
      'invalidendpointormodel.notfound',
      'deploymentnotfound',
      'endpoint_not_found',
      'resource_does_not_exist',
      '1211',
    ],
    source:
      'https://www.volcengine.com/docs/82379/1299023, https://docs.databricks.com/aws/en/machine-learning/model-serving/, https://docs.z.ai/api-reference/api-code (2026-11-24)',
  },
  {
    cause: 'model-unknown',
    codes: ['modelerror'],
    source: `${github}/leookun/cursor-byok/issues/94 (2026-07)`,
  },
]

/** Sentences that a row of another cause below would match too. */
const ambiguousRows: readonly CauseRow[] = [
  {
    cause: 'model-unknown',
    words: anyOf(
      // The model does not exist, or you do not have access to it.
      String.raw`^(?=.*\bmodels?\b).*\b(?:not exist|not found|unknown|invalid)\b.{0,120}\b(?:or|and)\b.{0,40}\b(?:access|permissions?)\b`,
      String.raw`\b(?:incorrect|wrong|invalid|unknown) models?\b.{0,80}\bpermission\b`,
    ),
    source:
      'OpenAI, Vertex AI and Ark say both at once, 2026-11-24; https://docs.aihubmix.com/cn/FAQs/HTTP-Codes (2026-11-26)',
  },
  {
    cause: 'protocol',
    // This model only supports /v1/responses. Please use the chat completions API instead.
    words: anyOf(
      near(
        String.raw`(?:(?:\bv1\/(?:chat\/completions|responses|messages|completions)|\bchat\/completions|\b(?:responses|messages|chat completions|anthropic|openai) (?:api|end ?point|protocol|format))\b|\b(?:responses|messages|chat) ?(?:接口|协议|格式))`,
        String.raw`(?:\b(?:only|instead|unsupported|did you mean)\b|\b(?:not|n['’]t) (?:\w+ ){0,3}support\w*|不支持|仅支持|只支持|请使用)`,
        { before: 40, after: 40 },
      ),
    ),
    statuses: [noStatus, 400, 404, 405, 422],
    source: forged,
  },
  {
    cause: 'model-unknown',
    words: anyOf(
      // The model must be one of gpt-5.6-sol, glm-5. Allowed values of model: …
      String.raw`${anyModel}${within(60)}\b(?:must|should|can only) be (?:one of|in)\b`,
      String.raw`${anyModel}${within(60)}\b(?:allowed|valid|supported|available|possible) (?:values|options|models|ids)\b`,
    ),
    statuses: [noStatus, 400, 404, 422],
    source: forged,
  },
]

/** The key may not use the model. */
const notAllowedRows: readonly CauseRow[] = [
  {
    cause: 'model-not-allowed',
    // You are not allowed to use this model.
    words: anyOf(near(notAllowed, anyModel, { before: 60, after: 40 })),
    statuses: notAllowedStatuses,
    source: `${github}/anthropics/claude-code/issues/536 (2025-03), ${github}/continuedev/continue/issues/10120 (2026-02)`,
  },
  {
    cause: 'model-not-allowed',
    words: anyOf(
      // This key is limited to other models.
      String.raw`\b(?:limited|restricted|confined) to (?:\w+ ){0,2}models?\b`,
      String.raw`\bonly (?:access|use|call)\b.{0,20}\bmodels?\b`,
      // You need permission to the model. You must first enable the model.
      String.raw`\bpermissions? to (?:\w+ )?(?:the )?models?\b`,
      String.raw`\b(?:must|needs? to|please) (?:first )?(?:enable|activate|unlock|request) (?:the )?models?\b`,
      // The scope of the key does not include the model.
      String.raw`\b(?:scopes?|keys?|tokens?)\b${within(30)}\b(?:not (?:include|cover|extend to|list)|exclude\w*)${within(20)}${anyModel}`,
      String.raw`\baccess to (?:the|this) (?:requested )?model\b|\bnot found for account\b`,
      // The model is not enabled. The model is gated: request access.
      String.raw`${anyModel}.{0,40}\b(?:access not|not (?:enabled|activated|open(?:ed)?)|disabled|gated|requires? (?:access|approval))\b`,
      String.raw`\brequest access\b`,
    ),
    statuses: notAllowedStatuses,
    source: `${github}/Alishahryar1/free-claude-code/issues/1021 (2026-07), ${github}/dnakov/anon-kode/issues/13 (2025-03)`,
  },
  {
    cause: 'model-not-allowed',
    words: anyOf(
      // 无权访问模型: no right to use the model. 模型未开通: the model is not activated.
      `(?:无权|没有权限|未(?:被)?授权|未开通|未开放|禁止|不允许|无法).{0,10}${zh.model}`,
      `${zh.model}.{0,40}(?:无权|未开通|未授权|未开放|没有权限|权限不足|禁用)`,
      `没有.{0,8}${zh.model}.{0,6}(?:权限|使用权|访问权|资格)`,
      `${zh.model}.{0,12}(?:不在.{0,8}列表|申请)`,
      // 仅允许模型: only these models.
      `(?:仅|只)(?:可|能|允许|限).{0,8}${zh.model}`,
      `${zh.model}.{0,6}(?:白名单|范围|权限).{0,6}(?:没有|不含|不包|无)`,
    ),
    statuses: notAllowedStatuses,
    source: `${github}/QuantumNous/new-api; https://docs.siliconflow.cn/en/faqs/error-code (2026-11-23)`,
  },
]

/** 不支持工具: "does not support tools" is about the request. */
const notAboutRequest =
  '(?!.{0,10}(?:工具|参数|函数|流式|图片|图像|接口|协议|function|tool|stream|api))'

/** The gateway does not serve the model, or knows no provider for it. */
const unknownRows: readonly CauseRow[] = [
  {
    cause: 'model-unknown',
    words: anyOf(...goneModel),
    source: `${github}/anyme123/Any-code/issues/1 (2025-07), ${github}/iOfficeAI/AionCore/pull/377 (2026-06)`,
  },
  {
    cause: 'model-unknown',
    words: anyOf(
      // No available channel for this model. No provider for gpt-5.6-sol.
      String.raw`\bno (?:\w+ ){0,3}(?:routes?|channels?|providers?|deployments?|backends?|endpoints?|instances?|servers?|replicas?|workers?|distributors?|adapters?|handlers?|engines?)\b(?:.{0,40}\bmodel\b| (?:\w+ )?for\b)`,
      String.raw`\bnot one of the (?:\w+ )?models\b`,
      // Unknown provider for model gpt-5.6-sol. Could not load the model.
      String.raw`\b(?:unknown|invalid) provider for\b`,
      String.raw`\b(?:could not|failed to|cannot|unable to) (?:load|find|resolve|locate|route|map|match|serve|schedule) (?:\w+ ){0,2}model\b`,
      String.raw`\bno (?:active )?credentials for provider\b`,
      String.raw`\bllm provider not provided\b`,
    ),
    source: '9router, 2026-11-22; LocalAI, CLIProxyAPI, Envoy and Cloudflare, 2026-11-24',
  },
  {
    cause: 'model-unknown',
    words: anyOf(
      // 无可用渠道: no available channel.
      '(?:没有|无)可用.{0,40}(?:渠道|通道)',
      // 模型不存在: the model does not exist. 模型已下线: the model was taken offline.
      `${zh.model}.{0,30}(?:不存在|未找到|找不到|无效|未知|已?下线|已?下架|未(?:在.{0,6})?上架|未部署|已?停止服务|无可用渠道|没有可用|名称?(?:错误|有误|不正确)|不支持${notAboutRequest})`,
      // 无法匹配模型: cannot match the model. 未知模型: unknown model.
      `(?:未能|无法|不能|没能)(?:匹配|找到|定位|路由|识别|解析).{0,6}${zh.model}`,
      `(?:不存在|未知|无效|不支持|找不到|未找到|没有)(?:的|该|此|这个|具体|任何|当前|指定| ){0,3}${zh.model}`,
    ),
    source: `${github}/QuantumNous/new-api, 2026-11-21; https://docs.z.ai/api-reference/api-code (2026-11-24)`,
  },
  {
    cause: 'provider-unknown',
    words: /\b(?:unknown|invalid) provider\b/i,
    source: 'Cloudflare AI Gateway, code 2008, 2026-11-24',
  },
]

/** The gateway does not serve the protocol, or not for this model. */
const protocolRows: readonly CauseRow[] = [
  {
    cause: 'protocol',
    // Unknown endpoint. The path does not exist.
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
]

export const modelRows = [
  ...modelCodeRows,
  ...ambiguousRows,
  ...notAllowedRows,
  ...unknownRows,
  ...protocolRows,
]
