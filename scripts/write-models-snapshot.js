/**
 * Writes src/gateway/models/snapshot.json: what models.dev (MIT) knows about each model, by its ID without
 * a vendor. Run it for a release, after install.js names a new version of opencode. Its program contains
 * the table, so no network is needed.
 *
 *   node scripts/write-models-snapshot.js
 *
 * The entry of the model's maker counts, unless most providers state less: then the smaller value counts.
 * Without such an entry, at least two providers are needed: a number is the smallest that a quarter of them
 * state, and an ability is one that three quarters state. A row is the context window, the output limit
 * (0: unknown) and the abilities `i`mages, `r`easoning and `t`ools: lower case for yes, upper case for no.
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
  const all = found.map(({ model }) => valuesOf(model))
  const ofMaker = own === undefined ? undefined : valuesOf(own.model)
  const agreed = [0, 1, 2, 3, 4].map((at) => {
    const values = all.map((one) => one[at])
    return at < 2 ? cautiousNumber(values, ofMaker?.[at]) : cautiousAbility(values, ofMaker?.[at])
  })
  const [context = 0, output = 0, ...abilities] = agreed
  const letters = ['i', 'r', 't'].map((letter, at) =>
    abilities[at] === undefined ? '' : abilities[at] ? letter : letter.toUpperCase(),
  )
  const text = letters.join('')
  return context || output || text ? `${context} ${output} ${text}` : undefined
}

function valuesOf(model) {
  return [
    model.limit?.context || 0,
    model.limit?.output || 0,
    model.modalities.input.includes('image'),
    model.reasoning === true,
    model.tool_call === true,
  ]
}

/** The maker's number, unless most others give a smaller one. */
function cautiousNumber(values, ofMaker) {
  const known = values.filter((value) => value > 0).sort((a, b) => a - b)
  if (ofMaker) {
    const smaller = known.filter((value) => value < ofMaker)
    return smaller.length * 2 > known.length ? smaller[Math.floor(smaller.length / 2)] : ofMaker
  }
  return known[Math.floor((known.length - 1) / 4)]
}

/** What the maker says, unless most others deny it. */
function cautiousAbility(values, ofMaker) {
  const share = values.filter(Boolean).length / values.length
  if (ofMaker !== undefined) return ofMaker && share >= 0.5
  if (share >= 0.75) return true
  return share <= 0.25 ? false : undefined
}

function grouped(list, keyOf) {
  const groups = new Map()
  for (const one of list) groups.set(keyOf(one), [...(groups.get(keyOf(one)) ?? []), one])
  return groups
}
