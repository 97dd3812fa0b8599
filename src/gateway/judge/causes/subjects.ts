/**
 * Reads a rejection that no row matches, as a careful person does: which one thing is the sentence about, and
 * does it say that something is wrong with it? If a sentence is about two things, repoint does not guess.
 *
 * An example: "Your workspace is not ready" names a holder only, so the cause is `account`. "Your workspace is
 * in arrears" names a holder and a debt, so it has no cause here.
 */
import { zh } from './chinese.ts'
import { either, notOfKeys, phrases, wholeWords } from './patterns.ts'
import type { Cause } from './row.ts'

interface Subject {
  readonly words: RegExp
  /** Undefined: the cause is the request itself. repoint then shows the gateway's words. */
  readonly cause: Cause | undefined
}

/** All matches, so that the words of one subject can be taken out of a sentence before the next. */
function all(...alternatives: readonly string[]): RegExp {
  return new RegExp(either(...alternatives), 'gi')
}

const program = wholeWords(...phrases`clients? | applications? | user[- ]agents? | cli`)

/** The things that gateways reject requests for. A word counts for the first thing only. */
const subjects: readonly Subject[] = [
  {
    cause: undefined,
    words: all(
      // Names of members, paths in a body, and values: `max_tokens`, `messages[0].content`, `store=true`.
      ...phrases`\b[a-z]+(?:_[a-z]+)+\b | \w\[\d+\] | \b[a-z]\w*\.\d+\b | \b\w+=\w+`,
      wholeWords(
        ...phrases`
          parameters? | fields? | arguments? | schema | json | tools? | functions? | context | cached?
          max(?:imum)? tokens | input tokens | messages? | values? | resources? | perform | thinking
          (?<!\bauth\w* )headers?
        `,
      ),
      ...phrases`参数 | 字段 | 长度 | 格式 | 请求体 | 工具 | 上下文`,
    ),
  },
  {
    cause: 'key',
    words: all(
      String.raw`\b(?:authori[sz]ation|authentication|auth)(?: header| token)?\b`,
      String.raw`\b(?:api[- ]?|access |secret )?keys?\b`,
      String.raw`\btoken\b${notOfKeys}`,
      wholeWords(
        ...phrases`
          credentials? | secret | (?:personal|access|service|api|user) tokens | bearer | jwt
          log ?in | signature
        `,
      ),
      zh.secret,
      '登录',
    ),
  },
  {
    cause: 'plan',
    words: all(
      String.raw`\b(?:coding )?plans?\b`,
      wholeWords(...phrases`subscriptions? | memberships? | tier | trial | licen[cs]e key`),
      ...phrases`套餐 | 订阅 | 会员 | 资源包 | [年月季周]卡 | 包[年月]`,
    ),
  },
  {
    cause: 'quota',
    words: all(
      wholeWords(
        ...phrases`
          balance | credits? | invoices? | bills? | billing | payments? | budgets? | quota | funds
          wallet | usage | spend(?:ing)? | allowance | top[- ]?up | recharge | arrears
        `,
      ),
      zh.money,
      ...phrases`用量 | 缴费 | 付款 | 欠费`,
    ),
  },
  {
    cause: 'network',
    words: all(
      wholeWords(
        ...phrases`
          ips? | (?:source|client|remote) address | source (?=\d) | allow-?lists? | vpn | network
          \d{1,3}(?:\.\d{1,3}){3}
        `,
      ),
      ...phrases`网络 | 网段 | 白名单`,
    ),
  },
  {
    cause: 'region',
    words: all(
      wholeWords(...phrases`country | countries | regions? | territor(?:y|ies) | locations? | geo`),
      zh.country,
    ),
  },
  {
    cause: 'client',
    words: all(`${program}(?! errors?)`, zh.client),
  },
  {
    cause: 'model-unknown',
    // Not after a preposition: "insufficient balance for this model" is about the balance.
    words: all(
      String.raw`(?<!\b(?:for|with|by|on|in|of)(?: \w+)? )\b(?:models?|(?<!(?:policy|rule)s? )engines?|deployments?)\b`,
      '模型(?!服务)',
    ),
  },
  {
    cause: 'rate',
    words: all(
      wholeWords(
        ...phrases`
          frequency | concurrency | traffic | queue | burst | throughput | cool-?down | \d+ requests?
        `,
      ),
      ...phrases`频率 | 并发 | 排队 | 流量 | 负载`,
    ),
  },
  {
    cause: 'content',
    words: all(
      wholeWords(...phrases`prompts? | safety | harmful | jailbreak`),
      ...phrases`敏感 | 违规 | 不当`,
    ),
  },
  {
    cause: 'account',
    words: all(
      `${wholeWords(
        ...phrases`
          accounts? | organi[sz]ations? | users?(?! must be) | workspaces? | tenants? | teams?
          projects? | members? | registration | identity | verification | onboarding | agreements?
          terms of \w+
        `,
      )}(?! errors?)`,
      zh.holder,
      ...phrases`协议 | 注册 | 认证 | 资质 | 手机 | 邮箱 | 身份证`,
    ),
  },
]

/** Something is wrong, or something has to be done first: "is not ready", "please verify", "过期". */
const wrong = new RegExp(
  either(
    wholeWords(
      ...phrases`
        not | no | none | nothing | never | cannot | without
        in(?:valid|active|complete|correct|eligible) | un\w+
        denied | rejected | refused | forbidden | blocked | banned | barred | expired | withdrawn
        removed | revoked | disabled | suspended | frozen | locked | closed
        missing | required? | requires | must | should | needs? | only | please
        a?waiting | pending | outstanding | overdue | exhausted | exceeded | reached | restricted
        failed | failure | wrong | bad | illegal | gone | ended | deleted | off | arrears
      `,
    ),
    String.raw`n['’]t\b`,
    ...phrases`
      [未不无没非请禁仅] | 失败 | 错误 | 到期 | 过期 | 失效 | 拒绝 | 超 | 用完 | 受限 | 异常
    `,
  ),
  'i',
)

/** Who may use a thing, and not whether it exists: "access", "permission", "授权". */
const permission = new RegExp(
  either(
    wholeWords(
      ...phrases`
        entitle\w* | grants? | granted | permissions? | allow\w* | access | authori[sz]ed
        invitation | invited | preview | see | approved | eligible
      `,
    ),
    ...phrases`权 | 授权 | 申请`,
  ),
  'i',
)

/** What a 429 can mean. */
const limits: readonly Cause[] = ['rate', 'quota', 'plan']

/** The cause of a rejection that is about one thing. Empty: it is about none, or about several. */
export function causeOfSubject(sentences: readonly string[], status: number): readonly Cause[] {
  const text = sentences.join('. ').replace(/\binvalid[ _]request(?:[ _]error)?\b/gi, '')
  if (!wrong.test(text)) return []

  const [subject, ...more] = subjectsIn(text)
  if (subject?.cause === undefined || more.length > 0) return []
  if (status === 429 && !limits.includes(subject.cause)) return []

  const isPermission = status === 403 || permission.test(text)
  return [subject.cause === 'model-unknown' && isPermission ? 'model-not-allowed' : subject.cause]
}

/** The subjects that a text names. A word that counts for one is taken out before the next is searched. */
function subjectsIn(text: string): readonly Subject[] {
  let unread = text
  return subjects.filter(({ words }) => {
    const before = unread
    unread = unread.replace(words, '…')
    return unread !== before
  })
}
