import { describe, expect, test } from 'vitest'
import { readCatalog } from '../../../src/gateway/catalog.ts'
import { nextPage } from '../../../src/gateway/models/next-page.ts'
import { accessTo, aServer, key, sendJson } from '../forged.ts'

const all = Array.from({ length: 45 }, (_, n) => ({ id: `model-${n}` }))
const size = 20

interface Page {
  readonly items: readonly { id: string }[]
  readonly start: number
  readonly end: number
  readonly isLast: boolean
  readonly origin: string
}

/** The ways in which gateways name their next page, and read it from the query of the next request. */
const styles: Readonly<
  Record<
    string,
    {
      readonly startOf: (query: URLSearchParams) => number
      readonly say: (page: Page) => { body: object; headers?: Record<string, string> }
    }
  >
> = {
  'the last ID': {
    startOf: (query) => all.findIndex(({ id }) => id === query.get('after_id')) + 1,
    say: ({ items, isLast }) => ({
      body: { data: items, has_more: !isLast, last_id: items.at(-1)?.id },
    }),
  },
  'has_more alone': {
    startOf: (query) => all.findIndex(({ id }) => id === query.get('after')) + 1,
    say: ({ items, isLast }) => ({ body: { data: items, has_more: !isLast } }),
  },
  'a link in a header': {
    startOf: (query) => Number(query.get('from') ?? 0),
    say: ({ items, end, isLast }) => ({
      body: items,
      ...(isLast ? {} : { headers: { link: `</v1/models?from=${end}>; rel="next"` } }),
    }),
  },
  'a link in the body': {
    startOf: (query) => Number(query.get('from') ?? 0),
    say: ({ items, end, isLast, origin }) => ({
      body: { results: items, next: isLast ? null : `${origin}/v1/models?from=${end}` },
    }),
  },
  'a link of HAL': {
    startOf: (query) => Number(query.get('from') ?? 0),
    say: ({ items, end, isLast }) => ({
      body: { items, _links: isLast ? {} : { next: { href: `?from=${end}` } } },
    }),
  },
  'a token': {
    startOf: (query) => Number(query.get('page_token')?.slice(1) ?? 0),
    say: ({ items, end, isLast }) => ({
      body: { models: items, next_page_token: isLast ? '' : `t${end}` },
    }),
  },
  "Gemini's token": {
    startOf: (query) => Number(query.get('pageToken')?.slice(1) ?? 0),
    say: ({ items, end, isLast }) => ({
      body: { models: items, ...(isLast ? {} : { nextPageToken: `t${end}` }) },
    }),
  },
  'a cursor below meta': {
    startOf: (query) => Number(query.get('cursor')?.slice(1) ?? 0),
    say: ({ items, end, isLast }) => ({
      body: { data: items, meta: { next_cursor: isLast ? null : `c${end}` } },
    }),
  },
  'a page of pages': {
    startOf: (query) => (Number(query.get('page') ?? 1) - 1) * size,
    say: ({ items, start }) => ({
      body: { data: items, pagination: { current_page: start / size + 1, total_pages: 3 } },
    }),
  },
  "Cloudflare's total": {
    startOf: (query) => (Number(query.get('page') ?? 1) - 1) * size,
    say: ({ items, start }) => ({
      body: {
        result: items,
        result_info: { page: start / size + 1, per_page: size, total_count: all.length },
      },
    }),
  },
  'an offset': {
    startOf: (query) => Number(query.get('offset') ?? 0),
    say: ({ items, start }) => ({
      body: { data: { items, offset: start, limit: size, total: all.length } },
    }),
  },
  'a total alone': {
    startOf: (query) => (Number(query.get('page') ?? 1) - 1) * size,
    say: ({ items }) => ({ body: { list: items, total: all.length } }),
  },
  'a page from zero, as Spring sends it': {
    startOf: (query) => Number(query.get('page') ?? 0) * size,
    say: ({ items, start, isLast }) => ({
      body: { content: items, number: start / size, totalPages: 3, last: isLast },
    }),
  },
  'a page in a header': {
    startOf: (query) => (Number(query.get('page') ?? 1) - 1) * size,
    say: ({ items, start, isLast }) => ({
      body: items,
      headers: {
        'x-page': `${start / size + 1}`,
        'x-next-page': isLast ? '' : `${start / size + 2}`,
      },
    }),
  },
  'pages in a header': {
    startOf: (query) => (Number(query.get('page') ?? 1) - 1) * size,
    say: ({ items }) => ({ body: { data: items }, headers: { 'x-total-pages': '3' } }),
  },
  'a total in a header': {
    startOf: (query) => (Number(query.get('page') ?? 1) - 1) * size,
    say: ({ items }) => ({ body: items, headers: { 'x-total-count': `${all.length}` } }),
  },
  'an absolute link, as OData sends it': {
    startOf: (query) => Number(query.get('$skip') ?? 0),
    say: ({ items, end, isLast, origin }) => ({
      body: {
        value: items,
        ...(isLast ? {} : { '@odata.nextLink': `${origin}/v1/models?$skip=${end}` }),
      },
    }),
  },
  'a token of AWS': {
    startOf: (query) => Number(query.get('nextToken')?.slice(1) ?? 0),
    say: ({ items, end, isLast }) => ({
      body: { modelSummaries: items, nextToken: isLast ? null : `t${end}` },
    }),
  },
  'a cursor of JSON:API': {
    startOf: (query) => Number(query.get('page[cursor]')?.slice(1) ?? 0),
    say: ({ items, end, isLast }) => ({
      body: {
        data: items,
        links: { next: isLast ? null : `/v1/models?page%5Bcursor%5D=c${end}` },
      },
    }),
  },
  'the end cursor of a connection': {
    startOf: (query) => Number(query.get('after')?.slice(1) ?? 0),
    say: ({ items, end, isLast }) => ({
      body: { items, pageInfo: { hasNextPage: !isLast, endCursor: `c${end}` } },
    }),
  },
  'the next offset': {
    startOf: (query) => Number(query.get('offset') ?? 0),
    say: ({ items, end, isLast }) => ({
      body: { data: items, metadata: { next_offset: isLast ? null : end } },
    }),
  },
  "Laravel's pages": {
    startOf: (query) => (Number(query.get('page') ?? 1) - 1) * size,
    say: ({ items, start }) => ({
      body: { data: items, meta: { current_page: start / size + 1, last_page: 3 } },
    }),
  },
  'a page that is not the last': {
    startOf: (query) => (Number(query.get('pageNo') ?? 1) - 1) * size,
    say: ({ items, start, isLast }) => ({
      body: { data: { list: items, pageNo: start / size + 1, pageSize: size, isLast } },
    }),
  },
  'a page below data, with a size and a total': {
    startOf: (query) => (Number(query.get('pageNum') ?? 1) - 1) * size,
    say: ({ items, start }) => ({
      body: { code: 0, data: { rows: items, pageNum: start / size + 1, total: all.length } },
    }),
  },
  'the number of the next page': {
    startOf: (query) => (Number(query.get('page') ?? 1) - 1) * size,
    say: ({ items, start, isLast }) => ({
      body: { data: items, next_page: isLast ? null : start / size + 2 },
    }),
  },
}

describe('catalog: all pages are read', () => {
  test.each(Object.entries(styles))('%s', async (_name, { startOf, say }) => {
    const server = await aServer(({ url, headers }, response) => {
      const start = startOf(new URL(url, 'http://x').searchParams)
      const items = all.slice(start, start + size)
      const end = start + items.length
      const isLast = end >= all.length
      const page = { items, start, end, isLast, origin: `http://${headers.host}` }
      const { body, headers: more = {} } = say(page)
      for (const [name, value] of Object.entries(more)) response.setHeader(name, value)
      sendJson(response, 200, body)
    })
    const catalog = await readCatalog(accessTo(server))
    expect(catalog.models.map(({ id }) => id)).toEqual(all.map(({ id }) => id))
    expect(catalog.findings).toBeUndefined()
    expect(server.seen).toHaveLength(3)
  })

  test('pages before a failure are kept, and reported as cut', async () => {
    const server = await aServer(({ url }, response) => {
      if (url.includes('after_id')) return sendJson(response, 500, {})
      sendJson(response, 200, { data: all.slice(0, 2), has_more: true, last_id: 'model-1' })
    })
    const catalog = await readCatalog(accessTo(server))
    expect(catalog.models).toHaveLength(2)
    expect(catalog.findings).toMatchObject([{ code: 'catalog-cut' }])
  })

  test.each([
    ['another host', 'https://evil.example/v1/models?page=2'],
    ['another host after two slashes', '//evil.example/v1/models?page=2'],
    ['another path', '/v1/keys?page=2'],
    ['no address', 'https://[/v1/models?page=2'],
  ])('a link to %s is not followed', async (_name, next) => {
    const server = await aServer((_request, response) =>
      sendJson(response, 200, { data: all.slice(0, 2), next, key }),
    )
    expect((await readCatalog(accessTo(server))).models).toHaveLength(2)
    expect(server.seen).toHaveLength(1)
  })

  test.each([{}, { total: 2 }, { has_more: false, last_id: 'x' }, { page: 1, pages: 1 }, 7, null])(
    '%j has no further page',
    (body) => {
      const answer = {
        url: 'https://gw.example/v1/models',
        headers: {},
        body: JSON.stringify(body),
      }
      expect(nextPage(answer, { onPage: 2, total: 2, lastId: 'b', pages: 1 })).toBeUndefined()
    },
  )
})

test('catalog: 4,000 models are read within a second of processor time', async () => {
  const data = Array.from({ length: 4_000 }, (_, n) => ({
    id: `vendor-${n % 40}/model-${n}`,
    type: n % 10 === 0 ? 'embedding' : 'chat',
    context_length: 128_000,
    architecture: { input_modalities: ['text'], output_modalities: ['text'] },
  }))
  const server = await aServer((_request, response) => sendJson(response, 200, { data }))
  const started = process.cpuUsage()
  const catalog = await readCatalog(accessTo(server))
  expect(catalog.models).toHaveLength(4_000)
  expect(process.cpuUsage(started).user / 1_000).toBeLessThan(1_000)
})
