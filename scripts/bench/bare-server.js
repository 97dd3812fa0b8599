// The yardstick: a node:http server that sends bytes made beforehand and does nothing else. Takes, as its
// first message, a list of answers: { headers, writes }; the path of a request is its place in it.
import { createServer } from 'node:http'

process.once('message', (answers) => {
  const server = createServer({ keepAliveTimeout: 65_000, noDelay: true }, (request, response) => {
    request.resume()
    request.once('end', () => {
      const { headers, writes } = answers[request.url.slice(1)]
      response.writeHead(200, headers.flat())
      if (writes.length === 1) response.end(writes[0])
      else {
        for (const text of writes) response.write(text)
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
