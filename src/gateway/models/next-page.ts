import { asObject, jsonIn } from '../foreign-text.ts'

/** What one page of a list of models says about the next. */
export interface PageAnswer {
  /** Where it was read. */
  readonly url: string
  /** In lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** How far the list has been read. */
export interface ReadSoFar {
  /** Entries on this page and on all so far. */
  readonly onPage: number
  readonly total: number
  readonly lastId: string | undefined
}

/**
 * The address of the next page: a link in a header or in the body, a token, the last ID, or the number of
 * the next page. Never of another origin or path, since the key is sent there. Undefined: the page says
 * nothing of another.
 */
export function nextPage(answer: PageAnswer, read: ReadSoFar): string | undefined {
  const members = membersOf(jsonIn(answer.body))
  const query =
    linkIn(answer.headers['link']) ??
    linkAmong(members) ??
    tokenAmong(members) ??
    lastIdAmong(members, read) ??
    numberAmong(members, read, new URL(answer.url).searchParams)
  if (query === undefined) return undefined

  const here = new URL(answer.url)
  if (typeof query === 'string') {
    if (!URL.canParse(query, here.href)) return undefined
    const next = new URL(query, here.href)
    return next.origin === here.origin && next.pathname === here.pathname ? next.href : undefined
  }
  for (const [name, value] of Object.entries(query)) here.searchParams.set(name, value)
  return here.href
}

type Query = Readonly<Record<string, string>>

/** Members with their names as they are written, by the same in lower case and without `_` and `-`. */
type BodyMembers = ReadonlyMap<string, { readonly name: string; readonly value: unknown }>

/** Objects next to or around the list that describe its pages. */
const holders =
  /^(?:data|meta|metadata|pagination|paging|pageinfo|pager|links|resultinfo|result|cursor|cursors)$/

function membersOf(body: unknown): BodyMembers {
  const members = new Map<string, { name: string; value: unknown }>()
  const add = (object: Readonly<Record<string, unknown>>, depth: number): void => {
    for (const [name, value] of Object.entries(object)) {
      const plain = name.toLowerCase().replace(/[_@-]/g, '')
      if (!members.has(plain)) members.set(plain, { name, value })
      const inner = asObject(value)
      if (inner !== undefined && depth < 2 && holders.test(plain)) add(inner, depth + 1)
    }
  }
  const root = asObject(body)
  if (root !== undefined) add(root, 0)
  return members
}

/** RFC 8288: `<https://gw.example/v1/models?page=2>; rel="next"`. */
function linkIn(header = ''): string | undefined {
  return /<([^<>]{1,2000})>[^,<]*;\s*rel="?next\b/i.exec(header.slice(0, 10_000))?.[1]
}

function linkAmong(members: BodyMembers): string | undefined {
  for (const name of ['next', 'nexturl', 'nextpageurl', 'nextlink', 'odata.nextlink', 'nextpage']) {
    const value = members.get(name)?.value
    const link = asObject(value)?.['href'] ?? value
    if (typeof link === 'string' && /^(?:https?:\/)?[/?]/.test(link)) return link
  }
  return undefined
}

function tokenAmong(members: BodyMembers): Query | undefined {
  for (const plain of ['nextpagetoken', 'nexttoken', 'nextcursor', 'continuationtoken', 'next']) {
    const { name = '', value } = members.get(plain) ?? {}
    if (typeof value !== 'string' || value === '') continue
    if (plain === 'nextpagetoken')
      return { [name.includes('_') ? 'page_token' : 'pageToken']: value }
    const isCursor = plain === 'nextcursor' || plain === 'next'
    return { [isCursor ? 'cursor' : name]: value }
  }
  return undefined
}

function lastIdAmong(members: BodyMembers, { lastId }: ReadSoFar): Query | undefined {
  const hasMore = ['hasmore', 'hasnext', 'hasnextpage'].some(
    (name) => members.get(name)?.value === true,
  )
  if (!hasMore) return undefined

  const named = ['lastid', 'endcursor'].map((name) => members.get(name)?.value).find(isText)
  if (named !== undefined) return { limit: '1000', after_id: named }
  if (numberIn(members, pageNames) !== undefined || lastId === undefined) return undefined
  // Anthropic reads `after_id`, OpenAI's other lists read `after`.
  return { limit: '1000', after_id: lastId, after: lastId }
}

const pageNames = ['page', 'currentpage', 'pagenum', 'pagenumber', 'pageno', 'pageindex']
const pagesNames = ['totalpages', 'pages', 'pagecount', 'lastpage', 'numpages', 'totalpage']
const totalNames = ['total', 'totalcount', 'totalitems', 'totalresults', 'count']

function numberAmong(
  members: BodyMembers,
  { onPage, total }: ReadSoFar,
  asked: URLSearchParams,
): Query | undefined {
  const nextNumber = numberIn(members, ['nextpage', 'next'])
  if (nextNumber !== undefined) return { page: String(nextNumber) }

  const all = numberIn(members, totalNames)
  const offset = numberIn(members, ['offset', 'skip'])
  if (offset !== undefined && all !== undefined)
    return offset + onPage < all && onPage > 0 ? { offset: String(offset + onPage) } : undefined

  const pages = numberIn(members, pagesNames)
  const hasMore = ['hasmore', 'hasnext', 'hasnextpage'].some(
    (name) => members.get(name)?.value === true,
  )
  const page = numberIn(members, pageNames) ?? (Number(asked.get('page')) || 1)
  const isLast = pages === undefined ? all === undefined || total >= all : page >= pages
  if (isLast && !hasMore) return undefined
  const name = pageNames.map((plain) => members.get(plain)?.name).find((one) => one !== undefined)
  const isPlain = name === undefined || /^current/i.test(name)
  return { [isPlain ? 'page' : name]: String(page + 1) }
}

function numberIn(members: BodyMembers, names: readonly string[]): number | undefined {
  return names
    .map((name) => members.get(name)?.value)
    .map((value) => (isText(value) && /^\d{1,9}$/.test(value) ? Number(value) : value))
    .find((value): value is number => Number.isSafeInteger(value) && (value as number) >= 0)
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}
