/**
 * What English error messages say, as parts of patterns: first the states of things, then the things.
 * Each line of a list has phrases of one kind. A comment quotes a sentence that the part matches, and often
 * one that it does not.
 */
import { either, notOfKeys, phrases, wholeWords } from './patterns.ts'

// States.

const not = either(
  String.raw`\b(?:not|never|cannot|unable to|no longer|is ?n[o']t|are ?n[o']t|does ?n[o']t|do ?n[o']t|can ?n[o']t|may not|must not)\b`,
  String.raw`n['’]t\b`,
)

/** A negation, up to three words, and one of the verbs: "is **not** currently **available**". */
function negated(...verbs: readonly string[]): string {
  return String.raw`${not}(?:[ -][\w-]+){0,3}?[ -]${either(...verbs)}\b`
}

/** The user may not use a thing: "You are **not allowed** to use this model". Not: "Your region is not supported". */
export const notAllowed = either(
  negated(
    ...phrases`
      allow\w* | authori[sz]\w* | permit\w* | permissions? | accept\w* | grant\w*
      entitled | eligible | approved | white-?listed | allow-?listed
      use | used | access | invoke | call
    `,
  ),
  wholeWords(
    ...phrases`
      unauthori[sz]ed | disallowed | denied | denies | deny | forbidden | forbids | prohibited
      reject(?:ed|s|ing)? | refused | restrict(?:ed|ion|ions|s) | block(?:ed|s|ing)? | banned
      (?:black|deny)-?listed | excluded | ineligible | embargoed | (?:turned|switched) off
      no (?:\w+ ){0,2}(?:entitlements?|grants?|permissions?|access|rights?)
    `,
  ),
)

/** Nobody is served the thing here: "Your region is **not supported**". */
const notServed = either(
  negated(
    ...phrases`
      support\w* | available | enabled | served | offer\w* | provide\w* | launched | open(?:ed)?
      included? | cover\w* | recogni[sz]ed? | serve | match
    `,
  ),
  String.raw`\b(?:unsupported|unavailable)\b`,
)

/** The user may not use a thing, or nobody is served it here. */
export const denied = either(notAllowed, notServed)

/** A thing has ended, or somebody ended it: "This key was **revoked**", "The plan has **expired**". */
const ended = either(
  ...phrases`
    (?:came|comes|come) to an end
    (?:pending|scheduled for|marked for) (?:deletion|closure|removal)
    (?:turned|switched) off | shut down | reclaimed | expired | revoked | disabled | deactivated
    deleted | removed | archived | suspended | paused | inactive | frozen | locked | closed
    terminated | cancell?ed | withdrawn | rotated | regenerated | replaced | retired | dissolved | ended
  `,
)

/** The same, or someone is kept out: "Your organization has been **banned**". Not: "Your plan ends soon". */
const stopped = either(ended, ...phrases`blocked | banned | (?:black|deny)-?listed`)

/** A credential does not work: "**Invalid** API key", "The token could **not be verified**". Not: "Use an API key". */
export const broken = either(
  wholeWords(
    stopped,
    ...phrases`
      invalid | incorrect | wrong | malformed | missing | bad | unknown | unrecogni[sz]ed
      unregistered | leaked | compromised | mismatch(?:ed)? | rejected | required? | absent | empty
      illegal | stale | outdated | fail(?:s|ed|ure)? | flagged | corrupt\w*
      must (?:be|look|start|begin|have|contain)
      past (?:its|their) | ran out | too (?:short|long)
      on (?:the|our|a) (?:revocation|block|deny|black)[- ]?list
      (?:could not|couldn['’]t|cannot|can['’]t|failed to|unable to)(?! reach| connect)
      no
    `,
  ),
  negated(
    ...phrases`
      valid | found | recogni[sz]ed | active | exist | provided? | supplied | present
      authori[sz]ed | registered | match | verif\w* | validated? | belong | accepted | known
      us(?:ed|able) | work\w* | correct | sent | set | parse[ds]? | get | looks? | like
    `,
  ),
)

/** An account, or what it belongs to, may not act: "Your account is **under review**". Not: "limited to 5 keys". */
export const held = either(
  wholeWords(
    stopped,
    ...phrases`
      suspension | restricted | limited(?! to) | un-?verified
      (?:hold|lock|freeze|block|ban) on | delinquent | flagged
      denied access | access (?:is |was )?denied | on hold | under review
      (?:pending|a?waiting)(?: for)? (?:\w+ )?(?:review|approval|verification|activation|confirmation)
      under investigation
    `,
  ),
  String.raw`\b(?:needs?|requires?|must|has|have)(?: to)? be (?:\w+ )?(?:approved|verified|activated|confirmed|linked|bound|completed)\b`,
  negated(
    ...phrases`
      active | activated | verified | approved | enabled | opened | open | in good standing
      completed | confirmed | accepted | opted in
    `,
  ),
)

/** Somebody has used all of something: "You have **exceeded** your quota". */
export const consumed = wholeWords(
  ...phrases`
    exhausted | exceed(?:ed|s|ing)? | depleted | drained | consumed | finished | gone
    us(?:ed|ing) (?:up|all) | burn(?:ed|t) through | full
    r[au]n (?:out|dry) | running out | reached | hit
  `,
)

/** Money or a quota is used up: "**Insufficient** balance". Not: "Your balance is $5". */
export const usedUp = either(
  consumed,
  wholeWords(
    ...phrases`
      insufficient | not enough | low | negative | more than your | out of | overdue | over | zero
      spent | unpaid | arrears | past due | empty | no | none
    `,
  ),
)

/** A plan has ended, or does not cover something: "A Pro plan is **required**". Not: "You have a Pro plan". */
export const lapsed = either(
  wholeWords(
    ended,
    ...phrases`
      lapsed | past due | unpaid | overdue | invalid | missing | required | only | too low
      (?:starts?|available) (?:at|with|from|in|on) | or (?:higher|above) | at least
      requires? | needs? | upgrade | purchase | buy | renew | subscribe
      without | over | part of | reserved for | no
    `,
  ),
  negated(
    ...phrases`
      active | valid | found | includ\w* | support\w* | cover\w* | allow\w* | available | eligible
      entitled | permit\w* | subscribed | purchased | part of
    `,
  ),
)

// Things.

/** A credential: "API key", "access token", "x-api-key", "authorization header". Not: "key", "input tokens". */
export const secret = wholeWords(
  ...phrases`
    (?:api|access|secret|bearer|auth\w*|security|subscription|virtual|id|login|app|master|proxy|service)[-_ ]?(?:keys?|tokens?|secrets?)(?: ?ids?)?
    apikeys? | x-api-key | secret ?ids? | credentials? | jwt | signature(?!.{0,15}thinking)
    authori[sz]ation(?: (?:header|field|token)\b)?
    authentication (?:header|token|credentials?|information)
  `,
)

/** A word for a key that has other meanings too: "key", "token". */
export const bareSecret = String.raw`(?<!unexpected )\b(?:keys?|token|secret|sk)\b(?!\s*["'\x60(:])${notOfKeys}`

const notTheActor = String.raw`(?<!\bby (?:its|the|an?|your) (?:\w+ )?)`
const notAboutItsRequest = '(?! (?:agents?|errors?|prompts?|messages?|content|input|keys?|tokens?))'

/** Who has the key: "your account", but not the one who did something, as in "disabled by its owner". */
export const holder =
  notTheActor +
  wholeWords(
    ...phrases`
      accounts? | users?(?: ?ids?)? | members?(?:hips?)? | organi[sz]ations? | orgs? | workspaces?
      teams? | tenants? | projects? | customers? | owners? | profiles? | subscribers? | consumers?
      compan(?:y|ies) | groups?
    `,
  ) +
  notAboutItsRequest

/** What pays for requests: "credit balance", "monthly spend limit". Not: "thinking budget", "rate limit". */
export const money = wholeWords(
  ...phrases`
    balance | allotments?
    (?:allotted|allowed|included|monthly|daily|weekly|token|free) usage
    usage (?:allowance|cap|quota) | credits? | funds | quota | allowance
    (?<!thinking )budgets?(?![_ ]tokens) | spend(?:ing)?(?: (?:limit|cap))?
    (?:key|usage|cost|credit|billing|payment|monthly|weekly|daily) (?:limits?|caps?)
    payment method | coins | bills? | billing | wallet | payments? | invoices?
    free (?:quota|usage|allowance|allocation)
  `,
)

/** "Coding plan", "subscription", "free tier". Not: "subscription key", "license agreement". */
export const plan = wholeWords(
  ...phrases`
    (?:coding |token )?plans? | (?:your|my|pro|plus|premium|vip) memberships?
    subscriptions?(?! ?keys?) | package | licen[cs]es?(?! (?:agreement|server))
    free[- ]tier | paid tier | tier | trial
  `,
)

/** "Country", "your location". */
export const country = wholeWords(
  ...phrases`
    country | countries | regions? | territor(?:y|ies) | locations? | jurisdictions?
    geograph\w+ | geo | (?:your|this) area | where you are(?: located)? | mainland china
  `,
)

/** Where a request comes from: "IP address", "virtual network". Not: "network error". */
export const network = wholeWords(
  ...phrases`
    ips? | ip address(?:es)? | ip ranges? | (?:source|client|remote) address(?:es)?
    cidrs? | subnets? | virtual networks? | vnet | private (?:endpoints?|links?)
    public (?:network )?access | (?:corporate|internal|trusted|company|private) network
    (?:your|this) network | data ?cent(?:er|re)s? | ip reputation
  `,
)

const notInAPath = String.raw`(?<![\w/.]|(?<!\bnon)-)`
const notInAModelId = String.raw`(?![-\w.]*(?: \w+)? ?models?\b)(?!-\w)`

/** Programs that gateways reserve themselves for: "Claude Code", "official clients". Not: "the codex-mini model". */
export const clientName =
  notInAPath +
  either(
    ...phrases`
      (?:claude|qwen|kimi|roo|kilo)[- _]?(?:code|cli)
      codex(?:[- _]?cli)? | opencode | gemini[- _]?cli | cline | cursor | copilot
      coding (?:agents?|tools?|assistants?)
      (?:official|approved|supported|certain|specific|whitelisted) (?:cli|clients?|apps?|tools?)
    `,
  ) +
  notInAModelId

/** Words for a program: "client", "third-party app", but not "client error". */
export const client =
  wholeWords(
    ...phrases`
      clients? | cli | user[- ]?agents?
      third[- ]party (?:\w+ )?(?:apps?|tools?|clients?|software|harness(?:es)?)
    `,
  ) +
  String.raw`(?! (?:errors?|ids?|secrets?|auth\w*|cert\w*|credentials?|ip|addresse?s?|tokens?|keys?|side|closed|network))`

/** "Model", without what follows. */
export const anyModel = String.raw`\bmodels?\b`

/** "Model", with an ID if one follows: "the model 'gpt-5.6-sol'". */
const modelWithId = String.raw`\b(?:models?|deployments?)\b(?: (?:id|name|identifier|code|version|deployment)\b)?[\s:="'\x60]{0,3}(?:[\w./:@-]{1,120})?["'\x60]?,?`

/** Words between a model and its state: "the model **you requested is** unavailable". */
const fillers = either(
  ...phrases`
    is | was | are | has | have | had | does | do | could | can | been | be
    currently | yet | longer | no | you | asked for | requested | specified | provided | selected
    reached | the | id | name | identifier | version | deployment | in the request
  `,
)

/** "Not supported **with tools**" is about the request, not about the model. */
const notOverAnotherRoute = String.raw`(?! (?:in|on|for|with|by|via|at|when) (?:the |this |an? )?(?:\/?v\d|end ?point|api|responses|chat|messages|tool|function|stream|protocol|image|route))`

/** What a gateway does with the models that it serves. */
const served = either(
  ...phrases`
    found | exists?\b | available | deployed | loaded | recogni[sz]ed | valid | served | configured
    registered | listed | hosted | supported${notOverAnotherRoute} | support(?=$|["'.,!])
  `,
)

/** What a model is that the gateway does not serve, or no longer. */
const goneState = either(
  String.raw`(?:not|\w+n['’]t) (?:yet )?(?:be )?${served}`,
  ...phrases`
    doesn['’]t exist | unknown | unsupported | unavailable | invalid | no longer | deprecated
    retired | removed | sunset
    (?:not|\w+n['’]t) (?:in|on|among|part of) (?:\w+ )?(?:catalog(?:ue)?|lists?|registry|menu|line-?up)
    decommissioned | discontinued | offline | shut down | end[- ]of[- ]life | end of its life
  `,
)

/** What precedes a model that does not exist: "**no such** model". */
const goneAdjective = wholeWords(
  ...phrases`
    unknown | unsupported | invalid | incorrect | wrong | unrecogni[sz]ed | non-?existent
    no such | unavailable | retired | deprecated | bad
  `,
)

/** A model does not exist here, or no longer. */
export const goneModel = [
  // The model gpt-5.6-sol does not exist.
  `${modelWithId}(?: ${fillers})* ?${goneState}`,
  // Invalid model. Unknown or unsupported requested model.
  String.raw`${goneAdjective}(?: or \w+)?(?: (?:the|requested|specified|provided|target))* models?\b(?! (?:parameter|config\w*|settings?))`,
  String.raw`\bmodels?\b not (?:found|exist\b)`,
  ...phrases`\bnot found the model\b | \bnot a valid model\b`,
] as const
