import type { ErrorCode } from '../../../src/error-codes.ts'

/**
 * Rejections in words that no source in src/gateway/judge/causes quotes: they test the rule behind
 * each class. All are invented after the habits of real gateways.
 */
export interface UnseenRejection {
  readonly who: string
  readonly status: number
  /** JSON, or plain text (a web page if it begins with `<`). */
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly code: ErrorCode
  /** Part of the message or hint that names the cause. */
  readonly says?: RegExp
}

const error = (message: string, more: object = {}) => ({ error: { message, ...more } })
const page = (title: string, text = '') =>
  `<html><head><title>${title}</title></head><body><h1>${title}</h1>${text}</body></html>`

export const unseenRejections: Readonly<Record<string, readonly UnseenRejection[]>> = {
  key: [
    [
      'capitals',
      401,
      {
        Message: 'The security token included in the request is invalid.',
        Code: 'InvalidClientTokenId',
      },
    ],
    ['screaming code', 401, { ERROR: { CODE: 'API_KEY_REVOKED', MESSAGE: 'Revoked.' } }],
    ['code as one word', 403, { code: 'InvalidAccessKey', requestId: 'r-1234' }],
    [
      'leaked',
      403,
      error('This API key has been flagged as compromised and can no longer be used.'),
    ],
    ['Chinese, no such key', 401, { code: 40101, msg: '密钥不存在或已被删除' }],
    ['Chinese, authentication', 401, { success: false, message: '身份验证失败，请检查 API Key' }],
    ['Chinese, 403', 403, { err_no: 9, err_msg: '鉴权失败：apikey 不合法' }],
    ['traditional Chinese', 401, { error: '無效的金鑰' }],
    ['unrecognised', 401, error('Unrecognized credentials')],
    ['unauthorised', 401, { title: 'Unauthorized', status: 401 }],
    ['could not verify', 401, { detail: 'Could not validate credentials' }],
    ['does not match', 401, error('Provided key does not match any project')],
    [
      'in XML',
      403,
      '<?xml version="1.0"?><Error><Code>InvalidAccessKeyId</Code><Message>The access key ID you provided does not exist in our records.</Message></Error>',
    ],
    [
      'a fault of Apigee',
      401,
      { fault: { faultstring: 'Invalid ApiKey', detail: { errorcode: 'oauth.v2.InvalidApiKey' } } },
    ],
    ['text', 401, 'invalid bearer token'],
    [
      'as 400',
      400,
      { errors: [{ message: 'Malformed API token', extensions: { code: 'BAD_TOKEN' } }] },
    ],
    [
      'nested like Tencent',
      401,
      {
        Response: {
          Error: { Code: 'AuthFailure.SecretIdNotFound', Message: 'The SecretId is not found.' },
        },
      },
    ],
    ['in a 200', 200, { header: { code: 11200, message: 'invalid api key' }, success: false }],
  ].map((row) => rejection(row, 'key-rejected')),

  account: [
    ['suspended', 403, error('Your workspace has been suspended. Contact support.')],
    ['screaming code', 401, { code: 'ACCOUNT_SUSPENDED', message: 'See the console' }],
    ['inactive member', 401, { Message: 'Member is not active' }],
    [
      'key of a closed account',
      401,
      error('The account associated with this API key has been closed.'),
    ],
    ['Chinese, frozen', 403, { code: 403001, msg: '该账号已被冻结，请联系客服' }],
    ['Chinese, real name', 403, { success: false, message: '请先完成实名认证后再调用接口' }],
    ['Chinese, phone', 401, error('账户未绑定手机号，暂无法使用')],
    ['verification', 403, error('Please verify your email address before you use the API.')],
    ['terms', 403, error('You must accept the terms of service in the console first.')],
    [
      'temporarily locked',
      403,
      {
        message: 'Your user ID is temporarily locked due to unusual activity',
        reason: 'TEMPORARILY_LOCKED',
      },
    ],
    ['Chinese, violation', 401, error('用户因违规已被限制使用')],
  ].map((row) => rejection(row, 'forbidden', /account/)),

  quota: [
    ['plan expired', 403, { code: 'SubscriptionExpired', message: 'renew it' }],
    ['plan does not include it', 403, error('Your current plan does not include API access.')],
    ['upgrade', 403, error('Upgrade to Pro to use this endpoint.')],
    ['free tier', 403, { code: 'free_tier_exhausted', message: 'Free allowance used up' }],
    ['Chinese, package', 403, { code: 1234, msg: '您的套餐已到期，请续费' }],
    ['Chinese, package as 429', 429, { error: { code: '9309', message: '您的编程套餐已过期' } }],
    ['Chinese, balance as 400', 400, { message: '账户余额不足，请充值' }],
    ['balance as 429', 429, error('Insufficient account balance, please top up.')],
    [
      'spend limit',
      429,
      error('Workspace monthly spend limit reached', { type: 'rate_limit_error' }),
    ],
    ['credits as 401', 401, error('You have run out of credits')],
    [
      'allowance as 200',
      200,
      { base_resp: { status_code: 5999, status_msg: 'insufficient balance' } },
    ],
    ['weekly limit of a plan', 429, error('You have reached the weekly usage limit of your plan')],
    ['overdue', 403, { Code: 'ServiceOverdue', Message: 'Bill overdue' }],
    [
      'no subscription',
      401,
      { code: 'NO_ACTIVE_SUBSCRIPTION', message: 'No active subscription found for this user' },
    ],
    ['token used up, Chinese', 403, error('令牌额度不足')],
    ['payment', 402, { detail: 'x' }],
  ].map((row) => rejection(row, 'quota')),

  rate: [
    ['requests per minute', 429, error('Request was throttled. Expected available in 12 seconds.')],
    ['code in a 400', 400, { code: 'TOO_MANY_REQUESTS', msg: 'slow down' }],
    ['code as words in a 403', 403, error('Rate limit exceeded: 20 requests per minute')],
    ['Chinese', 403, { code: 1, msg: '请求过于频繁，请稍后再试' }],
    ['Chinese, concurrency', 400, error('当前并发数已达上限')],
    [
      'in a stream, with the model',
      200,
      'data: {"type":"response.failed","response":{"error":{"code":"rate_limit_exceeded","message":"Rate limit reached for gpt-5.6-sol in organization org-x on tokens per min (TPM)"}}}\n\n',
    ],
    [
      'quota per minute',
      429,
      error("Quota exceeded for metric 'requests per minute'. Please retry in 36s."),
    ],
    ['AWS', 400, { __type: 'ThrottlingException', message: 'Rate exceeded' }],
  ].map((row) => rejection(row, 'rate-limited')),

  modelUnknown: [
    ['code in capitals', 400, { Code: 'ModelNotExist', Message: 'x' }],
    ['unsupported', 400, error('Unsupported model requested')],
    ['no route', 404, error('no route matched for model', { type: 'route_not_found' })],
    ['not deployed', 404, { message: 'The model is not deployed here' }],
    ['Chinese', 400, { code: 1261, msg: '模型不存在，请检查模型代码' }],
    ['Chinese, not supported', 400, error('当前分组不支持该模型')],
    [
      '500',
      500,
      error('could not load model: open /models/gpt-5.6-sol: no such file or directory'),
    ],
    ['502', 502, error('unknown provider for model gpt-5.6-sol')],
    ['no provider', 400, { error: 'Invalid provider' }],
    ['in other letters', 404, error('Model GPT-5.6-SOL not found')],
    ['no channel, Chinese', 503, error('当前分组 default 下对于模型 gpt-5.6-sol 无可用渠道')],
    ['in a 200', 200, { code: 404, msg: 'model not found', success: false }],
    ['no healthy deployment', 404, error('There are no healthy deployments for this model')],
  ].map((row) => rejection(row, 'model-unknown')),

  modelNotAllowed: [
    ['no access', 403, error('Your team is not entitled to model gpt-5.6-sol')],
    ['code', 403, { code: 'MODEL_ACCESS_DENIED', message: 'denied' }],
    ['Chinese', 403, error('该令牌无权访问模型 gpt-5.6-sol')],
    [
      'Chinese, not opened',
      404,
      { Error: { Code: 'ModelAccessNotOpen', Message: '未开通该模型' } },
    ],
    ['401', 401, error('API key is not authorized to use model gpt-5.6-sol')],
  ].map((row) => rejection(row, 'model-not-allowed')),

  header: [
    ['not provided', 400, error('x-workspace-id not provided'), /x-workspace-id/],
    ['quoted', 403, { detail: "Header 'X-Org-Unit' must be set" }, /x-org-unit/],
    [
      'missing',
      401,
      { Message: 'Missing required request header `CF-Access-Client-Id`' },
      /cf-access-client-id/,
    ],
    [
      'must contain',
      400,
      error('Request must include the Anthropic-Workspace header'),
      /anthropic-workspace/,
    ],
    ['Chinese', 400, { code: 400, msg: '缺少请求头 X-App-Id' }, /x-app-id/],
    [
      'FastAPI',
      422,
      { detail: [{ type: 'missing', loc: ['header', 'x-tenant'], msg: 'Field required' }] },
      /x-tenant/,
    ],
    ['Chinese, behind', 401, { msg: '请求头 X-Project-Token 不能为空' }, /x-project-token/],
  ].map((row) => rejection(row, 'header-missing')),

  region: [
    ['unavailable in area', 403, error('This service is unavailable in your area.')],
    ['code', 403, { code: 'GEO_BLOCKED', message: 'Denied' }],
    ['Chinese', 403, { msg: '您所在的地区暂不支持使用该服务' }],
    ['not from', 400, error('Requests from your country are restricted.')],
    ['jurisdiction', 403, { title: 'Forbidden', detail: 'Not offered in your jurisdiction' }],
  ].map((row) => rejection(row, 'forbidden', /country or region/)),

  network: [
    ['address', 403, error('Source address 203.0.113.7 is not on the allow list')],
    ['Chinese', 403, { msg: 'IP 不在白名单内' }],
    ['VPN', 403, error('Connect to the corporate VPN to use this service')],
    ['code', 401, { code: 'ip_not_authorized', message: 'Rejected' }],
    ['Chinese, forbidden', 403, error('当前 IP 地址被禁止访问')],
  ].map((row) => rejection(row, 'forbidden', /networks/)),

  client: [
    ['only the CLI', 403, error('This key can only be used with Qwen Code')],
    ['unsupported client', 400, error('Unsupported client. Please use the official CLI.')],
    ['Chinese, only', 403, { msg: '本渠道仅支持 Codex CLI 使用' }],
    ['Chinese, not the official one', 400, error('请使用官方 Claude Code 客户端访问')],
    ['Chinese, third party', 403, error('禁止第三方客户端调用')],
    ['code', 403, { code: 'client_restricted', message: 'Denied' }],
    ['code with a name', 403, { error: { code: 'claude_code_access_restricted', message: 'no' } }],
    ['user agent', 403, error('User-Agent not allowed')],
    ['non-', 400, error('non-codex requests are rejected')],
    ['coding tools', 403, error('Coding Plan keys are restricted to supported coding tools')],
    ['invalid request of', 400, error('invalid codex request')],
    ['in a 200', 200, { code: 403, msg: 'Only Claude Code is permitted', success: false }],
  ].map((row) => rejection(row, 'client-refused', /installed client/)),

  upstream: [
    ['code', 401, error('Session expired', { code: 'upstream_auth_failed' })],
    ['words', 401, error('Upstream provider rejected our API key')],
    ['Chinese', 401, error('上游渠道密钥无效')],
    [
      'Python',
      401,
      error(
        'litellm.AuthenticationError: AnthropicException - invalid x-api-key. Received Model Group=x',
      ),
    ],
    ['no accounts', 503, error('No available upstream accounts')],
    ['502', 502, error('Incorrect API key provided: sk-pr***')],
    ['refresh', 401, error('OAuth token refresh failed for account 3')],
    ['Go', 500, error('auth_unavailable: no auth available')],
  ].map((row) => rejection(row, 'gateway-fault')),

  gateway: [
    ['no database', 401, { Error: { Message: 'Database not connected', Type: 'no_db' } }],
    [
      'connection pool',
      400,
      { detail: 'sqlalchemy.exc.OperationalError: could not connect to server' },
    ],
    ['redis', 403, error('dial tcp 127.0.0.1:6379: connect: connection refused')],
    ['maintenance, Chinese', 403, { msg: '系统维护中，请稍后再试' }],
    ['internal', 401, error('Internal server error while validating request')],
    ['tunnel', 404, page('Tunnel offline', 'ERR_NGROK_3200 The endpoint x.ngrok.app is offline.')],
    ['tunnel of Cloudflare', 530, 'error code: 1033'],
  ].map((row) => rejection(row, 'gateway-fault')),

  firewall: [
    ['openresty', 403, page('403 Forbidden', '<hr><center>openresty</center>')],
    [
      'Imperva',
      403,
      page('Access Denied', 'Incapsula incident ID: 1234'),
      undefined,
      { 'x-iinfo': '1' },
    ],
    ['Sucuri', 403, page('Sucuri WebSite Firewall - Access Denied')],
    ['Azure', 403, page('Azure WAF', 'The request is blocked.')],
    [
      'method',
      405,
      '<!doctype html><html><head><title>405</title></head><body>很抱歉，由于您访问的URL有可能对网站造成安全威胁，您的访问被阻断。</body></html>',
    ],
    ['Tencent', 403, page('防护提示', '腾讯云WAF')],
    ['AWS', 403, { message: null }, undefined, { 'x-amzn-waf-action': 'block' }],
    [
      'not acceptable',
      406,
      page(
        'Not Acceptable!',
        'An appropriate representation could not be found. This error was generated by Mod_Security.',
      ),
    ],
  ].map((row) => rejection(row, 'forbidden', /firewall/i)),

  unknown: [
    ['riddle', 401, error('Ticket 4711 pending')],
    ['riddle as 403', 403, { msg: 'Nope' }],
    ['riddle in Chinese', 401, { msg: '请稍候联系张三' }],
    ['policy', 401, { error: 'policy_engine_denied', message: 'Rule 7 matched' }],
  ].map((row) => rejection(row, 'forbidden')),
}

function rejection(row: readonly unknown[], code: ErrorCode, says?: RegExp): UnseenRejection {
  const [who, status, body, own, headers] = row as [
    string,
    number,
    unknown,
    RegExp | undefined,
    Record<string, string> | undefined,
  ]
  const names = own ?? says
  return {
    who,
    status,
    body,
    code,
    ...(names === undefined ? {} : { says: names }),
    ...(headers === undefined ? {} : { headers }),
  }
}
