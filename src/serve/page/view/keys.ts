import { $ } from './dom.ts'
import type { List } from './list.ts'
import type { Panel } from './panel.ts'

interface KeyTargets {
  readonly list: List
  readonly panel: Panel
  readonly filter: HTMLInputElement
  open(id: string, takeFocus?: boolean): void
  shut(): void
}

/** Everything that the mouse does, from the keyboard. */
export function onKeys({ list, panel, filter, open, shut }: KeyTargets): void {
  const move = (step: number) => {
    const id = list.move(step)
    if (id !== undefined && panel.id !== undefined) open(id)
  }
  const turn = (step: 1 | -1) => {
    const id = panel.neighbour(step)
    if (id === undefined) return
    if (!$('panel').contains(document.activeElement)) list.focus(id)
    open(id)
  }
  const inList: Readonly<Record<string, () => void>> = {
    ArrowDown: () => move(1),
    j: () => move(1),
    ArrowUp: () => move(-1),
    k: () => move(-1),
    Home: () => move(-Infinity),
    End: () => move(Infinity),
    Enter: openFocused,
    ' ': openFocused,
  }
  const anywhere: Readonly<Record<string, () => void>> = {
    '/': () => filter.focus(),
    Escape: shut,
    ArrowLeft: () => turn(-1),
    ArrowRight: () => turn(1),
  }

  function openFocused(): void {
    const id = (document.activeElement as HTMLElement).dataset['id']
    if (id !== undefined) open(id, true)
  }

  function fromFilter(key: string): (() => void) | undefined {
    if (key === 'Escape') return () => filter.blur()
    if (key === 'ArrowDown' || key === 'Enter') return () => list.move(0)
    return undefined
  }

  document.addEventListener('keydown', (event) => {
    const { key, target } = event
    if (event.ctrlKey || event.metaKey || event.altKey || ($('sure') as HTMLDialogElement).open)
      return
    const isElsewhere = target !== document.body && !$('rows').contains(target as Node)
    const act =
      target === filter
        ? fromFilter(key)
        : (anywhere[key] ?? (isElsewhere ? undefined : inList[key]))
    if (act === undefined) return
    event.preventDefault()
    act()
  })
}
