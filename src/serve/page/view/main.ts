import '../style/page.css'
import { $, copy, draw, menu } from './dom.ts'
import { saveHar, saveScenario } from './export.ts'
import { onKeys } from './keys.ts'
import { List } from './list.ts'
import { goLive } from './live.ts'
import { Panel } from './panel.ts'
import { Store } from './store.ts'
import { plural } from './words.ts'

const store = new Store()
const list = new List(store)
const panel = new Panel({ store, open: (id) => open(id), shut })
const live = goLive(store, changed)
let isScheduled = false

/** However often it is called, the page is drawn once for a picture on the screen. */
function changed(): void {
  if (isScheduled) return
  isScheduled = true
  requestAnimationFrame(() => {
    isScheduled = false
    store.arrange()
    list.draw()
    panel.draw()
    showPause()
  })
}

function open(id: string, takeFocus = false): void {
  list.choose(id)
  panel.show(id)
  if (takeFocus) $('panel').querySelector<HTMLElement>('.close')?.focus()
}

function shut(): void {
  const { id } = panel
  panel.show(undefined)
  list.choose(undefined)
  if (id !== undefined) list.focus(id)
}

$('rows').addEventListener('click', ({ target }) => {
  const id = (target as Element).closest<HTMLElement>('.row')?.dataset['id']
  if (id === undefined) return
  list.focus(id)
  open(id)
})

const filter = $('filter') as HTMLInputElement
filter.addEventListener('input', () => list.filterBy(filter.value))

$('pause').addEventListener('click', () => {
  const isPaused = $('pause').ariaPressed !== 'true'
  $('pause').ariaPressed = String(isPaused)
  live.pause(isPaused)
})

function showPause(): void {
  const isPaused = $('pause').ariaPressed === 'true'
  const waiting = live.waiting()
  $('pause').textContent = isPaused ? `Resume${waiting === 0 ? '' : ` (${waiting} new)`}` : 'Pause'
}

$('clear').addEventListener('click', () => {
  if (store.all.length === 0) return
  $('sure-question').textContent =
    `Clear the log of ${plural(store.all.length, 'request')}? They cannot be had back.`
  const dialog = $('sure') as HTMLDialogElement
  dialog.returnValue = ''
  dialog.showModal()
})

$('sure').addEventListener('close', async () => {
  if (($('sure') as HTMLDialogElement).returnValue !== 'yes') return
  await live.clear()
  panel.show(undefined)
  list.choose(undefined)
})

const shown = () => list.shown.flatMap(({ full }) => full ?? [])
draw(
  $('export'),
  menu('Export', {
    'Shown requests as HAR': () => saveHar(shown()),
    'Shown requests as scenario': () => saveScenario(shown()),
  }),
)

for (const [id, address] of [
  ['root', location.origin],
  ['v1', `${location.origin}/v1`],
] as const) {
  $(id).textContent = address
  $(id).title = `Copy ${address}`
  $(id).onclick = () => copy(address, 'the address')
}
$('example').textContent =
  `curl ${location.origin}/v1/chat/completions \\\n  -H "Authorization: Bearer $KEY" -H "Content-Type: application/json" \\\n  -d '{"model":"gpt-5.6","messages":[{"role":"user","content":"ping"}]}'`

onKeys({ list, panel, open, shut, filter })
