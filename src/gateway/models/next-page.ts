import { asObject, isFilledText, jsonIn } from '../foreign-text.ts'

/** The response with one page of a list of models. */
interface CatalogResponse {
  /** The address of the page. */
  readonly url: string
  /** The names are in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** How much of the list has been read. */
interface PageProgress {
  /** The number of entries on this page. */
  readonly onPage: number
  /** The number of entries on all pages so far. */
  readonly total: number
  readonly lastId: string | undefined
  /** The number of pages so far. */
  readonly pages: number
}

/**
 * The address of the next page, from a link in a header or in the body, a token, the last ID, or a page
 * number. It always has the same origin and path, because the key is sent there. Undefined if the
 * response names no next page.
 */
export function nextPage(answer: CatalogResponse, progress: PageProgress): string | undefined {
  const members = collectMembers(jsonIn(answer.body), answer.headers)
  const query =
    nextLinkInHeader(answer.headers['link']) ??
    nextLinkInBody(members) ??
    nextToken(members) ??
    nextAfterLastId(members, progress) ??
    nextPageNumber(members, progress)
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

/** Members by their plain name: in lower case, without `_` and `-`. `name` is the original name. */
type BodyMembers = ReadonlyMap<string, { readonly name: string; readonly value: unknown }>

/** The names of objects that describe the pages of a list. */
const pageMembers =
  /^(?:data|meta|metadata|pagination|paging|pageinfo|pager|links|resultinfo|result|cursor|cursors)$/

/** Headers that describe the pages of a list (GitLab, WordPress and others, 2026-11-26). */
const pageHeaders =
  /^x-(?:next-page|page|total-pages|total-count|total|next-cursor|has-more|wp-totalpages|wp-total)$/

function collectMembers(body: unknown, headers: CatalogResponse['headers']): BodyMembers {
  const members = new Map<string, { name: string; value: unknown }>()
  const add = (object: Readonly<Record<string, unknown>>, depth: number): void => {
    for (const [name, value] of Object.entries(object)) {
      const plain = name.toLowerCase().replace(/[_@-]/g, '')
      if (!members.has(plain)) members.set(plain, { name, value })
      const inner = asObject(value)
      if (inner !== undefined && depth < 2 && pageMembers.test(plain)) add(inner, depth + 1)
    }
  }
  const root = asObject(body)
  if (root !== undefined) add(root, 0)
  const ofPages = Object.entries(headers).filter(([name, value]) => pageHeaders.test(name) && value)
  add(
    Object.fromEntries(ofPages.map(([name, value]) => [name.replace(/^x-(?:wp-)?/, ''), value])),
    0,
  )

  return members
}

/** RFC 8288: `<https://gw.example/v1/models?page=2>; rel="next"`. */
function nextLinkInHeader(header = ''): string | undefined {
  return /<([^<>]{1,2000})>[^,<]*;\s*rel="?next\b/i.exec(header.slice(0, 10_000))?.[1]
}

function nextLinkInBody(members: BodyMembers): string | undefined {
  for (const name of ['next', 'nexturl', 'nextpageurl', 'nextlink', 'odata.nextlink', 'nextpage']) {
    const value = members.get(name)?.value
    const link = asObject(value)?.['href'] ?? value
    if (typeof link === 'string' && /^(?:https?:\/)?[/?]/.test(link)) return link
  }
  return undefined
}

function nextToken(members: BodyMembers): Query | undefined {
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

function nextAfterLastId(members: BodyMembers, { lastId }: PageProgress): Query | undefined {
  if (!saysMore(members)) return undefined

  const cursor = members.get('endcursor')?.value
  if (isFilledText(cursor)) return { after: cursor }
  const named = members.get('lastid')?.value
  if (isFilledText(named)) return { limit: '1000', after_id: named }
  if (findNumber(members, pageNames) !== undefined || lastId === undefined) return undefined

  // Anthropic reads `after_id`, OpenAI's other lists read `after`.
  return { limit: '1000', after_id: lastId, after: lastId }
}

/** Whether the response says that there are more pages. */
function saysMore(members: BodyMembers): boolean {
  return (
    ['hasmore', 'hasnext', 'hasnextpage', 'more'].some(
      (name) => String(members.get(name)?.value) === 'true',
    ) || ['islast', 'last', 'islastpage'].some((name) => members.get(name)?.value === false)
  )
}

const pageNames = ['page', 'currentpage', 'pagenum', 'pagenumber', 'pageno', 'pageindex', 'number']
const pageCountNames = ['totalpages', 'pages', 'pagecount', 'lastpage', 'numpages', 'totalpage']
const totalNames = ['total', 'totalcount', 'totalitems', 'totalresults', 'count']

function nextPageNumber(
  members: BodyMembers,
  { onPage, total, pages: pagesRead }: PageProgress,
): Query | undefined {
  const nextNumber = findNumber(members, ['nextpage', 'next'])
  if (nextNumber !== undefined) return { page: String(nextNumber) }
  const nextOffset = findNumber(members, ['nextoffset', 'nextskip'])
  if (nextOffset !== undefined) return { offset: String(nextOffset) }

  const all = findNumber(members, totalNames)
  const offset = findNumber(members, ['offset', 'skip'])
  if (offset !== undefined && all !== undefined)
    return offset + onPage < all && onPage > 0 ? { offset: String(offset + onPage) } : undefined

  const pages = findNumber(members, pageCountNames)
  const isLast = pages === undefined ? all === undefined || total >= all : pagesRead >= pages
  if (isLast && !saysMore(members)) return undefined

  // Some count pages from zero.
  const page = findNumber(members, pageNames) ?? pagesRead
  const memberName = pageNames
    .map((plain) => members.get(plain)?.name)
    .find((name) => name !== undefined)
  // `currentPage` and `number` describe the answer; the parameter is called `page`.
  const isParameter = memberName !== undefined && !/^(?:current|number$)/i.test(memberName)
  return { [isParameter ? memberName : 'page']: String(page + 1) }
}

function findNumber(members: BodyMembers, names: readonly string[]): number | undefined {
  return names
    .map((name) => members.get(name)?.value)
    .map((value) => (isFilledText(value) && /^\d{1,9}$/.test(value) ? Number(value) : value))
    .find((value): value is number => Number.isSafeInteger(value) && (value as number) >= 0)
}
