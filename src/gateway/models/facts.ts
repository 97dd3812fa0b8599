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

const windowPlaces: readonly string[] = [
  'context_length',
  'max_model_len',
  'context_window',
  'max_input_tokens',
  'max_context_length',
  'model_info.max_input_tokens',
  'limit.context',
  // The limit of a request: llama.cpp runs with less than the model was trained for.
  'meta.n_ctx',
]

const outputPlaces: readonly string[] = [
  'max_output_tokens',
  'max_completion_tokens',
  'top_provider.max_completion_tokens',
  'model_info.max_output_tokens',
  'limit.output',
]

type Ability = 'images' | 'reasoning' | 'tools'

interface AbilityPlaces {
  /** Boolean members. */
  readonly flags: readonly string[]
  /** Complete lists of abilities: the model lacks an ability that is missing there. */
  readonly lists: readonly string[]
  /** The names of the ability in a list. */
  readonly words: readonly string[]
}

const abilities: Readonly<Record<Ability, AbilityPlaces>> = {
  images: {
    flags: [
      'supports_vision',
      'supports_image_in',
      'model_info.supports_vision',
      'capabilities.vision',
      'capabilities.image_input.supported',
    ],
    lists: ['architecture.input_modalities', 'input_modalities', 'modalities.input'],
    words: ['image', 'vision', 'multimodal'],
  },
  reasoning: {
    flags: [
      'supports_reasoning',
      'model_info.supports_reasoning',
      'capabilities.reasoning',
      'capabilities.thinking.supported',
      'reasoning',
    ],
    lists: ['supported_parameters'],
    words: ['reasoning', 'reasoning_effort', 'thinking'],
  },
  tools: {
    flags: [
      'supports_function_calling',
      'supports_tools',
      'model_info.supports_function_calling',
      'capabilities.function_calling',
      'tool_call',
    ],
    lists: ['supported_parameters'],
    words: ['tools', 'function_calling'],
  },
}

function readAbility(entry: ListEntry, ability: Ability): boolean | undefined {
  const { flags, lists, words } = abilities[ability]
  const isNamed = (list: readonly unknown[]) => words.some((word) => list.includes(word))
  const flag = flags
    .map((place) => valueAt(entry, place))
    .find((value): value is boolean => typeof value === 'boolean')
  if (flag !== undefined) return flag

  const completeList = lists.map((place) => valueAt(entry, place)).find(isFilledList)
  if (completeList !== undefined) return isNamed(completeList)
  const partialList = valueAt(entry, 'capabilities')
  return isFilledList(partialList) && isNamed(partialList) ? true : undefined
}

function readNumber(entry: ListEntry, places: readonly string[]): number | undefined {
  return places
    .map((place) => valueAt(entry, place))
    .map((value) => (typeof value === 'string' && /^\d{1,12}$/.test(value) ? Number(value) : value))
    .find((value): value is number => Number.isSafeInteger(value) && (value as number) > 0)
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
