import { type ComponentChildren, h, type JSX } from 'preact'
import type { LoggedRequest, RequestSummary } from '../../log/request-log.ts'
import { readExchange } from '../../transcript/exchange.ts'
import { curlOf } from '../read/curl.ts'
import { $, button, copy, draw, make, menu } from './dom.ts'
import { saveHar, saveScenario } from './export.ts'
import { BodyText, fold } from './folds.ts'
import type { KnownRequest, Store } from './store.ts'
import { conversation } from './turns.ts'
import {
  amount,
  clockTime,
  duration,
  endOf,
  joined,
  keyText,
  modelText,
  startOf,
  statusClass,
  statusText,
  tokensText,
} from './words.ts'

interface PanelParts {
  readonly store: Store
  readonly open: (id: string) => void
  readonly shut: () => void
}

/** One request: its conversation first, then everything as it came. */
export class Panel {
  readonly #parts: PanelParts
  #id: string | undefined
  /** What is drawn. */
  #drawn = ''

  constructor(parts: PanelParts) {
    this.#parts = parts
  }

  get id(): string | undefined {
    return this.#id
  }

  show(id: string | undefined): void {
    this.#id = id
    this.#drawn = ''
    this.draw()
    $('panel').scrollTop = 0
  }

  /** The next one in its conversation, `1`, or the one before, `-1`. */
  neighbour(step: 1 | -1): string | undefined {
    const entry = this.#parts.store.find(this.#id)
    if (entry === undefined) return undefined
    const thread = this.#parts.store.thread(entry.place.thread)
    return thread[thread.indexOf(entry) + step]?.request.id
  }

  /** Draws what has changed: somebody may be reading. */
  draw(): void {
    const { store } = this.#parts
    const entry = store.find(this.#id)
    const isShown = this.#id !== undefined
    $('main').classList.toggle('split', isShown)
    $('panel').hidden = !isShown
    const thread = entry === undefined ? [] : store.thread(entry.place.thread)
    const drawn = `${this.#id} ${entry?.version} ${thread.length}`
    if (!isShown || drawn === this.#drawn) return

    this.#drawn = drawn
    draw($('panel'), ...(entry === undefined ? this.#gone() : this.#view(entry, thread)))
  }

  #gone(): readonly JSX.Element[] {
    return [make('div', 'top', make('h2', '', 'This request has left the log.'), this.#close())]
  }

  #close(): JSX.Element {
    return button('✕', this.#parts.shut, { class: 'close', 'aria-label': 'Close' })
  }

  #view(entry: KnownRequest, thread: readonly KnownRequest[]): readonly ComponentChildren[] {
    const { request, full, digest, place } = entry
    const title = digest?.asks ?? `${request.method} ${request.path}`
    const before = this.#parts.store.find(place.before)
    const exchange = full && readExchange(full)

    const top = [
      make('div', 'top', make('h2', '', title), this.#close()),
      make('p', 'route mono', `${request.method} ${request.path}`),
      this.#tools(entry, thread),
      reasonView(request, exchange?.problem),
      factsView(entry, before),
    ]

    if (full === undefined || exchange === undefined) return top
    const earlier = before?.full && readExchange(before.full).question
    return [
      ...top,
      ...conversation(exchange, earlier),
      make('h3', '', 'As it came'),
      headersFold('Request headers', full.headers),
      bodyFold('Request body', full.requestBody, full.requestBytes),
      headersFold('Answer headers', full.responseHeaders),
      bodyFold('Answer body', full.responseBody, full.responseBytes),
    ]
  }

  #tools({ full }: KnownRequest, thread: readonly KnownRequest[]): JSX.Element {
    const { open } = this.#parts
    const at = thread.findIndex(({ request }) => request.id === this.#id)
    const step = (text: string, arrow: string, to: 1 | -1) => {
      const id = this.neighbour(to)
      const title = `${text} in this conversation`
      const more = { title, 'aria-label': title, disabled: id === undefined }
      return button(arrow, () => id !== undefined && open(id), more)
    }

    const place = make('span', '', `${at + 1} of ${thread.length}`)
    const steps =
      thread.length > 1 &&
      make('span', 'steps', step('Earlier', '←', -1), place, step('Later', '→', 1))

    if (full === undefined) return make('div', 'buttons', steps)
    const all = thread.flatMap((one) => one.full ?? [])
    return make(
      'div',
      'buttons',
      steps,
      button('Copy as curl', () =>
        copy(curlOf(full, location.origin), 'the command; its key is $REPOINT_API_KEY'),
      ),
      button('Copy body', () => copy(full.requestBody, 'the body of the request')),
      menu('Export', {
        ...(thread.length === 1
          ? {}
          : {
              'Conversation as scenario': () => saveScenario(all),
              'Conversation as HAR': () => saveHar(all),
            }),
        'This request as scenario': () => saveScenario([full]),
        'This request as HAR': () => saveHar([full]),
      }),
    )
  }
}

/** @param said by the answer itself */
function reasonView(request: RequestSummary, said: string | undefined): JSX.Element | undefined {
  const cut = request.state === 'cut' ? 'The connection ended before the answer did.' : undefined
  const problem = request.reason ?? said
  if (problem === undefined && cut === undefined) return undefined

  const isMade = problem !== undefined && request.fault !== undefined
  const made = isMade ? ` (A fault made it so: ${request.fault}.)` : ''
  const status = make('b', '', statusText(request))
  return make('p', `reason ${statusClass(request)}`, status, ' ', problem ?? cut, made)
}

function factsView(
  { request, digest }: KnownRequest,
  before: KnownRequest | undefined,
): JSX.Element {
  const { requestBytes, responseBytes, firstByteMs, totalMs } = request
  const usage = digest?.usage
  const gap = before === undefined ? undefined : startOf(request) - endOf(before.request)
  const facts: Readonly<Record<string, JSX.Element | string>> = {
    Status: make('span', `status ${statusClass(request)}`, statusText(request)),
    Model: modelText(request),
    Client: request.client,
    Key: keyText(request),
    Tokens: joined(
      ', ',
      tokensText(request.inputTokens, request.outputTokens),
      usage?.cachedTokens ? `${amount(usage.cachedTokens)} cached` : '',
      usage?.reasoningTokens ? `${amount(usage.reasoningTokens)} reasoning` : '',
    ),
    Bytes: `${amount(requestBytes)} → ${amount(responseBytes)}`,
    Fault: request.fault ?? '',
    'Request id': make('span', 'mono', request.id),
  }
  const list = Object.entries(facts).flatMap(([name, value]) =>
    value === '' ? [] : [make('dt', '', name), make('dd', '', value)],
  )

  const times = joined(
    ' · ',
    clockTime(request.at),
    gap === undefined ? '' : `${duration(Math.max(0, gap))} after the one before`,
    firstByteMs === undefined ? '' : `first byte ${duration(firstByteMs)}`,
    totalMs === undefined ? 'still open' : `whole answer ${duration(totalMs)}`,
  )
  return make('div', '', make('p', 'times', times), make('dl', 'facts', ...list))
}

function headersFold(title: string, headers: LoggedRequest['headers']): JSX.Element {
  const entries = Object.entries(headers)
  return fold({
    name: title,
    title,
    note: String(entries.length),
    content: () => [
      make('pre', '', entries.map(([name, value]) => `${name}: ${value}`).join('\n')),
    ],
  })
}

function bodyFold(title: string, body: string, bytes: number): JSX.Element {
  const isCut = body.length > 0 && body.length * 4 < bytes
  return fold({
    name: title,
    title,
    note: `${amount(bytes)} bytes${isCut ? ', of which the log kept the beginning' : ''}`,
    content: () => [h(BodyText, { body })],
  })
}
