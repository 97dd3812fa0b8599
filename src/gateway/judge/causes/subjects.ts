/**
 * Reads a rejection that no row matches, as a careful person does: which one thing is the
 * sentence about, and does it say that something is wrong with it? If a sentence is about two things, repoint
 * does not guess.
 */
import type { Cause } from '../answer.ts'
import { zh } from './chinese.ts'

interface Subject {
  readonly words: RegExp
  /** Undefined: the client's request, for which there is no better cause than the gateway's words. */
  readonly cause: Cause | undefined
}

/** The things that gateways reject requests for. A word counts for the first thing only. */
const subjects: readonly Subject[] = [
  // Names of members, paths in a body, and values: `max_tokens`, `messages[0].content`, `store=true`.
  {
    cause: undefined,
    words:
      /\b[a-z]+(?:_[a-z]+)+\b|\w\[\d+\]|\b[a-z]\w*\.\d+\b|\b\w+=\w+|\b(?:parameters?|fields?|arguments?|schema|json|tools?|functions?|context|cached?|max(?:imum)? tokens|input tokens|messages?|values?|resources?|perform|thinking|(?<!\bauth\w* )headers?)\b|参数|字段|长度|格式|请求体|工具|上下文/gi,
  },
  {
    cause: 'key',
    words: new RegExp(
      String.raw`\b(?:authori[sz]ation|authentication|auth)(?: header| token)?\b|\b(?:api[- ]?|access |secret )?keys?\b|\b(?:credentials?|secret|(?:personal|access|service|api|user) tokens|token|bearer|jwt|log ?in|signature)\b|${zh.secret}|登录`,
      'gi',
    ),
  },
  {
    cause: 'plan',
    words:
      /\b(?:coding )?plans?\b|\b(?:subscriptions?|memberships?|tier|trial|licen[cs]e key)\b|套餐|订阅|会员|资源包|[年月季周]卡|包[年月]/gi,
  },
  {
    cause: 'quota',
    words: new RegExp(
      String.raw`\b(?:balance|credits?|invoices?|bills?|billing|payments?|budgets?|quota|funds|wallet|usage|spend(?:ing)?|allowance|top[- ]?up|recharge|arrears)\b|${zh.money}|用量|缴费|付款|欠费`,
      'gi',
    ),
  },
  {
    cause: 'network',
    words:
      /\b(?:ips?|(?:source|client|remote) address|source (?=\d)|allow-?lists?|vpn|network|\d{1,3}(?:\.\d{1,3}){3})\b|网络|网段|白名单/gi,
  },
  {
    cause: 'region',
    words: new RegExp(
      String.raw`\b(?:country|countries|regions?|territor(?:y|ies)|locations?|geo)\b|${zh.country}`,
      'gi',
    ),
  },
  {
    cause: 'client',
    words: new RegExp(
      String.raw`\b(?:clients?|applications?|user[- ]agents?|cli)\b(?! errors?)|${zh.client}`,
      'gi',
    ),
  },
  {
    cause: 'model-unknown',
    words:
      /(?<!\b(?:for|with|by|on|in|of)(?: \w+)? )\b(?:models?|(?<!(?:policy|rule)s? )engines?|deployments?)\b|模型(?!服务)/gi,
  },
  {
    cause: 'rate',
    words:
      /\b(?:frequency|concurrency|traffic|queue|burst|throughput|cool-?down|\d+ requests?)\b|频率|并发|排队|流量|负载/gi,
  },
  {
    cause: 'content',
    words: /\b(?:prompts?|safety|harmful|jailbreak)\b|敏感|违规|不当/gi,
  },
  {
    cause: 'account',
    words: new RegExp(
      String.raw`\b(?:accounts?|organi[sz]ations?|users?(?! must be)|workspaces?|tenants?|teams?|projects?|members?|registration|identity|verification|onboarding|agreements?|terms of \w+)\b(?! errors?)|${zh.holder}|协议|注册|认证|资质|手机|邮箱|身份证`,
      'gi',
    ),
  },
]

/** Something is wrong, or something has to be done first. */
const wrong =
  /\b(?:not|no|none|nothing|never|cannot|without|in(?:valid|active|complete|correct|eligible)|un\w+|denied|rejected|refused|forbidden|blocked|banned|barred|expired|withdrawn|removed|revoked|disabled|suspended|frozen|locked|closed|missing|required?|requires|must|should|needs?|only|please|a?waiting|pending|outstanding|overdue|exhausted|exceeded|reached|restricted|failed|failure|wrong|bad|illegal|gone|ended|deleted|off|arrears)\b|n['’]t\b|[未不无没非请禁仅]|失败|错误|到期|过期|失效|拒绝|超|用完|受限|异常/i

/** Who may use a thing, and not whether it exists. */
const permission =
  /\b(?:entitle\w*|grants?|granted|permissions?|allow\w*|access|authori[sz]ed|invitation|invited|preview|see|approved|eligible)\b|权|授权|申请/i

/** What a 429 can mean. */
const limits: readonly Cause[] = ['rate', 'quota', 'plan']

/** The cause of a rejection that is about one thing. Empty: it is about none, or about several. */
export function causeOfSubject(sentences: readonly string[], status: number): readonly Cause[] {
  const text = sentences.join('. ').replace(/\binvalid[ _]request(?:[ _]error)?\b/gi, '')
  if (!wrong.test(text)) return []

  let rest = text
  const found = subjects.filter(({ words }) => {
    const before = rest
    rest = rest.replace(words, '…')
    return rest !== before
  })
  const [subject] = found
  if (subject?.cause === undefined || found.length > 1) return []
  if (status === 429 && !limits.includes(subject.cause)) return []
  const isPermission = status === 403 || permission.test(text)
  return [subject.cause === 'model-unknown' && isPermission ? 'model-not-allowed' : subject.cause]
}
