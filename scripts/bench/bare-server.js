// The yardstick: a node:http server that sends bytes made beforehand and does nothing else.
// Takes, as its first message, the answers: { [name]: { headers, body, pieces } }.
import { createServer } from 'node:http'

process.once('message', (answers) => {
  const ready = Object.fromEntries(
    Object.entries(answers).map(([name, { headers, body, pieces }]) => [
      `/${name}`,
      { headers, body: Buffer.from(body), pieces: pieces?.map((piece) => Buffer.from(piece)) },
    ]),
  )
  const server = createServer({ keepAliveTimeout: 65_000, noDelay: true }, (request, response) => {
    request.resume()
    request.once('end', () => {
      const { headers, body, pieces } = ready[request.url]
      response.writeHead(200, headers)
      if (pieces === undefined) response.end(body)
      else {
        for (const piece of pieces) response.write(piece)
        response.end()
      }
    })
  })
  server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }))
})

process.on('message', (message) => {
  if (message === 'cpu') process.send(process.cpuUsage())
})
