import { button, make } from './dom.ts'

/** Which parts of the panel a person has opened; the same for the next request. */
const opened = new Map<string, boolean>()

interface Fold {
  /** Keeps it open or shut from one request to the next. */
  readonly name: string
  readonly title: string
  /** Beside the title, small. */
  readonly note?: string
  readonly isOpen?: boolean
  /** Called when it is opened: what nobody looks at is not drawn. */
  readonly content: () => readonly (Node | string)[]
}

/** A part that can be opened. */
export function fold({ name, title, note = '', isOpen = false, content }: Fold): HTMLElement {
  const details = make('details', 'fold')
  const summary = make('summary', '', make('span', 'name', title), make('span', 'note', note))
  summary.dataset['name'] = name
  details.append(summary)
  const fill = () => {
    if (details.childElementCount === 1) details.append(...content())
  }
  details.open = opened.get(name) ?? isOpen
  if (details.open) fill()
  // Noted at once: the panel may be drawn anew before the browser tells that it has opened.
  summary.onclick = () => {
    opened.set(name, !details.open)
    fill()
  }
  // The browser's own search opens it without a click.
  details.ontoggle = () => {
    if (details.open) fill()
  }
  return details
}

/** Longer texts are cut until a person asks for the rest, in characters. */
const maxShown = 3000

/** A text with its line breaks, cut if it is long. */
export function longText(text: string, className = ''): HTMLElement {
  const node = make('div', `text ${className}`, text.slice(0, maxShown))
  if (text.length <= maxShown) return node
  const rest = button(`Show all ${text.length.toLocaleString('en')} characters`, () => {
    node.textContent = text
  })
  rest.className = 'rest'
  node.append('… ', rest)
  return node
}

/** JSON laid out, anything else as it is. */
export function laidOut(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
