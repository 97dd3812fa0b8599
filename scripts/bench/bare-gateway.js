/**
 * The bare server of bench-serve.js: it collects a body, parses it, and writes the text of an answer. Its first
 * message is a list of answers, { headers, writes }. The path of a request is the index of its answer.
 */
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
