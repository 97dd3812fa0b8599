import { compact } from '../../compact.ts'
import { valueAt } from '../foreign-text.ts'
import type { CatalogModel, ModelFacts } from '../types.ts'
import { dateAtEnd, plainModelName } from './ids.ts'
import { withoutVendor } from './rules.ts'
import snapshot from './snapshot.json' with { type: 'json' }

export type ListEntry = Readonly<Record<string, unknown>>

/**
 * What an entry of a catalog says of its model. Read in the pages of OpenRouter, vLLM, LiteLLM (also
 * its `/model/info`), Groq, Mistral, Moonshot, Anthropic, Ollama and llama.cpp, 2026-11-23.
 */
export function factsIn(entry: ListEntry): ModelFacts {
  return compact({
    contextWindow: numberAt(entry, windowPlaces),
    maxOutputTokens: numberAt(entry, outputPlaces),
    images: abilityIn(entry, 'images'),
    reasoning: abilityIn(entry, 'reasoning'),
    tools: abilityIn(entry, 'tools'),
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
  // What one request may use: llama.cpp runs with less than the model was trained for.
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
  /** Where it is true or false. */
  readonly at: readonly string[]
  /** Lists of all that a model can: what is not in them, it cannot. */
  readonly lists: readonly string[]
  /** What it is called in a list. */
  readonly words: readonly string[]
}

const abilities: Readonly<Record<Ability, AbilityPlaces>> = {
  images: {
    at: [
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
    at: [
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
    at: [
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

function abilityIn(entry: ListEntry, ability: Ability): boolean | undefined {
  const { at, lists, words } = abilities[ability]
  const isNamed = (list: readonly unknown[]) => words.some((word) => list.includes(word))
  const said = at.map((place) => valueAt(entry, place)).find((one) => typeof one === 'boolean')
  if (typeof said === 'boolean') return said

  const whole = lists.map((place) => valueAt(entry, place)).find(isFilledList)
  if (whole !== undefined) return isNamed(whole)
  const some = valueAt(entry, 'capabilities')
  return isFilledList(some) && isNamed(some) ? true : undefined
}

function isFilledList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.length > 0
}

function numberAt(entry: ListEntry, places: readonly string[]): number | undefined {
  return places
    .map((place) => valueAt(entry, place))
    .map((value) => (typeof value === 'string' && /^\d{1,12}$/.test(value) ? Number(value) : value))
    .find((value): value is number => Number.isSafeInteger(value) && (value as number) > 0)
}

/** Of models.dev, by scripts/models-snapshot.js. */
export const snapshotSource = `${snapshot.source}, ${snapshot.date}`
const rows: ReadonlyMap<string, string> = new Map(Object.entries(snapshot.models))

/** What the snapshot says of an id, under its vendor or none, with a date or without. */
export function factsInSnapshot(id: string): ModelFacts {
  const names = [withoutVendor(id).toLowerCase(), plainModelName(id)]
  const row = [...names, ...names.map((name) => name.replace(dateAtEnd, ''))]
    .map((name) => rows.get(name))
    .find((found) => found !== undefined)
  if (row === undefined) return {}
  const [window, output, letters = ''] = row.split(' ')
  const ability = (letter: string) =>
    letters.includes(letter) || (letters.includes(letter.toUpperCase()) ? false : undefined)

  return compact({
    contextWindow: Number(window) || undefined,
    maxOutputTokens: Number(output) || undefined,
    images: ability('i'),
    reasoning: ability('r'),
    tools: ability('t'),
  })
}

/** A model with all that is known of it: what the gateway says counts before the snapshot. */
export function described(model: CatalogModel): CatalogModel {
  const { maxOutputTokens, ...known }: CatalogModel = { ...factsInSnapshot(model.id), ...model }
  const { contextWindow: window = Number.POSITIVE_INFINITY } = known
  // A gateway that gives a model less room cannot give it more to say.
  return compact({
    ...known,
    maxOutputTokens: maxOutputTokens && Math.min(maxOutputTokens, window),
  })
}

/** Whether the snapshot knows of a model what the gateway does not say. */
export function isFromSnapshot(model: CatalogModel): boolean {
  return Object.keys(factsInSnapshot(model.id)).some((fact) => !(fact in model))
}
