// `npm run bench:serve`: the gateway against a bare node:http server that sends the same bytes, in one run.
//
// What is compared is the processor time of the serving process for one answer, user and system, its
// garbage collector's threads included: other work on the machine changes that least. The rate is
// printed beside it. Each side is asked in turn, over sixteen kept connections with one request at a
// time on each, by a process that never sleeps. The ratio is the median of those of the rounds: a
// machine that is slow for a while is so for both sides of a round. And the rounds are those of three
// processes of each kind, since one differs from the next by up to a tenth, in where its memory and its
// compiled code happen to lie. A ratio of 0.7 means that an answer of the gateway takes 1 / 0.7 of the
// processor time of a bare one.
//
// The bare server does not look at the request: it throws the body away and sends bytes that were made
// before the run. The gateway reads and parses each body, checks the key, decides, writes the answer
// under an id of its own and keeps both bodies for the log. No answer is remembered from one question
// to the next, although all questions of a row are the same: real clients do not ask twice, and a row
// must say what an answer costs them. Headers are as alike as those of a real client.
//
// Exits with 1 if a goal is missed by more than 15 %: so much one run differs from the next.
import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { load, oneAnswer } from './bench/load.js'

const tolerance = 1.15
const processes = 3
const rounds = 3
const durationMs = 700
const connections = 16
const key = 'sk-bench-0123456789abcdefghijklmnop'

const script = (name) => fileURLToPath(new URL(`./bench/${name}`, import.meta.url))
const post = (path, body) => {
  const text = JSON.stringify(body)
  return `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${key}\r\nUser-Agent: bench/1\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`
}
const messages = [{ role: 'user', content: 'ping' }]
// With the words that the model puts before them, and role, reason, usage and end, the stream has fifty events.
const words = Array.from({ length: 39 }, (_, index) => `w${index}`).join(' ')
const long = [{ role: 'user', content: words }]
const requests = {
  models: `GET /v1/models HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${key}\r\nUser-Agent: bench/1\r\n\r\n`,
  chat: post('/v1/chat/completions', { model: 'gpt-5.6', messages }),
  stream: post('/v1/chat/completions', {
    model: 'gpt-5.6',
    messages: long,
    stream: true,
    stream_options: { include_usage: true },
  }),
}

const rows = [
  { label: 'GET /v1/models', name: 'models', bareName: 'models', least: 0.7 },
  { label: 'chat, not streamed', name: 'chat', bareName: 'chat', least: 0.7 },
  {
    label: '50 events, against one write for each',
    name: 'stream',
    bareName: 'stream-each',
    least: 2,
  },
  {
    label: '50 events, against one write for all',
    name: 'stream',
    bareName: 'stream-once',
    least: 0.7,
  },
].map((row) => ({ ...row, ours: { rates: [], costs: [] }, theirs: { rates: [], costs: [] } }))

const results = []
for (let turn = 0; turn < processes; turn++) await measureTwo()
for (const { label, least, ours, theirs } of rows) {
  const ratio = median(ours.costs.map((cost, round) => theirs.costs[round] / cost))
  report(label, least / ratio, `${ratio.toFixed(2)} (>= ${least})`, [
    `${median(ours.costs).toFixed(1)} µs, ${Math.round(median(ours.rates))}/s`,
    `bare ${median(theirs.costs).toFixed(1)} µs, ${Math.round(median(theirs.rates))}/s`,
  ])
}
await compareStart()

const isMissed = results.some((result) => result.isMissed)
console.log(isMissed ? '\nA goal was missed.' : '\nNo goal was missed.')
process.exitCode = isMissed ? 1 : 0

/** All rows with one process of each kind. */
async function measureTwo() {
  const gateway = fork(script('gateway-server.js'), { env: { ...process.env, KEY: key } })
  const [{ port }] = await once(gateway, 'message')
  const bare = fork(script('bare-server.js'))
  bare.send(await answersOf(port))
  const [{ port: barePort }] = await once(bare, 'message')
  for (const { name, bareName, ours, theirs } of rows) {
    const request = requests[name]
    const bareRequest = request.replace(/ \/v1\/\S+ /, ` /${bareName} `)
    const sides = [
      { child: gateway, port, request, ...ours },
      { child: bare, port: barePort, request: bareRequest, ...theirs },
    ]
    for (const side of sides) side.answerBytes = (await oneAnswer(side.port, side.request)).length
    // The first round warms both up and does not count.
    for (let round = 0; round <= rounds; round++)
      for (const side of sides) {
        const before = await cpu(side.child)
        const { answers, seconds } = await load(side.port, side.request, {
          ...side,
          connections,
          durationMs,
        })
        const after = await cpu(side.child)
        if (round === 0) continue
        side.rates.push(answers / seconds)
        side.costs.push((after.user + after.system - before.user - before.system) / answers)
      }
  }
  gateway.kill()
  bare.kill()
}

/** What the gateway answers, for the bare server to send. */
async function answersOf(port) {
  const samples = {}
  for (const [name, request] of Object.entries(requests))
    samples[name] = await oneAnswer(port, request)
  const streamBody = unchunk(samples.stream)
  const events = streamBody.split(/(?<=\n\n)/)
  if (events.length !== 50) throw new Error(`the stream has ${events.length} events, not 50`)
  return {
    models: { headers: headersOf(samples.models), body: bodyOf(samples.models) },
    chat: { headers: headersOf(samples.chat), body: bodyOf(samples.chat) },
    'stream-once': { headers: headersOf(samples.stream), body: streamBody },
    'stream-each': { headers: headersOf(samples.stream), body: '', pieces: events },
  }
}

/** From the start of the process to the first connection that is accepted. */
async function compareStart() {
  const code = (start) => `const port = Number(process.env.PORT); ${start}`
  const ours = code(
    `import('${new URL('../dist/gateway.js', import.meta.url)}').then(({ startGateway }) => startGateway({ port }))`,
  )
  const theirs = code(
    `import('node:http').then(({ createServer }) => createServer((_, response) => response.end()).listen(port, '127.0.0.1'))`,
  )
  const times = { ours: [], theirs: [] }
  for (let round = 0; round < 9; round++) {
    times.ours.push(await startTime(ours))
    times.theirs.push(await startTime(theirs))
  }
  const ratio = median(times.ours) / median(times.theirs)
  report('first accepted connection', ratio / 2, `${ratio.toFixed(2)} (<= 2)`, [
    `${median(times.ours).toFixed(0)} ms`,
    `bare ${median(times.theirs).toFixed(0)} ms`,
  ])
}

async function startTime(code) {
  const freePort = await new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })
  const startedAt = performance.now()
  const child = spawn(process.execPath, ['-e', code], {
    env: { ...process.env, PORT: String(freePort) },
    stdio: 'ignore',
  })
  while (!(await accepts(freePort))) await new Promise((resolve) => setTimeout(resolve, 1))
  const elapsed = performance.now() - startedAt
  child.kill('SIGKILL')
  await once(child, 'exit')
  return elapsed
}

function accepts(port) {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => resolve(true))
    socket.once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}

/** @param share of what the goal allows */
function report(label, share, shown, details) {
  const isMissed = share > tolerance
  results.push({ isMissed })
  const mark = isMissed ? 'MISSED     ' : share > 1 ? 'within 15 %' : 'ok         '
  console.log(`${mark} ${label.padEnd(38)} ${shown.padEnd(14)} ${details.join('; ')}`)
}

async function cpu(child) {
  child.send('cpu')
  const [usage] = await once(child, 'message')
  return usage
}

function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]
}

/** What the bare server must send: all headers but those that node:http adds by itself. */
function headersOf(answer) {
  const lines = answer.slice(0, answer.indexOf('\r\n\r\n')).split('\r\n').slice(1)
  return lines
    .map((line) => line.split(/: (.*)/s).slice(0, 2))
    .filter(([name]) => !/^(date|connection|keep-alive|transfer-encoding)$/i.test(name))
    .flat()
}

function bodyOf(answer) {
  return answer.slice(answer.indexOf('\r\n\r\n') + 4)
}

function unchunk(answer) {
  let rest = bodyOf(answer)
  let body = ''
  for (;;) {
    const end = rest.indexOf('\r\n')
    const size = Number.parseInt(rest.slice(0, end), 16)
    if (size === 0) return body
    body += rest.slice(end + 2, end + 2 + size)
    rest = rest.slice(end + 2 + size + 2)
  }
}
