import { Component, h, type JSX } from 'preact'
import { type Filter, isError, readFilter } from '../read/filter.ts'
import { $, draw, make } from './dom.ts'
import type { KnownRequest, Store } from './store.ts'
import {
  clientText,
  clockTime,
  duration,
  endOf,
  joined,
  modelText,
  plural,
  startOf,
  statusClass,
  statusText,
  tokensText,
} from './words.ts'

/** The requests by conversation, newest first. */
export class List {
  readonly #store: Store
  #filter: Filter = () => true
  #chosen: string | undefined
  /** Where Tab leads to. */
  #current: string | undefined

  constructor(store: Store) {
    this.#store = store
  }

  /** What the filter lets through, oldest first. */
  get shown(): readonly KnownRequest[] {
    return this.#store.all.filter(this.#filter)
  }

  filterBy(text: string): void {
    this.#filter = readFilter(text)
    this.draw()
  }

  choose(id: string | undefined): void {
    this.#chosen = id
    this.draw()
  }

  focus(id: string): void {
    this.#current = id
    this.draw()
    const row = visibleRows().find(({ dataset }) => dataset['id'] === id)
    row?.focus()
    row?.scrollIntoView({ block: 'nearest' })
  }

  /** Moves the focus by some rows. Returns where it is then. */
  move(step: number): string | undefined {
    const rows = visibleRows()
    const at = rows.indexOf(document.activeElement as HTMLElement)
    const from = at === -1 ? rows.findIndex((row) => row.tabIndex === 0) - Math.sign(step) : at
    const id = rows[Math.min(rows.length - 1, Math.max(0, from + step))]?.dataset['id']
    if (id !== undefined) this.focus(id)
    return id
  }

  draw(): void {
    const threads = new Map<string, KnownRequest[]>()
    for (const entry of this.#store.all.toReversed()) {
      const members = threads.get(entry.place.thread) ?? []
      threads.set(entry.place.thread, members)
      members.push(entry)
    }

    const { shown } = this
    const ids = new Set(shown.map(({ request }) => request.id))
    if (!ids.has(this.#current ?? ''))
      this.#current = [...threads.values()]
        .flat()
        .find(({ request }) => ids.has(request.id))?.request.id

    draw($('rows'), ...[...threads].map(([id, members]) => this.#thread(id, members, ids)))
    this.#count(shown.length)
  }

  #count(shown: number): void {
    const { length } = this.#store.all
    $('empty').hidden = length > 0
    $('nothing').hidden = shown > 0 || length === 0
    document.querySelector<HTMLElement>('.columns')!.hidden = shown === 0
    $('count').textContent =
      shown === length ? plural(length, 'request') : `${shown} of ${plural(length, 'request')}`
  }

  /** @param members newest first */
  #thread(key: string, members: readonly KnownRequest[], shown: ReadonlySet<string>): JSX.Element {
    const first = members.at(-1)!
    const title = first.digest?.asks ?? first.request.path

    const rows = members.map((entry) => {
      const { id } = entry.request
      return h(Row, {
        key: id,
        entry,
        version: entry.version,
        isHidden: !shown.has(id),
        isChosen: id === this.#chosen,
        isCurrent: id === this.#current,
      })
    })
    const isOne = members.length === 1
    return h(
      'div',
      {
        key,
        class: 'thread',
        role: 'group',
        'aria-label': isOne ? 'One request' : `Conversation of ${members.length}: ${title}`,
        hidden: members.every(({ request }) => !shown.has(request.id)),
      },
      isOne ? undefined : headOf(title, members),
      ...rows,
    )
  }
}

function visibleRows(): readonly HTMLElement[] {
  return [...$('rows').querySelectorAll<HTMLElement>('.row:not([hidden])')]
}

/** Of a conversation, newest request first. */
function headOf(title: string, members: readonly KnownRequest[]): JSX.Element {
  const requests = members.map(({ request }) => request)
  const took = Math.max(...requests.map(endOf)) - startOf(requests.at(-1)!)

  const counted = requests.filter(({ inputTokens }) => inputTokens !== undefined)
  const sumOf = (name: 'inputTokens' | 'outputTokens') =>
    counted.reduce((sum, request) => sum + (request[name] ?? 0), 0)
  const tokens = counted.length === 0 ? '' : tokensText(sumOf('inputTokens'), sumOf('outputTokens'))

  const sum = joined(
    ' · ',
    plural(members.length, 'request'),
    duration(took),
    tokens && `${tokens} tokens`,
  )
  return make('div', 'head', make('span', 'title', title), make('span', 'sum', sum))
}

interface RowParts {
  readonly entry: KnownRequest
  readonly version: number
  readonly isHidden: boolean
  readonly isChosen: boolean
  readonly isCurrent: boolean
}

class Row extends Component<RowParts> {
  /** There may be a thousand, of which one has changed. */
  override shouldComponentUpdate(next: RowParts): boolean {
    const names = Object.keys(next) as (keyof RowParts)[]
    return names.some((name) => next[name] !== this.props[name])
  }

  override render({ entry, isHidden, isChosen, isCurrent }: RowParts): JSX.Element {
    const { request, digest } = entry
    const asks = digest?.asks ?? `${request.method} ${request.path}`
    const says = digest?.says ?? ''
    const status = statusText(request)
    const model = modelText(request)
    const took = duration(request.totalMs)
    const time = clockTime(request.at)
    const marks = joined(
      ', ',
      request.fault === undefined ? '' : `fault: ${request.fault}`,
      request.protocol === undefined || request.keyMatches ? '' : 'wrong key',
    )
    const kind = joined(
      ' · ',
      clientText(request),
      request.protocol ?? '',
      request.stream ? 'stream' : '',
    )
    const saysClass = `says ${isError(entry) ? statusClass(request) : ''}`
    const statusName = `status ${statusClass(request)}`

    return h(
      'div',
      {
        class: 'row',
        role: 'option',
        tabIndex: isCurrent ? 0 : -1,
        'data-id': request.id,
        'aria-selected': isChosen,
        'aria-label': joined(', ', asks, says, `status ${status}`, marks, model, took, time),
        title: joined('\n', request.client, marks),
        hidden: isHidden,
      },
      make('span', 'time mono', time),
      make('span', 'what', make('span', 'asks', asks), make('span', saysClass, says)),
      make('span', 'who', make('span', 'model mono', model), make('span', 'client', kind)),
      make('span', 'state', make('span', statusName, status), make('span', 'more', marks)),
      make('span', 'took', took),
    )
  }
}
