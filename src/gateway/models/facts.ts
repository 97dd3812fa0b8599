import { compact } from '../../compact.ts'
import { isFilledList, valueAt } from '../foreign-text.ts'
import type { CatalogModel, ModelFacts } from '../types.ts'
import { dateAtEnd, plainModelName, removeVendor } from './ids.ts'
import snapshot from './snapshot.json' with { type: 'json' }

export type ListEntry = Readonly<Record<string, unknown>>

/**
 * Reads the facts about a model from a catalog entry. The names come from the documentation of
 * OpenRouter, vLLM, LiteLLM (also its `/model/info`), Groq, Mistral, Moonshot, Anthropic, Ollama and
 * llama.cpp (2026-11-23).
 */
export function readFacts(entry: ListEntry): ModelFacts {
  return compact({
    contextWindow: readNumber(entry, windowPlaces),
    outputLimit: readNumber(entry, outputPlaces),
    images: readAbility(entry, 'images'),
    reasoning: readAbility(entry, 'reasoning'),
    tools: readAbility(entry, 'tools'),
  })
}

/** Paths of members. They are split once, because a list may have thousands of entries. */
type Places = readonly (readonly string[])[]

const windowPlaces = places(
  'context_length',
  'max_model_len',
  'context_window',
  'max_input_tokens',
  'max_context_length',
  'model_info.max_input_tokens',
  'limit.context',
  // The limit of a request: llama.cpp runs with less than the model was trained for.
  'meta.n_ctx',
)

const outputPlaces = places(
  'max_output_tokens',
  'max_completion_tokens',
  'top_provider.max_completion_tokens',
  'model_info.max_output_tokens',
  'limit.output',
)

function places(...paths: readonly string[]): Places {
  return paths.map((path) => path.split('.'))
}

type Ability = 'images' | 'reasoning' | 'tools'

interface AbilityPlaces {
  /** Boolean members. */
  readonly flags: Places
  /** Complete lists of abilities: the model lacks an ability that is missing there. */
  readonly lists: Places
  /** The names of the ability in a list. */
  readonly words: readonly string[]
}

const abilities: Readonly<Record<Ability, AbilityPlaces>> = {
  images: {
    flags: places(
      'supports_vision',
      'supports_image_in',
      'model_info.supports_vision',
      'capabilities.vision',
      'capabilities.image_input.supported',
    ),
    lists: places('architecture.input_modalities', 'input_modalities', 'modalities.input'),
    words: ['image', 'vision', 'multimodal'],
  },
  reasoning: {
    flags: places(
      'supports_reasoning',
      'model_info.supports_reasoning',
      'capabilities.reasoning',
      'capabilities.thinking.supported',
      'reasoning',
    ),
    lists: places('supported_parameters'),
    words: ['reasoning', 'reasoning_effort', 'thinking'],
  },
  tools: {
    flags: places(
      'supports_function_calling',
      'supports_tools',
      'model_info.supports_function_calling',
      'capabilities.function_calling',
      'tool_call',
    ),
    lists: places('supported_parameters'),
    words: ['tools', 'function_calling'],
  },
}

function readAbility(entry: ListEntry, ability: Ability): boolean | undefined {
  const { flags, lists, words } = abilities[ability]
  const isNamed = (list: readonly unknown[]) => words.some((word) => list.includes(word))
  for (const place of flags) {
    const flag = valueAt(entry, place)
    if (typeof flag === 'boolean') return flag
  }
  for (const place of lists) {
    const completeList = valueAt(entry, place)
    if (isFilledList(completeList)) return isNamed(completeList)
  }
  const partialList = valueAt(entry, ['capabilities'])
  return isFilledList(partialList) && isNamed(partialList) ? true : undefined
}

function readNumber(entry: ListEntry, at: Places): number | undefined {
  for (const place of at) {
    const value = valueAt(entry, place)
    const number = typeof value === 'string' && /^\d{1,12}$/.test(value) ? Number(value) : value
    if (Number.isSafeInteger(number) && (number as number) > 0) return number as number
  }
  return undefined
}

/** The source of the snapshot: models.dev, read by scripts/write-models-snapshot.js. */
export const snapshotSource = `${snapshot.source}, ${snapshot.date}`
const rows: ReadonlyMap<string, string> = new Map(Object.entries(snapshot.models))

/** The facts of the snapshot for an ID, with or without its vendor and date. */
export function snapshotFacts(id: string): ModelFacts {
  const names = [removeVendor(id).toLowerCase(), plainModelName(id)]
  const row = [...names, ...names.map((name) => name.replace(dateAtEnd, ''))]
    .map((name) => rows.get(name))
    .find((found) => found !== undefined)
  if (row === undefined) return {}
  const [window, output, letters = ''] = row.split(' ')
  const ability = (letter: string) =>
    letters.includes(letter) || (letters.includes(letter.toUpperCase()) ? false : undefined)

  return compact({
    contextWindow: Number(window) || undefined,
    outputLimit: Number(output) || undefined,
    images: ability('i'),
    reasoning: ability('r'),
    tools: ability('t'),
  })
}

/** Adds the facts of the snapshot to a model. The facts of the gateway win. */
export function withKnownFacts(model: CatalogModel): CatalogModel {
  const known = knownFacts.get(model) ?? addSnapshot(model)
  knownFacts.set(model, known)
  return known
}

const knownFacts = new WeakMap<CatalogModel, CatalogModel>()

function addSnapshot(model: CatalogModel): CatalogModel {
  const { outputLimit, ...facts }: CatalogModel = { ...snapshotFacts(model.id), ...model }
  const { contextWindow: window = Number.POSITIVE_INFINITY } = facts
  // The output cannot be longer than the context window that the gateway allows.
  return compact({
    ...facts,
    outputLimit: outputLimit && Math.min(outputLimit, window),
  })
}

/** Whether the snapshot adds a fact that the gateway does not report. */
export function usesSnapshot(model: CatalogModel): boolean {
  return Object.keys(snapshotFacts(model.id)).some((fact) => !(fact in model))
}
