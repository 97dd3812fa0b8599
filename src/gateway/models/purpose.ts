import { asObject } from '../foreign-text.ts'
import type { ListEntry } from './facts.ts'

/**
 * Whether an entry of a catalog says that its model holds no conversation: it makes images or
 * embeddings, say, or is not served now. Read in the lists of Together, Vercel, Mistral, Copilot,
 * LiteLLM, Fireworks, Cohere, Gemini, Bedrock, Cloudflare, Hugging Face and LM Studio, 2026-11-24.
 */
export function saysNoConversation(entry: ListEntry): boolean {
  const members = membersOf(entry)
  if (isSwitchedOff(members)) return true

  const kind = verdictOf(kindPlaces.flatMap((place) => textsAt(members, place)))
  const output = verdictOf(outputPlaces.flatMap((place) => textsAt(members, place)).map(outputOf))
  const flag = flagVerdict(members)
  const certain = [kind, output, flag]
  if (certain.includes('other')) return true
  if (certain.includes('text')) return false

  const endpoints = endpointPlaces.flatMap((place) => textsAt(members, place))
  const abilities = textsAt(members, 'capabilities')
  return (verdictOf(endpoints) ?? verdictOf(abilities)) === 'other'
}

type Verdict = 'text' | 'other' | undefined

/** Members by their path, names in lower case and without `_` and `-`: `architecture.modality`. */
type Members = ReadonlyMap<string, unknown>

/** Members that name what a model is made for. */
const kindPlaces = [
  ...['type', 'modeltype', 'subtype', 'modelsubtype', 'kind', 'modelkind', 'task', 'tasks'],
  ...['task.name', 'tasktype', 'mode', 'modelinfo.mode', 'category', 'categories', 'pipelinetag'],
  ...['purpose', 'usage', 'reportedtype', 'apitype', 'object', 'capabilities.type', 'capability'],
  ...['modelinfo.type', 'details.type', 'metadata.type', 'metadata.task', 'metadata.category'],
]

/** Members that name what a model answers with. */
const outputPlaces = [
  ...['outputmodalities', 'modalities.output', 'architecture.outputmodalities', 'modality'],
  ...['architecture.modality', 'supportedoutputmodalities', 'output', 'outputs'],
  ...['outputtypes', 'capabilities.outputmodalities', 'metadata.outputmodalities'],
]

/** Members that name where a model is served. */
const endpointPlaces = [
  ...['supportedendpoints', 'endpoints', 'endpointtypes', 'supportedgenerationmethods'],
  ...['supportedapis', 'apis', 'methods', 'supportedmethods', 'routes', 'modelability'],
]

/** Members that are true or false, by whether a model holds a conversation. */
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

function isSwitchedOff(members: Members): boolean {
  return (
    onPlaces.some((place) => members.get(place) === false) ||
    offPlaces.some((place) => members.get(place) === true) ||
    ['status', 'state']
      .flatMap((place) => textsAt(members, place))
      .some((text) => offStates.test(text))
  )
}

function flagVerdict(members: Members): Verdict {
  const flags = flagPlaces.map((place) => members.get(place))
  if (flags.includes(true)) return 'text'
  return flags.includes(false) ? 'other' : undefined
}

/** Text wins: what holds a conversation may do more. */
function verdictOf(texts: readonly string[]): Verdict {
  const verdicts = texts.map(verdictOn)
  return verdicts.includes('text') ? 'text' : verdicts.find((verdict) => verdict !== undefined)
}

const otherWords =
  /embed|rerank|similarity|image|picture|audio|\btts\b|\bstt\b|\basr\b|speech|voice|transcri|moderation|video|\bocr\b|classif|translat|music|detection|segmentation|upscal|diffusion|\b3d\b|feature[- ]extraction|\bbidi|realtime/i
const textWords =
  /chat|text|language|\bllm|\bv?lm\b|vlm|mllm|completion|generate ?content|responses?\b|messages?\b|convers|code|coding|instruct|reasoning|multi-?modal|omni|assistant|^openai$|^anthropic$|^gemini$/i

/** `text-to-image`, `text->text`: what comes behind the arrow counts. */
const arrow = /^(.*?)\s*(?:->|→|[-_ ](?:to|2)[-_ ])\s*(.*)$/i

function verdictOn(value: string): Verdict {
  const text = value.replace(/([a-z])([A-Z])/g, '$1 $2')
  const [, from = '', to = ''] = arrow.exec(text) ?? []
  if (to !== '') {
    if (!/text|any/i.test(to)) return 'other'
    return /text|any/i.test(from) ? 'text' : 'other'
  }
  if (otherWords.test(text)) return 'other'
  return textWords.test(text) ? 'text' : undefined
}

/** Of `text+image->text` the output. */
function outputOf(text: string): string {
  return arrow.test(text) && text.includes('>') ? text.slice(text.indexOf('>') + 1) : text
}

/** The most texts that are read of one member. */
const maxTexts = 30

function textsAt(members: Members, place: string): readonly string[] {
  const value = members.get(place)
  const list = Array.isArray(value) ? value.slice(0, maxTexts) : [value]
  return list.flatMap((one) => {
    const text = asObject(one)?.['name'] ?? asObject(one)?.['path'] ?? one
    return typeof text === 'string' && text.length <= 100 ? [text] : []
  })
}

/** The entry's members and those of its objects. */
function membersOf(entry: ListEntry): Members {
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
