import { type ComponentChildren, Fragment, h, type JSX } from 'preact'
import { useState } from 'preact/hooks'
import { button, make } from './dom.ts'
import { amount } from './words.ts'

/** Which parts of the panel a person has opened; the same for the next request. */
const opened = new Map<string, boolean>()

interface Fold {
  /** Keeps it open or shut from one request to the next. */
  readonly name: string
  readonly title: string
  /** Beside the title, small. */
  readonly note?: string
  readonly isOpen?: boolean
  /** Asked for while it is open: what nobody looks at is not drawn. */
  readonly content: () => readonly ComponentChildren[]
}

/** A part that can be opened. */
export function fold(parts: Fold): JSX.Element {
  return h(FoldView, { key: parts.name, ...parts })
}

function FoldView({ name, title, note = '', isOpen = false, content }: Fold): JSX.Element {
  const [, redraw] = useState({})
  const isShown = opened.get(name) ?? isOpen
  const onClick = (event: Event) => {
    event.preventDefault()
    opened.set(name, !isShown)
    redraw({})
  }

  return h(
    'details',
    { class: 'fold', open: isShown },
    h('summary', { onClick }, make('span', 'name', title), make('span', 'note', note)),
    ...(isShown ? content() : []),
  )
}

/** Longer texts are cut until a person asks for the rest, in characters. */
const maxShown = 3000

/** A text with its line breaks, cut if it is long. */
export function longText(text: string, className = ''): JSX.Element {
  return h(LongText, { text, className })
}

function LongText({ text, className }: { readonly text: string; readonly className: string }) {
  const [whole, showWhole] = useState('')
  const name = `text ${className}`
  if (text.length <= maxShown || text === whole) return make('div', name, text)
  const title = `Show all ${amount(text.length)} characters`
  return make(
    'div',
    name,
    `${text.slice(0, maxShown)}… `,
    button(title, () => showWhole(text), { class: 'rest' }),
  )
}

/** A body as it came, and laid out where it is JSON. */
export function BodyText({ body }: { readonly body: string }): JSX.Element {
  const [isLaidOut, layOut] = useState(false)
  if (body === '') return make('p', 'quiet', 'Nothing.')
  const better = laidOut(body)
  const raw = make('pre', '', isLaidOut ? better : body)
  if (better === body) return raw
  const turn = button(isLaidOut ? 'Show as sent' : 'Show laid out', () => layOut(!isLaidOut))
  return h(Fragment, null, turn, raw)
}

/** JSON laid out, anything else as it is. */
export function laidOut(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
