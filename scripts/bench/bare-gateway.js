// The yardstick: the least that a gateway does. A node:http server that collects a body, parses it, and
// writes an answer whose objects are made text again each time. Takes, as its first message, a list of
// answers: { headers, writes }; the path of a request is its place in it.
import { createServer } from 'node:http'

process.once('message', (given) => {
  const answers = given.map(({ headers, writes }) => ({ headers, writes: writes.map(written) }))

  const server = createServer({ keepAliveTimeout: 65_000, noDelay: true }, (request, response) => {
    const pieces = []
    request.on('data', (piece) => pieces.push(piece))
    request.once('end', () => {
      if (pieces.length > 0) JSON.parse(Buffer.concat(pieces))
      const { headers, writes } = answers[request.url.slice(1)]
      response.writeHead(200, headers.flat())
      if (writes.length === 1) response.end(writes[0]())
      else {
        for (const write of writes) response.write(write())
        response.end()
      }
    })
  })
  server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }))
  process.on('message', () => {
    const { user, system } = process.cpuUsage()
    process.send(user + system)
  })
})

/** Makes the text of one write: an event's name stands before its object, an empty line after it. */
function written(text) {
  const [, before, object, after] = /^([^{]*)(\{.*\})(\s*)$/s.exec(text) ?? [undefined, text]
  if (object === undefined) return () => text
  const value = JSON.parse(object)
  return () => before + JSON.stringify(value) + after
}
