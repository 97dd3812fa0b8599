import { asObject } from '../foreign-text.ts'
import type { ListEntry } from './facts.ts'

/**
 * Whether a catalog entry says that its model cannot hold a conversation: it creates images or
 * embeddings, for example, or is disabled. The rules come from the catalogs of Together, Vercel,
 * Mistral, Copilot, LiteLLM, Fireworks, Cohere, Gemini, Bedrock, Cloudflare, Hugging Face and LM Studio
 * (2026-11-24).
 */
export function isNonConversational(entry: ListEntry): boolean {
  const members = flattenMembers(entry)
  if (isDisabled(members)) return true

  const kind = combineVerdicts(kindPlaces.flatMap((place) => readTexts(members, place)))
  const output = combineVerdicts(
    outputPlaces.flatMap((place) => readTexts(members, place)).map(outputPart),
  )
  const flag = flagVerdict(members)
  const certain = [kind, output, flag]
  if (certain.includes('other')) return true
  if (certain.includes('text')) return false

  const endpoints = endpointPlaces.flatMap((place) => readTexts(members, place))
  const abilities = readTexts(members, 'capabilities')
  return (combineVerdicts(endpoints) ?? combineVerdicts(abilities)) === 'other'
}

type ModelPurpose = 'text' | 'other' | undefined

/** Members by their path. Names are in lower case, without `_` and `-`: `architecture.modality`. */
type Members = ReadonlyMap<string, unknown>

/** Members with the purpose of a model. */
const kindPlaces = [
  ...['type', 'modeltype', 'subtype', 'modelsubtype', 'kind', 'modelkind', 'task', 'tasks'],
  ...['task.name', 'tasktype', 'mode', 'modelinfo.mode', 'category', 'categories', 'pipelinetag'],
  ...['purpose', 'usage', 'reportedtype', 'apitype', 'object', 'capabilities.type', 'capability'],
  ...['modelinfo.type', 'details.type', 'metadata.type', 'metadata.task', 'metadata.category'],
]

/** Members with the output types of a model. */
const outputPlaces = [
  ...['outputmodalities', 'modalities.output', 'architecture.outputmodalities', 'modality'],
  ...['architecture.modality', 'supportedoutputmodalities', 'output', 'outputs'],
  ...['outputtypes', 'capabilities.outputmodalities', 'metadata.outputmodalities'],
]

/** Members with the endpoints of a model. */
const endpointPlaces = [
  ...['supportedendpoints', 'endpoints', 'endpointtypes', 'supportedgenerationmethods'],
  ...['supportedapis', 'apis', 'methods', 'supportedmethods', 'routes', 'modelability'],
]

/** Boolean members that are true for conversational models. */
const flagPlaces = ['', 'capabilities.', 'modelinfo.', 'features.', 'metadata.'].flatMap((parent) =>
  [
    ...['chat', 'completionchat', 'chatcompletion', 'chatcompletions', 'completion'],
    ...['completions', 'supportschat', 'supportschatcompletion', 'supportschatcompletions'],
    ...['textgeneration', 'supportstextgeneration', 'ischat'],
  ].map((name) => parent + name),
)

const onPlaces = ['active', 'isactive', 'enabled', 'isenabled', 'available', 'isavailable']
const offPlaces = ['disabled', 'isdisabled', 'archived', 'isarchived', 'deleted', 'inactive']
const offStates =
  /^(?:in-?active|disabled|offline|retired|unavailable|archived|deleted|stopped|error|failed|shutdown)$/i

function isDisabled(members: Members): boolean {
  return (
    onPlaces.some((place) => members.get(place) === false) ||
    offPlaces.some((place) => members.get(place) === true) ||
    ['status', 'state']
      .flatMap((place) => readTexts(members, place))
      .some((text) => offStates.test(text))
  )
}

function flagVerdict(members: Members): ModelPurpose {
  const flags = flagPlaces.map((place) => members.get(place))
  if (flags.includes(true)) return 'text'
  return flags.includes(false) ? 'other' : undefined
}

/** Combines verdicts. `text` wins, because a conversational model can have other abilities too. */
function combineVerdicts(texts: readonly string[]): ModelPurpose {
  const verdicts = texts.map(judgeText)
  return verdicts.includes('text') ? 'text' : verdicts.find((verdict) => verdict !== undefined)
}

const otherWords =
  /embed|rerank|similarity|image|picture|audio|\btts\b|\bstt\b|\basr\b|speech|voice|transcri|moderation|video|\bocr\b|classif|translat|music|detection|segmentation|upscal|diffusion|\b3d\b|feature[- ]extraction|\bbidi|realtime/i
const textWords =
  /chat|text|language|\bllm|\bv?lm\b|vlm|mllm|completion|generate ?content|responses?\b|messages?\b|convers|code|coding|instruct|reasoning|multi-?modal|omni|assistant|^openai$|^anthropic$|^gemini$/i

/** `text-to-image`, `text->text`: the part after the arrow is the output. */
const arrow = /^(.*?)\s*(?:->|→|[-_ ](?:to|2)[-_ ])\s*(.*)$/i

function judgeText(value: string): ModelPurpose {
  const text = value.replace(/([a-z])([A-Z])/g, '$1 $2')
  const [, from = '', to = ''] = arrow.exec(text) ?? []
  if (to !== '') {
    if (!/text|any/i.test(to)) return 'other'
    return /text|any/i.test(from) ? 'text' : 'other'
  }
  if (otherWords.test(text)) return 'other'
  return textWords.test(text) ? 'text' : undefined
}

/** The output part of a modality: `text` in `text+image->text`. */
function outputPart(text: string): string {
  return arrow.test(text) && text.includes('>') ? text.slice(text.indexOf('>') + 1) : text
}

/** The most texts that are read of one member. */
const maxTexts = 30

function readTexts(members: Members, place: string): readonly string[] {
  const value = members.get(place)
  const list = Array.isArray(value) ? value.slice(0, maxTexts) : [value]
  return list.flatMap((one) => {
    const text = asObject(one)?.['name'] ?? asObject(one)?.['path'] ?? one
    return typeof text === 'string' && text.length <= 100 ? [text] : []
  })
}

/** The members of the entry and of its objects. */
function flattenMembers(entry: ListEntry): Members {
  const members = new Map<string, unknown>()
  for (const [name, value] of Object.entries(entry)) {
    const plain = plainName(name)
    members.set(plain, value)
    for (const [child, inner] of Object.entries(asObject(value) ?? {}))
      members.set(`${plain}.${plainName(child)}`, inner)
  }
  return members
}

function plainName(name: string): string {
  return name.toLowerCase().replace(/[_-]/g, '')
}
