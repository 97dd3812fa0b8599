/** Elements of the page. What a client sent gets into it by `textContent` only. */

export function $(id: string): HTMLElement {
  const found = document.getElementById(id)
  if (found === null) throw new Error(`the page has no #${id}`)
  return found
}

type Child = Node | string | undefined

export function make<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  className = '',
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
  const node = document.createElement(tag)
  if (className !== '') node.className = className
  node.append(...children.filter((child) => child !== undefined))
  return node
}

export function button(text: string, onClick: () => void, name = text): HTMLButtonElement {
  const node = make('button', '', text)
  node.type = 'button'
  // What brings the focus back after the panel was drawn anew.
  node.dataset['name'] = name
  node.onclick = onClick
  return node
}

/** A button that shows others. */
export function menu(title: string, items: Readonly<Record<string, () => void>>): HTMLElement {
  const details = make('details', 'menu')
  const summary = make('summary', '', title)
  summary.dataset['name'] = title
  details.append(summary, make('div'))
  fillMenu(details, items)
  return details
}

export function fillMenu(
  details: HTMLDetailsElement,
  items: Readonly<Record<string, () => void>>,
): void {
  const shut = () => {
    details.open = false
  }
  for (const [text, run] of Object.entries(items)) {
    const choose = () => {
      shut()
      run()
    }
    details.lastElementChild?.append(button(text, choose))
  }
  details.addEventListener('focusout', ({ relatedTarget }) => {
    if (!details.contains(relatedTarget as Node | null)) shut()
  })
  details.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || !details.open) return
    event.stopPropagation()
    shut()
    details.querySelector('summary')?.focus()
  })
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
  const link = make('a')
  link.href = URL.createObjectURL(new Blob([text], { type }))
  link.download = name
  link.click()
  URL.revokeObjectURL(link.href)
  say(`Saved ${name}.`)
}
