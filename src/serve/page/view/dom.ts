import { type ComponentChildren, Fragment, type HTMLAttributes, h, type JSX, render } from 'preact'

/** Elements of the page. What a client sent gets into it as text only. */

export function $(id: string): HTMLElement {
  const found = document.getElementById(id)
  if (found === null) throw new Error(`the page has no #${id}`)
  return found
}

export function make(
  tag: keyof HTMLElementTagNameMap,
  className: string,
  ...children: readonly ComponentChildren[]
): JSX.Element {
  return h(tag, className === '' ? null : { class: className }, ...children)
}

/** @param more further attributes */
export function button(
  text: string,
  onClick: () => void,
  more: Readonly<Record<string, string | boolean>> = {},
): JSX.Element {
  return h('button', { type: 'button', onClick, ...more }, text)
}

/** A button that shows others. */
export function menu(title: string, items: Readonly<Record<string, () => void>>): JSX.Element {
  return h<HTMLAttributes<HTMLDetailsElement>, HTMLDetailsElement>(
    'details',
    {
      class: 'menu',
      onFocusOut: ({ currentTarget, relatedTarget }) => {
        if (!currentTarget.contains(relatedTarget as Node | null)) currentTarget.open = false
      },
      onKeyDown: (event) => {
        const { currentTarget, key } = event
        if (key !== 'Escape' || !currentTarget.open) return
        event.stopPropagation()
        currentTarget.open = false
        currentTarget.querySelector('summary')?.focus()
      },
      onClick: ({ currentTarget, target }) => {
        if (target instanceof HTMLButtonElement) currentTarget.open = false
      },
    },
    make('summary', '', title),
    make('div', '', ...Object.entries(items).map(([text, run]) => button(text, run))),
  )
}

/** Draws the whole of an element's content; what is the same stays. */
export function draw(parent: HTMLElement, ...content: readonly ComponentChildren[]): void {
  render(h(Fragment, null, ...content), parent)
}

/** Says something in passing, also to a screen reader. */
export function say(text: string): void {
  $('said').textContent = text
  clearTimeout(saying)
  saying = setTimeout(() => $('said').replaceChildren(), 2500)
}

let saying: ReturnType<typeof setTimeout> | undefined

export async function copy(text: string, what: string): Promise<void> {
  // Browsers lend the clipboard to this machine's pages only.
  if (navigator.clipboard === undefined)
    return say('This browser does not copy for a page of another machine.')
  await navigator.clipboard.writeText(text)
  say(`Copied ${what}.`)
}

export function save(name: string, type: string, text: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([text], { type }))
  link.download = name
  link.click()
  URL.revokeObjectURL(link.href)
  say(`Saved ${name}.`)
}
