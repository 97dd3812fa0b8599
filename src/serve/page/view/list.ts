import { type Filter, readFilter } from '../read/filter.ts'
import { $, make } from './dom.ts'
import type { Entry, Store } from './store.ts'
import { bar, endOf, strip } from './timeline.ts'
import {
  clientText,
  clockTime,
  duration,
  joined,
  modelText,
  plural,
  startOf,
  statusClass,
  statusText,
  tokensText,
} from './words.ts'

interface Row {
  readonly node: HTMLElement
  version: number
  longestMs: number
}

interface Group {
  readonly node: HTMLElement
  readonly head: HTMLElement
  /** What its head was drawn from. */
  drawn: string
}

/** The requests by conversation, newest first. */
export class List {
  readonly #store: Store
  readonly #rows = new Map<string, Row>()
  readonly #groups = new Map<string, Group>()
  #filter: Filter = () => true
  #chosen: string | undefined

  constructor(store: Store) {
    this.#store = store
  }

  /** Those that the filter lets through, newest conversation first. */
  get visible(): readonly HTMLElement[] {
    return [...$('rows').querySelectorAll<HTMLElement>('.row')].filter((row) => !row.hidden)
  }

  /** Oldest first. */
  get shown(): readonly Entry[] {
    return this.#store.all.filter(this.#filter)
  }

  filterBy(text: string): void {
    this.#filter = readFilter(text)
    this.#sift()
  }

  choose(id: string | undefined): void {
    this.#rows.get(this.#chosen ?? '')?.node.setAttribute('aria-selected', 'false')
    this.#rows.get(id ?? '')?.node.setAttribute('aria-selected', 'true')
    this.#chosen = id
  }

  focus(id: string): void {
    const row = this.#rows.get(id)?.node
    if (row === undefined) return
    for (const { node } of this.#rows.values()) node.tabIndex = -1
    row.tabIndex = 0
    row.focus()
    row.scrollIntoView({ block: 'nearest' })
  }

  /** Moves the focus by some rows. Returns where it is then. */
  move(step: number): string | undefined {
    const rows = this.visible
    const at = rows.indexOf(document.activeElement as HTMLElement)
    const from = at === -1 ? rows.findIndex((row) => row.tabIndex === 0) - Math.sign(step) : at
    const id = rows[Math.min(rows.length - 1, Math.max(0, from + step))]?.dataset['id']
    if (id !== undefined) this.focus(id)
    return id
  }

  draw(): void {
    this.#arrange()
    this.#sift()
  }

  /** Shows what the filter lets through, and the conversations that have some of it. */
  #sift(): void {
    const { shown } = this
    const ids = new Set(shown.map(({ request }) => request.id))
    const threads = new Set(shown.map(({ place }) => place.thread))
    for (const [id, { node }] of this.#groups) node.hidden = !threads.has(id)
    for (const [id, { node }] of this.#rows) {
      node.hidden = !ids.has(id)
      if (node.hidden) node.tabIndex = -1
    }

    const rows = this.visible
    if (rows[0] !== undefined && !rows.some(({ tabIndex }) => tabIndex === 0)) rows[0].tabIndex = 0
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

  #arrange(): void {
    const threads = new Map<string, Entry[]>()
    for (const entry of this.#store.all.toReversed()) {
      const members = threads.get(entry.place.thread) ?? []
      threads.set(entry.place.thread, members)
      members.push(entry)
    }
    for (const [id, { node }] of this.#rows)
      if (this.#store.find(id) === undefined) {
        node.remove()
        this.#rows.delete(id)
      }
    for (const [id, { node }] of this.#groups)
      if (!threads.has(id)) {
        node.remove()
        this.#groups.delete(id)
      }

    const groups = [...threads].map(([id, members]) => this.#group(id, members))
    putInOrder($('rows'), groups)
  }

  /** @param members newest first */
  #group(id: string, members: readonly Entry[]): HTMLElement {
    let group = this.#groups.get(id)
    if (group === undefined) {
      const head = make('div', 'head')
      group = { node: make('div', 'thread', head), head, drawn: '' }
      group.node.role = 'group'
      this.#groups.set(id, group)
    }
    const drawn = members.map(({ request, version }) => `${request.id} ${version}`).join()
    if (group.drawn !== drawn) {
      group.drawn = drawn
      drawHead(group, members)
      const longestMs = Math.max(...members.map(({ request }) => request.totalMs ?? 0))
      putInOrder(group.node, [group.head, ...members.map((entry) => this.#row(entry, longestMs))])
    }
    return group.node
  }

  #row(entry: Entry, longestMs: number): HTMLElement {
    const { id } = entry.request
    let row = this.#rows.get(id)
    if (row === undefined) {
      const node = make('div', 'row')
      node.role = 'option'
      node.tabIndex = -1
      node.dataset['id'] = id
      node.setAttribute('aria-selected', String(id === this.#chosen))
      row = { node, version: -1, longestMs: 0 }
      this.#rows.set(id, row)
    }
    if (row.version !== entry.version || row.longestMs !== longestMs)
      drawRow(row.node, entry, longestMs)
    row.version = entry.version
    row.longestMs = longestMs
    return row.node
  }
}

/** Moves only what stands elsewhere: a row that has the focus keeps it. */
function putInOrder(parent: HTMLElement, nodes: readonly HTMLElement[]): void {
  let at = parent.firstChild
  for (const node of nodes)
    if (node === at) at = at.nextSibling
    else parent.insertBefore(node, at)
}

function drawHead({ node, head }: Group, members: readonly Entry[]): void {
  const first = members.at(-1)!
  const isOne = members.length === 1
  const requests = members.map(({ request }) => request)
  const title = first.digest?.asks ?? first.request.path
  node.setAttribute(
    'aria-label',
    isOne ? 'One request' : `Conversation of ${members.length}: ${title}`,
  )
  head.hidden = isOne
  if (isOne) return

  const took = Math.max(...requests.map(endOf)) - startOf(first.request)
  const answered = requests.filter(({ inputTokens }) => inputTokens !== undefined)
  const tokens = tokensText(
    answered.length === 0 ? undefined : sumOf(answered.map(({ inputTokens = 0 }) => inputTokens)),
    sumOf(answered.map(({ outputTokens = 0 }) => outputTokens)),
  )
  head.replaceChildren(
    make('span', 'title', title),
    make(
      'span',
      'sum',
      joined(
        ' · ',
        plural(members.length, 'request'),
        duration(took),
        tokens && `${tokens} tokens`,
      ),
    ),
    strip(requests),
  )
}

function drawRow(node: HTMLElement, entry: Entry, longestMs: number): void {
  const { request, digest } = entry
  const asks = digest?.asks ?? `${request.method} ${request.path}`
  const says = digest?.says ?? ''
  const status = statusText(request)
  const time = make('span', 'time mono', clockTime(request.at))
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

  node.replaceChildren(
    time,
    make(
      'span',
      'what',
      make('span', 'asks', asks),
      make('span', `says ${isRefused(entry) ? statusClass(request) : ''}`, says),
    ),
    make(
      'span',
      'who',
      make('span', 'model mono', modelText(request)),
      make('span', 'client', kind),
    ),
    make(
      'span',
      'state',
      make('span', `status ${statusClass(request)}`, status),
      make('span', 'more', marks),
    ),
    make('span', 'took', duration(request.totalMs), bar(request, longestMs)),
  )
  node.title = joined('\n', request.client, marks)
  node.ariaLabel = joined(
    ', ',
    asks,
    says,
    `status ${status}`,
    marks,
    modelText(request),
    duration(request.totalMs),
    clockTime(request.at),
  )
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, one) => sum + one, 0)
}

function isRefused({ request }: Entry): boolean {
  return (request.status ?? 0) >= 400 || request.reason !== undefined
}
