import { createHash } from 'node:crypto'

/**
 * The page at `/`, and the answer to every path outside the API: the log as it happens. One text,
 * nothing from elsewhere. It writes what clients sent with `textContent` only.
 */

const style = `
:root {
  color-scheme: light dark;
  --ground: #fbfbfa; --raised: #ffffff; --line: #e3e2df; --text: #1d1c1a; --quiet: #6b6963;
  --accent: #1f5fbf; --chosen: #e9f0fb; --good: #1d7a3f; --warn: #9a5b00; --bad: #b3261e;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #161615; --raised: #1f1f1d; --line: #34332f; --text: #ecebe6; --quiet: #a09d94;
    --accent: #8ab4f8; --chosen: #23304a; --good: #7fd099; --warn: #f0b45c; --bad: #ff8d85;
  }
}
* { box-sizing: border-box; }
html, body { height: 100%; margin: 0; }
body {
  display: grid; grid-template-rows: auto 1fr auto; background: var(--ground); color: var(--text);
  font: 14px/1.45 system-ui, -apple-system, 'Segoe UI', sans-serif;
}
header {
  display: flex; flex-wrap: wrap; gap: 8px 16px; align-items: center; padding: 12px 16px;
  border-bottom: 1px solid var(--line); background: var(--raised);
}
h1 { font-size: 16px; margin: 0; display: flex; align-items: center; gap: 8px; }
#live { width: 8px; height: 8px; border-radius: 50%; background: var(--quiet); }
#live[data-on='true'] { background: var(--good); }
code, pre, .mono { font-family: ui-monospace, 'Cascadia Mono', Menlo, Consolas, monospace; font-size: 12.5px; }
.addresses { display: flex; flex-wrap: wrap; gap: 6px 12px; color: var(--quiet); }
button.copy {
  font: inherit; color: var(--text); background: none; border: 1px solid var(--line);
  border-radius: 6px; padding: 1px 8px; cursor: pointer;
}
button.copy:hover { border-color: var(--accent); }
.tools { display: flex; gap: 8px; margin-left: auto; }
input, .tools button {
  font: inherit; color: inherit; background: var(--ground); border: 1px solid var(--line);
  border-radius: 6px; padding: 4px 10px;
}
.tools button { cursor: pointer; }
input { width: 14em; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
main { display: grid; grid-template-columns: 1fr; min-height: 0; }
main.split { grid-template-columns: minmax(0, 11fr) minmax(0, 9fr); }
#list { overflow: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th { white-space: nowrap;
  position: sticky; top: 0; background: var(--ground); text-align: left; font-weight: 600;
  color: var(--quiet); font-size: 12px; padding: 8px 10px; border-bottom: 1px solid var(--line);
}
td { padding: 6px 10px; border-bottom: 1px solid var(--line); white-space: nowrap; vertical-align: top; }
th:first-child, td:first-child { padding-left: 16px; }
td.number, th.number { text-align: right; }
td .quiet { color: var(--quiet); font-size: 12px; }
td .more { color: var(--quiet); font-size: 12px; display: block; max-width: 24em; overflow: hidden; text-overflow: ellipsis; }
tbody tr { cursor: pointer; }
tbody tr:hover { background: color-mix(in srgb, var(--chosen) 55%, transparent); }
tbody tr[aria-selected='true'] { background: var(--chosen); }
tbody tr:focus { outline: none; box-shadow: inset 3px 0 0 var(--accent); }
.good { color: var(--good); } .warn { color: var(--warn); } .bad { color: var(--bad); }
.status { font-weight: 600; }
#empty { padding: 48px 16px; text-align: center; color: var(--quiet); }
#empty pre { display: inline-block; text-align: left; background: var(--raised); border: 1px solid var(--line); border-radius: 8px; padding: 12px 16px; color: var(--text); max-width: 100%; overflow: auto; }
aside { border-left: 1px solid var(--line); background: var(--raised); overflow: auto; padding: 12px 16px; }
aside h2 { font-size: 14px; margin: 0 0 4px; overflow-wrap: anywhere; }
aside .head { display: flex; gap: 8px; justify-content: space-between; align-items: start; }
aside .head button { font: inherit; background: none; border: 1px solid var(--line); border-radius: 6px; color: inherit; cursor: pointer; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 2px 12px; margin: 8px 0; }
dt { color: var(--quiet); } dd { margin: 0; overflow-wrap: anywhere; }
details { border-top: 1px solid var(--line); padding: 8px 0; }
summary { cursor: pointer; font-weight: 600; }
pre { margin: 8px 0 0; white-space: pre-wrap; overflow-wrap: anywhere; }
footer { padding: 6px 16px; border-top: 1px solid var(--line); color: var(--quiet); font-size: 12px; display: flex; gap: 16px; flex-wrap: wrap; }
kbd { border: 1px solid var(--line); border-radius: 4px; padding: 0 4px; font: inherit; }
main.split .client { display: none; }
main.split td .more { max-width: 9em; }
main.split td, main.split th { padding-left: 8px; padding-right: 8px; }
main.split td:first-child, main.split th:first-child { padding-left: 16px; }
@media (max-width: 900px) {
  main.split { grid-template-columns: 1fr; grid-template-rows: 1fr 1fr; }
  aside { border-left: 0; border-top: 1px solid var(--line); }
  .client { display: none; }
}
`

const script = `
'use strict'
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
  return request.state === 'cut' ? request.status + ' cut' : request.state === 'open' ? request.status + ' …' : String(request.status)
}

function ms(value) {
  if (value === undefined) return ''
  return value < 10 ? value.toFixed(1) + ' ms' : Math.round(value) + ' ms'
}

function model(request) {
  if (request.modelAsked === undefined) return ''
  return request.modelServed && request.modelServed !== request.modelAsked ? request.modelAsked + ' → ' + request.modelServed : request.modelAsked
}

function tokens(request) {
  return request.inputTokens === undefined ? '' : request.inputTokens + ' → ' + request.outputTokens
}

function matches(request) {
  if (filter === '') return true
  const text = [request.method, request.path, request.protocol, model(request), request.client, statusText(request), request.fault].join(' ').toLowerCase()
  return filter.split(/ +/).every((word) => text.includes(word))
}

function fill(row, request) {
  row.textContent = ''
  const time = make('td', new Date(request.at).toLocaleTimeString([], { hour12: false }), 'mono')
  const what = make('td', request.protocol || request.method + ' ' + request.path)
  if (request.protocol && request.stream) what.append(make('span', ' stream', 'quiet'))
  const which = make('td', model(request), 'mono')
  const who = make('td', request.client.split(' ')[0], 'client')
  who.title = request.client
  const status = make('td')
  status.append(make('span', statusText(request), 'status ' + statusClass(request)))
  if (request.fault) status.append(make('span', request.fault, 'more'))
  else if (request.protocol && !request.keyMatches) status.append(make('span', request.key ? 'key ' + request.key : 'no key', 'more'))
  row.append(time, what, which, who, status, make('td', ms(request.firstByteMs), 'number'), make('td', tokens(request), 'number'))
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
      const next = [...body.children].find((other) => byId.get(other.dataset.id).request.number < request.number)
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
  $('count').textContent = rows.length === byId.size ? byId.size + ' requests' : rows.length + ' of ' + byId.size + ' requests'
  if (rows.length > 0 && !rows.some((row) => row.tabIndex === 0)) rows[0].tabIndex = 0
}

function visible() {
  return [...$('rows').children].filter((row) => !row.hidden)
}

function pretty(text) {
  try { return JSON.stringify(JSON.parse(text), null, 2) } catch { return text }
}

function section(title, text, isOpen) {
  const details = make('details')
  details.open = isOpen
  details.append(make('summary', title), make('pre', text || '(nothing)'))
  return details
}

async function open(id, takeFocus) {
  chosen = id
  for (const row of $('rows').children) row.setAttribute('aria-selected', String(row.dataset.id === id))
  const answer = await fetch(base + 'requests/' + id)
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
  head.append(make('h2', request.method + ' ' + request.path, 'mono'), close)
  const facts = make('dl')
  const places = { bearer: 'Authorization', 'x-api-key': 'x-api-key', both: 'Authorization and x-api-key' }
  const keyText = request.auth === 'none' ? 'none' : (request.key || '(empty)') + ' in ' + places[request.auth] + (request.keyMatches ? '' : ': not the right one')
  const pairs = [
    ['Status', statusText(request)], ['Model', model(request)], ['Client', request.client], ['Key', keyText],
    ['First byte', ms(request.firstByteMs)], ['Whole answer', ms(request.totalMs)], ['Tokens', tokens(request)],
    ['Bytes', request.requestBytes + ' → ' + request.responseBytes], ['Fault', request.fault], ['Request id', request.id],
  ]
  for (const [name, value] of pairs) if (value) facts.append(make('dt', name), make('dd', value))
  const headers = Object.entries(request.headers).map(([name, value]) => name + ': ' + value).join('\\n')
  panel.append(head, facts,
    section('Answer', pretty(request.responseBody), wasOpen[0] ?? true),
    section('Request', pretty(request.requestBody), wasOpen[1] ?? true),
    section('Request headers', headers, wasOpen[2] ?? false))
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
    if (event.key === 'ArrowDown' || event.key === 'Enter') { event.preventDefault(); $('filter').blur(); move(0) }
  } else if (event.key === '/') { event.preventDefault(); $('filter').focus() }
  else if (event.key === 'ArrowDown' || event.key === 'j') { event.preventDefault(); move(1) }
  else if (event.key === 'ArrowUp' || event.key === 'k') { event.preventDefault(); move(-1) }
  else if (event.key === 'Enter' && event.target.dataset?.id) { event.preventDefault(); open(event.target.dataset.id, true) }
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
  const answer = await fetch(base + 'requests', { method: 'DELETE' })
  if (!answer.ok) return
  byId.clear()
  $('rows').textContent = ''
  shut()
  count()
})

for (const [id, address] of [['root', location.origin], ['v1', location.origin + '/v1']]) {
  const button = $(id)
  button.textContent = address
  button.onclick = async () => {
    await navigator.clipboard.writeText(address)
    button.textContent = 'copied'
    setTimeout(() => { button.textContent = address }, 900)
  }
}
$('example').textContent = 'curl ' + location.origin + '/v1/chat/completions \\\\\\n  -H "Authorization: Bearer $KEY" -H "Content-Type: application/json" \\\\\\n  -d \\'{"model":"gpt-5.6","messages":[{"role":"user","content":"ping"}]}\\''

async function load() {
  const answer = await fetch(base + 'requests')
  show((await answer.json()).reverse())
}

const events = new EventSource(base + 'events')
events.addEventListener('requests', (event) => show(JSON.parse(event.data)))
// Also after a break: what happened in between is fetched again.
events.onopen = () => { $('live').dataset.on = 'true'; $('live').title = 'live'; load() }
events.onerror = () => { $('live').dataset.on = 'false'; $('live').title = 'not connected' }
`

export const pageHtml = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>repoint serve</title>
<link rel="icon" href="data:,">
<style>${style}</style>
</head>
<body>
<header>
<h1><span id="live" role="img" aria-label="connection"></span>repoint serve</h1>
<div class="addresses"><span>messages <button class="copy mono" id="root" title="Copy"></button></span><span>chat, responses <button class="copy mono" id="v1" title="Copy"></button></span></div>
<div class="tools"><input id="filter" type="search" placeholder="Filter" aria-label="Filter requests"><button id="clear" type="button">Clear</button></div>
</header>
<main id="main">
<section id="list" aria-label="Requests">
<table id="table" hidden>
<thead><tr><th>Time</th><th>Request</th><th>Model</th><th class="client">Client</th><th>Status</th><th class="number">First byte</th><th class="number">Tokens</th></tr></thead>
<tbody id="rows"></tbody>
</table>
<div id="empty"><p>No requests yet.</p><pre id="example"></pre></div>
</section>
<aside id="panel" aria-label="One request" hidden></aside>
</main>
<footer><span id="count" role="status"></span><span><kbd>↑</kbd> <kbd>↓</kbd> move</span><span><kbd>Enter</kbd> open</span><span><kbd>Esc</kbd> close</span><span><kbd>/</kbd> filter</span></footer>
<script>${script}</script>
</body>
</html>
`

let policy: string | undefined

/** Allows what the page holds and its own server, and nothing else. */
export function pagePolicy(): string {
  const hash = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`
  policy ??= [
    "default-src 'none'",
    `script-src ${hash(script)}`,
    `style-src ${hash(style)}`,
    "connect-src 'self'",
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
  return policy
}
