/** A forged gateway on loopback. It answers with the case that the prompt names: `case(NAME)`. */
import { createServer } from 'node:http'
import { casesOf } from './cases.js'

const protocolOf = [
  [/\/chat\/completions/, 'chat'],
  [/\/responses/, 'responses'],
  [/\/messages/, 'messages'],
]

/**
 * @param models the IDs of the catalog
 * @param usual the case of a prompt that names none. Absent: an ordinary response
 * @returns its URL, and `log(NAME)`: the main requests of a case, each with the time of its arrival in ms
 */
export async function startForgedGateway(models, usual) {
  const logs = new Map()
  const handler = (server) => async (request, response) => {
    const path = request.url.replace(/^\/redirected/, '')
    const protocol = protocolOf.find(([route]) => route.test(path))?.[1]
    let body = ''
    for await (const piece of request.setEncoding('utf8')) body += piece
    if (request.method === 'GET' || protocol === undefined || /count_tokens/.test(path))
      return catalog(response, models)

    const name = /case\(([\w-]+)\)/.exec(body)?.[1] ?? usual
    const { stream, tools = [], input = [] } = jsonIn(body)
    const isMain =
      name !== undefined &&
      (tools.length > 0 || input.some?.(({ type }) => type === 'additional_tools'))
    const log = logs.get(name) ?? []
    logs.set(name, log)
    const isRedirected = request.url !== path
    if (isMain && !isRedirected) log.push({ at: Date.now(), stream: stream === true })
    if (isMain && isRedirected)
      log.push({
        at: Date.now(),
        stream: stream === true,
        redirected: server.name,
        method: request.method,
        key: hasKey(request.headers),
      })

    const context = {
      path,
      isRedirected,
      count: log.length,
      url: first.url,
      otherUrl: second.url,
    }
    const make = casesOf(protocol)[isMain ? name : 'ok']
    send(response, stream === true ? make(protocol, context) : unstreamed(make, protocol, context))
  }
  const first = await listen(handler, 'same')
  const second = await listen(handler, 'other')

  return {
    url: first.url,
    log: (name) => logs.get(name) ?? [],
    forget: (name) => logs.delete(name),
    close() {
      for (const { server } of [first, second]) {
        server.closeAllConnections()
        server.close()
      }
    },
  }
}

function jsonIn(text) {
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}

function hasKey(headers) {
  return Boolean(headers.authorization ?? headers['x-api-key'] ?? headers['api-key'])
}

/** The response to a request without a stream: the whole answer, or the failure of the case. */
function unstreamed(make, protocol, context) {
  const { status = 200 } = make(protocol, context)
  return status === 200 ? casesOf(protocol).whole(protocol) : make(protocol, context)
}

function listen(handler, name) {
  const one = { name }
  one.server = createServer(handler(one))
  return new Promise((resolve) => {
    one.server.listen(0, '127.0.0.1', () => {
      one.url = `http://127.0.0.1:${one.server.address().port}`
      resolve(one)
    })
  })
}

function catalog(response, models) {
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(
    JSON.stringify({
      object: 'list',
      data: models.map((id) => ({ id, object: 'model', owned_by: 'x', created: 1790000000 })),
    }),
  )
}

async function send(response, { status = 200, headers = {}, pieces = [], end = 'close' }) {
  response.on('error', () => {})
  response.writeHead(status, headers)
  for (const piece of pieces) {
    response.write(piece)
    if (pieces.length < 400) await new Promise((resolve) => setTimeout(resolve, 2))
  }
  if (end === 'cut') return setTimeout(() => response.destroy(), 50)
  if (end === 'close') response.end()
}
