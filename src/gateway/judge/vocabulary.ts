/**
 * The words of error messages in English and Chinese, as parts of patterns. Every gateway writes its own
 * sentences, but each sentence names a thing and its state: a key is wrong, an account is blocked, a
 * balance is used up. {@link near} finds such a pair in either order.
 */

/** Anything up to `length` characters within one sentence. The dot of `gpt-5.6-sol` does not end it. */
export function within(length: number, without = ''): string {
  const skipped = without === '' ? '' : `(?!${without})`
  return String.raw`(?:${skipped}(?:[^.;。；!！?？\n]|\.(?=\S))){0,${length}}?`
}

interface Distance {
  /** The most characters between a state and the thing after it: `invalid API key`. */
  readonly before?: number
  /** The most characters between a thing and the state after it: `the key you sent has expired`. */
  readonly after?: number
  /** Words that must not be between the two. */
  readonly without?: string
}

/** A pattern for a thing and its state, in either order, in one sentence. */
export function near(
  thing: string,
  state: string,
  { before = 25, after = 50, without = '' }: Distance = {},
): string {
  return `${thing}${within(after, without)}${state}|${state}${within(before, without)}${thing}`
}

/** A pattern that matches if one of the alternatives does. */
export function anyOf(...alternatives: readonly string[]): RegExp {
  return new RegExp(alternatives.map((one) => `(?:${one})`).join('|'), 'i')
}

const not = String.raw`(?:\b(?:not|never|cannot|unable to|no longer|is ?n[o']t|are ?n[o']t|does ?n[o']t|do ?n[o']t|can ?n[o']t|may not|must not)\b|n['’]t\b)`

/** A negation, up to three words, and one of the words given. */
function negated(words: string): string {
  return String.raw`${not}(?:[ -][\w-]+){0,3}?[ -](?:${words})\b`
}

/** The sender may not use a thing. */
export const refused = String.raw`(?:${negated(String.raw`allow\w*|authori[sz]\w*|permit\w*|permissions?|accept\w*|grant\w*|entitled|eligible|approved|white-?listed|allow-?listed|use|used|access|invoke|call`)}|\b(?:unauthori[sz]ed|disallowed|denied|denies|deny|forbidden|forbids|prohibited|reject(?:ed|s|ing)?|refused|restrict(?:ed|ion|ions|s)|block(?:ed|s|ing)?|banned|(?:black|deny)-?listed|excluded|ineligible|embargoed|(?:turned|switched) off|no (?:\w+ ){0,2}(?:entitlements?|grants?|permissions?|access|rights?))\b)`

/** A thing is not served here at all. */
const unserved = String.raw`(?:${negated(String.raw`support\w*|available|enabled|served|offer\w*|provide\w*|launched|open(?:ed)?|included?|cover\w*|recogni[sz]ed?|serve|match`)}|\b(?:unsupported|unavailable)\b)`

export const denied = `(?:${refused}|${unserved})`

/** A thing has ended, or somebody ended it: a key, an account, a plan. */
const ended = `(?:(?:came|comes|come) to an end|(?:pending|scheduled for|marked for) (?:deletion|closure|removal)|(?:turned|switched) off|shut down|reclaimed|expired|revoked|disabled|deactivated|deleted|removed|archived|suspended|paused|inactive|frozen|locked|closed|terminated|cancell?ed|withdrawn|rotated|regenerated|replaced|retired|dissolved|ended)`

/** The same, or a sender is kept out. */
const stopped = `(?:${ended}|blocked|banned|(?:black|deny)-?listed)`

/** A credential does not work. */
export const broken = String.raw`(?:\b(?:${stopped}|invalid|incorrect|wrong|malformed|missing|bad|unknown|unrecogni[sz]ed|unregistered|leaked|compromised|mismatch(?:ed)?|rejected|required?|absent|empty|illegal|stale|outdated|fail(?:s|ed|ure)?|flagged|corrupt\w*|must (?:be|look|start|begin|have|contain)|past (?:its|their)|ran out|too (?:short|long)|on (?:the|our|a) (?:revocation|block|deny|black)[- ]?list|(?:could not|couldn['’]t|cannot|can['’]t|failed to|unable to)(?! reach| connect)|no)\b|${negated(String.raw`valid|found|recogni[sz]ed|active|exist|provided?|supplied|present|authori[sz]ed|registered|match|verif\w*|validated?|belong|accepted|known|us(?:ed|able)|work\w*|correct|sent|set|parse[ds]?|get|looks?|like`)})`

/** An account, or what it belongs to, may not act. */
export const held = String.raw`(?:\b(?:${stopped}|suspension|restricted|limited(?! to)|un-?verified|(?:hold|lock|freeze|block|ban) on|delinquent|flagged|denied access|access (?:is |was )?denied|on hold|under review|(?:pending|a?waiting)(?: for)? (?:\w+ )?(?:review|approval|verification|activation|confirmation)|under investigation)\b|\b(?:needs?|requires?|must|has|have)(?: to)? be (?:\w+ )?(?:approved|verified|activated|confirmed|linked|bound|completed)\b|${negated('active|activated|verified|approved|enabled|opened|open|in good standing|completed|confirmed|accepted|opted in')})`

/** Somebody has used all of something. */
export const consumed = String.raw`\b(?:exhausted|exceed(?:ed|s|ing)?|depleted|drained|consumed|finished|gone|us(?:ed|ing) (?:up|all)|burn(?:ed|t) through|full|r[au]n (?:out|dry)|running out|reached|hit)\b`

/** Money or a quota is used up. */
export const usedUp = String.raw`(?:${consumed}|\b(?:insufficient|not enough|low|negative|more than your|out of|overdue|over|zero|spent|unpaid|arrears|past due|empty|no|none)\b)`

/** A plan or a subscription has ended, or does not cover something. */
export const lapsed = String.raw`(?:\b(?:${ended}|lapsed|past due|unpaid|overdue|invalid|missing|required|only|too low|(?:starts?|available) (?:at|with|from|in|on)|or (?:higher|above)|at least|requires?|needs?|upgrade|purchase|buy|renew|subscribe|without|over|part of|reserved for|no)\b|${negated(String.raw`active|valid|found|includ\w*|support\w*|cover\w*|allow\w*|available|eligible|entitled|permit\w*|subscribed|purchased|part of`)})`

export const secret = String.raw`\b(?:(?:api|access|secret|bearer|auth\w*|security|subscription|virtual|id|login|app|master|proxy|service)[-_ ]?(?:keys?|tokens?|secrets?)(?: ?ids?)?|apikeys?|x-api-key|secret ?ids?|credentials?|jwt|signature(?!.{0,15}thinking)|authori[sz]ation(?: (?:header|field|token)\b)?|authentication (?:header|token|credentials?|information))\b`

/** A word for a key that has other meanings too. */
export const bareSecret = String.raw`(?<!unexpected )\b(?:keys?|token|secret|sk)\b(?!\s*["'\x60(:])(?! (?:count|limit|length|budget|usage|bucket|quota|id|type|pool|error))`

/** Not the one who did something: `disabled by its owner`. */
export const holder = String.raw`(?<!\bby (?:its|the|an?|your) (?:\w+ )?)\b(?:accounts?|users?(?: ?ids?)?|members?(?:hips?)?|organi[sz]ations?|orgs?|workspaces?|teams?|tenants?|projects?|customers?|owners?|profiles?|subscribers?|consumers?|compan(?:y|ies)|groups?)\b(?! (?:agents?|errors?|prompts?|messages?|content|input|keys?|tokens?))`

export const money = String.raw`\b(?:balance|allotments?|(?:allotted|allowed|included|monthly|daily|weekly|token|free) usage|usage (?:allowance|cap|quota)|credits?|funds|quota|allowance|(?<!thinking )budgets?(?![_ ]tokens)|spend(?:ing)?(?: (?:limit|cap))?|(?:key|usage|cost|credit|billing|payment|monthly|weekly|daily) (?:limits?|caps?)|payment method|coins|bills?|billing|wallet|payments?|invoices?|free (?:quota|usage|allowance|allocation))\b`

export const plan = String.raw`\b(?:(?:coding |token )?plans?|(?:your|my|pro|plus|premium|vip) memberships?|subscriptions?(?! ?keys?)|package|licen[cs]es?(?! (?:agreement|server))|free[- ]tier|paid tier|tier|trial)\b`

export const country = String.raw`\b(?:country|countries|regions?|territor(?:y|ies)|locations?|jurisdictions?|geograph\w+|geo|(?:your|this) area|where you are(?: located)?|mainland china)\b`

export const network = String.raw`\b(?:ips?|ip address(?:es)?|ip ranges?|(?:source|client|remote) address(?:es)?|cidrs?|subnets?|virtual networks?|vnet|private (?:endpoints?|links?)|public (?:network )?access|(?:corporate|internal|trusted|company|private) network|(?:your|this) network|data ?cent(?:er|re)s?|ip reputation)\b`

/** Programs that gateways reserve themselves for, and words for programs like them. */
export const clientName = String.raw`(?<![\w/.]|(?<!\bnon)-)(?:(?:claude|qwen|kimi|roo|kilo)[- _]?(?:code|cli)|codex(?:[- _]?cli)?|opencode|gemini[- _]?cli|cline|cursor|copilot|coding (?:agents?|tools?|assistants?)|(?:official|approved|supported|certain|specific|whitelisted) (?:cli|clients?|apps?|tools?))(?![-\w.]*(?: \w+)? ?models?\b)(?!-\w)`

export const client = String.raw`\b(?:clients?|cli|user[- ]?agents?|third[- ]party (?:\w+ )?(?:apps?|tools?|clients?|software|harness(?:es)?))\b(?! (?:errors?|ids?|secrets?|auth\w*|cert\w*|credentials?|ip|addresse?s?|tokens?|keys?|side|closed|network))`

/** The word, and the model's ID after it. */
export const model = String.raw`\b(?:models?|deployments?)\b(?: (?:id|name|identifier|code|version|deployment)\b)?[\s:="'\x60]{0,3}(?:[\w./:@-]{1,120})?["'\x60]?,?`

/** The word without anything after it. */
export const anyModel = String.raw`\bmodels?\b`

/** Words between a model and its state. */
const copula = `(?: (?:is|was|are|has|have|had|does|do|could|can|been|be|currently|yet|longer|no|you|asked for|requested|specified|provided|selected|reached|the|id|name|identifier|version|deployment|in the request))*`

const otherRoute = String.raw`(?! (?:in|on|for|with|by|via|at|when) (?:the |this |an? )?(?:\/?v\d|end ?point|api|responses|chat|messages|tool|function|stream|protocol|image|route))`

/** A model does not exist here, or no longer. */
export const goneModel = [
  String.raw`${model}${copula} ?(?:(?:not|\w+n['’]t) (?:yet )?(?:be )?(?:found|exists?\b|available|deployed|loaded|recogni[sz]ed|valid|served|configured|registered|listed|hosted|supported${otherRoute}|support(?=$|["'.,!]))|doesn['’]t exist|unknown|unsupported|unavailable|invalid|no longer|deprecated|retired|removed|sunset|(?:not|\w+n['’]t) (?:in|on|among|part of) (?:\w+ )?(?:catalog(?:ue)?|lists?|registry|menu|line-?up)|decommissioned|discontinued|offline|shut down|end[- ]of[- ]life|end of its life)`,
  String.raw`\b(?:unknown|unsupported|invalid|incorrect|wrong|unrecogni[sz]ed|non-?existent|no such|unavailable|retired|deprecated|bad)(?: or \w+)?(?: (?:the|requested|specified|provided|target))* models?\b(?! (?:parameter|config\w*|settings?))`,
  String.raw`\bmodels?\b not (?:found|exist\b)|\bnot found the model\b|\bnot a valid model\b`,
] as const

/** The same in Chinese, which has no spaces and no inflection. */
export const zh = {
  model: String.raw`(?:模型|\bmodel\b)`,
  secret: String.raw`(?:令牌|\bkey\b|密钥|密鑰|金鑰|钥匙|秘钥|api ?key|apikey|access ?key|secret ?(?:id|key)|token|鉴权|认证|認證|身份验证|身份校验|身份信息|凭证|凭据|签名)`,
  broken:
    '(?:无效|無效|错误|錯誤|过期|過期|到期|失效|回收|收回|作废|不正确|不合法|非法|禁用|停用|删除|吊销|撤销|注销|不存在|不(?:匹配|符|一致)|失败|缺失|缺少|为空|未提供|未通过|不通过|没通过|有误|不可用|不匹配|封禁|冻结|泄露|禁止)',
  holder:
    '(?:账号|账户|帐号|帐户|賬號|帳號|用户|用戶|组织|企业|团队|租户|分组|项目)(?!.{0,6}(?:令牌|密钥|模型|余额|额度))',
  held: '(?:封禁|封号|封停|禁用|停用|冻结|凍結|锁定|注销|异常|限制|(?:(?:未|没有?)(?:完成|通过|进行)?|需要?完成|请完成).{0,4}(?:激活|绑定|认证|实名|验证|审核|识别)|审核|解散|违规|停权|暂停|管控|风控|拉黑|黑名单|未启用|过期|到期|不存在)',
  money: '(?:额度|余额|餘額|配额|积分|点数|算力|费用|预算|账单|消费|花费|限额|使用上限)',
  usedUp:
    '(?:不足|不够|为 ?0|用尽|用完|用光|耗尽|殆尽|花完|花光|见底|小于|低于|仅剩|只剩|超|已达|达到|上限|为零|为负|逾期|透支|限制)',
  plan: '(?:套餐|订阅|訂閱|会员|资源包|流量包|体验包|编程包)',
  lapsed:
    '(?:到期|过期|失效|结束|终止|未|不支持|不包含|不可|不适用|无|没有|余量为 ?0|用完|用尽|耗尽|不足|升级|购买|续费|开通|暂停|冻结)',
  country: '(?:地区|国家|区域|所在地|地域|地區|國家|境内|境外|大陆)',
  network: String.raw`(?:\bip\b|网段|内网|来源(?:地址|ip)|所在网络|当前网络)`,
  denied:
    '(?:无.{0,4}权限|不(?:受支持|被|支持|支援|允许|可用|在|能|属于|开放|对|向|提供)|暂不|未(?:开放|授权|对)|无法|无权|禁止|拒绝|受限|限制|仅限|仅对|仅向|黑名单|拉黑|只能|只允许|拦截|封禁|屏蔽)',
  client:
    '(?:客户端|claude ?(?:code|cli)|codex|opencode|cli\\b|编程工具|编码工具|coding ?(?:agent|tool))(?!.{0,6}模型)(?!-)',
} as const
