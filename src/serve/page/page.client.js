const maxRows = 500
const base = '/_repoint/'
const byId = new Map()
let chosen = null
let filter = ''
const $ = (id) => document.getElementById(id)

function make(tag, text, className) {
  const node = document.createElement(tag)
  if (text !== undefined) node.textContent = text
  if (className) node.className = className
  return node
}

function statusClass(request) {
  if (request.state === 'cut') return 'bad'
  if (request.status === undefined) return ''
  return request.status < 400 ? 'good' : request.status < 500 ? 'warn' : 'bad'
}

function statusText(request) {
  if (request.status === undefined) return request.state === 'cut' ? 'cut' : 'open'
  return request.state === 'cut'
    ? `${request.status} cut`
    : request.state === 'open'
      ? `${request.status} …`
      : String(request.status)
}

function ms(value) {
  if (value === undefined) return ''
  return value < 10 ? `${value.toFixed(1)} ms` : `${Math.round(value)} ms`
}

function model(request) {
  if (request.modelAsked === undefined) return ''
  return request.modelServed && request.modelServed !== request.modelAsked
    ? `${request.modelAsked} → ${request.modelServed}`
    : request.modelAsked
}

function tokens(request) {
  return request.inputTokens === undefined ? '' : `${request.inputTokens} → ${request.outputTokens}`
}

function matches(request) {
  if (filter === '') return true
  const text = [
    request.method,
    request.path,
    request.protocol,
    model(request),
    request.client,
    statusText(request),
    request.fault,
  ]
    .join(' ')
    .toLowerCase()
  return filter.split(/ +/).every((word) => text.includes(word))
}

function fill(row, request) {
  row.textContent = ''
  const time = make('td', new Date(request.at).toLocaleTimeString([], { hour12: false }), 'mono')
  const what = make('td', request.protocol || `${request.method} ${request.path}`)
  if (request.protocol && request.stream) what.append(make('span', ' stream', 'quiet'))
  const which = make('td', model(request), 'mono')
  const who = make('td', request.client.split(' ')[0], 'client')
  who.title = request.client
  const status = make('td')
  status.append(make('span', statusText(request), `status ${statusClass(request)}`))
  if (request.fault) status.append(make('span', request.fault, 'more'))
  else if (request.protocol && !request.keyMatches)
    status.append(make('span', request.key ? `key ${request.key}` : 'no key', 'more'))
  row.append(
    time,
    what,
    which,
    who,
    status,
    make('td', ms(request.firstByteMs), 'number'),
    make('td', tokens(request), 'number'),
  )
  row.hidden = !matches(request)
}

function show(requests) {
  const body = $('rows')
  for (const request of requests) {
    let row = byId.get(request.id)?.row
    if (!row) {
      row = make('tr')
      row.tabIndex = -1
      row.dataset.id = request.id
      const next = [...body.children].find(
        (other) => byId.get(other.dataset.id).request.number < request.number,
      )
      body.insertBefore(row, next || null)
    }
    byId.set(request.id, { request, row })
    fill(row, request)
    if (chosen === request.id) open(request.id, false)
  }
  while (body.children.length > maxRows) {
    byId.delete(body.lastChild.dataset.id)
    body.lastChild.remove()
  }
  count()
}

function count() {
  const rows = visible()
  $('empty').hidden = byId.size > 0
  $('table').hidden = byId.size === 0
  $('count').textContent =
    rows.length === byId.size ? `${byId.size} requests` : `${rows.length} of ${byId.size} requests`
  if (rows.length > 0 && !rows.some((row) => row.tabIndex === 0)) rows[0].tabIndex = 0
}

function visible() {
  return [...$('rows').children].filter((row) => !row.hidden)
}

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

function section(title, text, isOpen) {
  const details = make('details')
  details.open = isOpen
  details.append(make('summary', title), make('pre', text || '(nothing)'))
  return details
}

async function open(id, takeFocus) {
  chosen = id
  for (const row of $('rows').children)
    row.setAttribute('aria-selected', String(row.dataset.id === id))
  const answer = await fetch(`${base}requests/${id}`)
  if (chosen !== id) return
  const panel = $('panel')
  const wasOpen = [...panel.querySelectorAll('details')].map((details) => details.open)
  panel.textContent = ''
  $('main').classList.add('split')
  panel.hidden = false
  const head = make('div', undefined, 'head')
  const close = make('button', 'Close')
  close.onclick = shut
  if (!answer.ok) {
    head.append(make('h2', 'This request has left the log.'), close)
    panel.append(head)
    return
  }
  const request = await answer.json()
  head.append(make('h2', `${request.method} ${request.path}`, 'mono'), close)
  const facts = make('dl')
  const places = {
    bearer: 'Authorization',
    'x-api-key': 'x-api-key',
    both: 'Authorization and x-api-key',
  }
  const keyText =
    request.auth === 'none'
      ? 'none'
      : (request.key || '(empty)') +
        ' in ' +
        places[request.auth] +
        (request.keyMatches ? '' : ': not the right one')
  const pairs = [
    ['Status', statusText(request)],
    ['Model', model(request)],
    ['Client', request.client],
    ['Key', keyText],
    ['First byte', ms(request.firstByteMs)],
    ['Whole answer', ms(request.totalMs)],
    ['Tokens', tokens(request)],
    ['Bytes', `${request.requestBytes} → ${request.responseBytes}`],
    ['Fault', request.fault],
    ['Request id', request.id],
  ]
  for (const [name, value] of pairs) if (value) facts.append(make('dt', name), make('dd', value))
  const headers = Object.entries(request.headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')
  panel.append(
    head,
    facts,
    section('Answer', pretty(request.responseBody), wasOpen[0] ?? true),
    section('Request', pretty(request.requestBody), wasOpen[1] ?? true),
    section('Request headers', headers, wasOpen[2] ?? false),
  )
  if (takeFocus) close.focus()
}

function shut() {
  const row = chosen && byId.get(chosen)?.row
  chosen = null
  $('panel').hidden = true
  $('panel').textContent = ''
  $('main').classList.remove('split')
  for (const other of $('rows').children) other.removeAttribute('aria-selected')
  if (row) focusRow(row)
}

function focusRow(row) {
  for (const other of $('rows').children) other.tabIndex = -1
  row.tabIndex = 0
  row.focus()
  row.scrollIntoView({ block: 'nearest' })
}

function move(step) {
  const rows = visible()
  if (rows.length === 0) return
  const at = rows.indexOf(document.activeElement)
  const from = at === -1 ? rows.findIndex((row) => row.tabIndex === 0) - step : at
  const row = rows[Math.min(rows.length - 1, Math.max(0, from + step))]
  focusRow(row)
  if (chosen) open(row.dataset.id, false)
}

document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return
  const inField = event.target === $('filter')
  if (event.key === 'Escape') {
    if (inField) $('filter').blur()
    else shut()
  } else if (inField) {
    if (event.key === 'ArrowDown' || event.key === 'Enter') {
      event.preventDefault()
      $('filter').blur()
      move(0)
    }
  } else if (event.key === '/') {
    event.preventDefault()
    $('filter').focus()
  } else if (event.key === 'ArrowDown' || event.key === 'j') {
    event.preventDefault()
    move(1)
  } else if (event.key === 'ArrowUp' || event.key === 'k') {
    event.preventDefault()
    move(-1)
  } else if (event.key === 'Enter' && event.target.dataset?.id) {
    event.preventDefault()
    open(event.target.dataset.id, true)
  }
})

$('rows').addEventListener('click', (event) => {
  const row = event.target.closest('tr')
  if (!row) return
  focusRow(row)
  open(row.dataset.id, false)
})

$('filter').addEventListener('input', () => {
  filter = $('filter').value.trim().toLowerCase()
  for (const { request, row } of byId.values()) row.hidden = !matches(request)
  for (const row of $('rows').children) row.tabIndex = -1
  count()
})

$('clear').addEventListener('click', async () => {
  const token = document.querySelector('meta[name="repoint-page"]').content
  const headers = { 'X-Repoint-Page': token }
  const answer = await fetch(`${base}requests`, { method: 'DELETE', headers })
  // Another gateway has come to the same address since.
  if (answer.status === 401) location.reload()
  if (!answer.ok) return
  byId.clear()
  $('rows').textContent = ''
  shut()
  count()
})

for (const [id, address] of [
  ['root', location.origin],
  ['v1', `${location.origin}/v1`],
]) {
  const button = $(id)
  button.textContent = address
  button.onclick = async () => {
    await navigator.clipboard.writeText(address)
    button.textContent = 'copied'
    setTimeout(() => {
      button.textContent = address
    }, 900)
  }
}
$('example').textContent =
  'curl ' +
  location.origin +
  '/v1/chat/completions \\\n  -H "Authorization: Bearer $KEY" -H "Content-Type: application/json" \\\n  -d \'{"model":"gpt-5.6","messages":[{"role":"user","content":"ping"}]}\''

async function load() {
  const requests = []
  let some
  do {
    const before = requests.length === 0 ? '' : `?before=${requests.at(-1).number}`
    const answer = await fetch(`${base}requests${before}`)
    some = await answer.json()
    requests.push(...some)
  } while (some.length > 0 && requests.length < maxRows)
  show(requests.reverse())
}

const events = new EventSource(`${base}events`)
events.addEventListener('requests', (event) => show(JSON.parse(event.data)))
// Also after a break: what happened in between is fetched again.
events.onopen = () => {
  $('live').dataset.on = 'true'
  $('live').title = 'live'
  load()
}
events.onerror = () => {
  $('live').dataset.on = 'false'
  $('live').title = 'not connected'
}
