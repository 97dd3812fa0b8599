/**
 * Makes src/gateway/models/snapshot.json: what models.dev (MIT) says of models, by their ids without a
 * vendor. Whoever makes a model knows it best: where its own provider has an entry, that one counts, and
 * of the others only that on which at least two providers agree, and none says otherwise.
 *
 *   node scripts/models-snapshot.js
 *
 * opencode carries the table in its program (scripts/install.js names the version), so no network is
 * needed. A row: context window, output limit, abilities; 0 is unknown; `i`mages, `r`easoning and
 * `t`ools in lower case are there, in upper case they are not.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runInNewContext } from 'node:vm'
import { modulesOf } from './install.js'

/** The makers among the providers, those that serve models of others behind those that do not. */
const makers = [
  ...[
    'openai',
    'anthropic',
    'google',
    'xai',
    'deepseek',
    'moonshotai',
    'zai',
    'zhipuai',
    'minimax',
  ],
  ...['mistral', 'cohere', 'meta', 'llama', 'xiaomi', 'stepfun', 'upstage', 'inception', 'ai21'],
  ...['arcee', 'poolside', 'thinkingmachines', 'longcat', 'morph', 'perplexity', 'alibaba'],
]

const program = `opencode-1.18.34`
const table = tableIn(readFileSync(join(modulesOf('clients'), program, 'bin/opencode'), 'utf8'))
const entries = Object.values(table).flatMap(({ id, models }) =>
  Object.values(models).map((model) => ({ provider: id, model })),
)
const byId = grouped(
  entries.filter(({ model }) => model.modalities?.output?.includes('text')),
  ({ model }) => model.id.slice(model.id.lastIndexOf('/') + 1).toLowerCase(),
)
const rows = [...byId].flatMap(([id, found]) => {
  const row = rowOf(found)
  return row === undefined || /[:@]/.test(id) ? [] : [[id, row]]
})
const date = entries.map(({ model }) => model.last_updated ?? '').reduce((a, b) => (a > b ? a : b))
const models = Object.fromEntries(rows.sort(([a], [b]) => (a < b ? -1 : 1)))
const file = new URL('../src/gateway/models/snapshot.json', import.meta.url)
writeFileSync(file, `${JSON.stringify({ source: 'models.dev', date, models })}\n`)

/** The object of all providers in the program's text. */
function tableIn(text) {
  const found = /=>\((?=\{"?[\w.-]+"?:\{id:"[\w.-]+",env:\[)/.exec(text)
  const start = found.index + found[0].length
  let depth = 0
  for (const { 0: part, index } of text.slice(start).matchAll(/"(?:\\.|[^"\\])*"|[{}]/gs)) {
    if (part === '{') depth++
    if (part === '}') depth--
    if (depth === 0) return runInNewContext(`(${text.slice(start, start + index + 1)})`)
  }
  throw new Error(`${program} carries no table of models`)
}

function rowOf(found) {
  const own = makers.flatMap((maker) => found.filter(({ provider }) => provider === maker))[0]
  const providers = new Set(found.map(({ provider }) => provider))
  if (own === undefined && providers.size < 2) return undefined
  const all = (own === undefined ? found : [own]).map(({ model }) => [
    model.limit?.context || 0,
    model.limit?.output || 0,
    model.modalities.input.includes('image'),
    model.reasoning === true,
    model.tool_call === true,
  ])
  const agreed = all[0].map((value, at) =>
    all.every((one) => one[at] === value) ? value : undefined,
  )
  const [context = 0, output = 0, ...abilities] = agreed
  const letters = ['i', 'r', 't'].map((letter, at) =>
    abilities[at] === undefined ? '' : abilities[at] ? letter : letter.toUpperCase(),
  )
  const text = letters.join('')
  return context || output || text ? `${context} ${output} ${text}` : undefined
}

function grouped(list, keyOf) {
  const groups = new Map()
  for (const one of list) groups.set(keyOf(one), [...(groups.get(keyOf(one)) ?? []), one])
  return groups
}
