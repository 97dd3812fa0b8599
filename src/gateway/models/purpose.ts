import { asObject, comparableName } from '../foreign-text.ts'
import type { ListEntry } from './facts.ts'

/**
 * Whether a catalog entry says that its model cannot hold a conversation: it creates images or
 * embeddings, for example, or is disabled. Any member can say so, at any place in the entry: what a
 * member is about follows from its name. The names come from the catalogs of Together, Vercel, Mistral,
 * Copilot, LiteLLM, Fireworks, Cohere, Gemini, Bedrock, Cloudflare, Hugging Face, LM Studio and Ollama
 * (2026-11-26).
 */
export function isNonConversational(entry: ListEntry): boolean {
  const members = flattenMembers(entry)
  if (members.some(isSwitchedOff)) return true

  const kind = combineVerdicts(textsOf(members, kindNames).map(judgeText))
  const output = combineVerdicts(textsOf(members, outputNames).map(outputPart).map(judgeText))
  const certain = [kind, output, chatFlag(members)]
  if (certain.includes('other')) return true
  if (certain.includes('text')) return false

  const endpoints = combineVerdicts(textsOf(members, endpointNames).map(judgeText))
  const abilities = combineVerdicts(textsOf(members, abilityNames).map(judgeAbility))
  const named = textsOf(members, anyNames).some((text) => purposeWord.test(text))
  return (endpoints ?? abilities ?? otherFlag(members) ?? (named ? 'other' : undefined)) === 'other'
}

type ModelPurpose = 'text' | 'other' | undefined

/** A member of the entry or of an object in it. */
interface FlatMember {
  /** As `comparableName` says: `outputmodalities`. For `modalities.output`: `output`. */
  readonly name: string
  /** The names of the objects around it, with a dot after each. */
  readonly parent: string
  readonly value: unknown
}

/** Members with the purpose of a model: `modeltype`, `pipelinetag`, but not `quotatype`. */
const kindNames =
  /^(?:(?:model|sub|modelsub|reported|api|primary)?(?:type|kind|class|category|task|tasks|purpose|usage)|mode|role|function|tasktypes?|supportedtasks|categories|pipelinetag|usecases?|domain|object|capability|family|families|arch)$/

/** Members with the output types of a model: `outputmodalities`, but not `maxoutput`. */
const outputNames =
  /^(?:supported)?(?:outputs?|outputmodalit(?:y|ies)|outputtypes?|modalit(?:y|ies)|responsetypes?)$/

/** Members with the endpoints of a model: `supportedendpoints`, but not `endpointurl`. */
const endpointNames =
  /^(?:(?:supported)?(?:endpoints?|apis?|methods|generationmethods|interfaces?|routes?)|endpointtype|modelability)$/

/** Members with the abilities of a model, and with what it accepts as input: `capabilities`, `tags`. */
const abilityNames =
  /^(?:capabilit(?:y|ies)|abilit(?:y|ies)|features?|supportedfeatures|tags?|labels)$/

/** Members of any name, `subject` too, but not those with names and prose: `displayname`, `inputtypes`. */
const anyNames =
  /^(?!.*(?:name|id|slug|description|title|label|owner|ownedby|provider|vendor|creator|author|root|parent|url|input\w*)$)\w+$/

/** A text that can only be the purpose of a model: `text-to-speech`, but not `speech`. */
const purposeWord =
  /^(?:text[-_ ])?(?:embed(?:ding|der)?s?|rerank(?:er|ing)?|tts|stt|asr|moderations?|text[-_ ]?(?:to|2)[-_ ]?(?:image|speech|video|audio)|speech[-_ ]?(?:to|2)[-_ ]?text|(?:image|video)[-_ ]generation|transcriptions?)$/i

/** Boolean members that are true for conversational models: `supportschat`, but not `chattemplate`. */
const chatNames =
  /^(?:is|supports?|can)?(?:chat|completionchat|chatcompletions?|completions?|textgeneration|conversation(?:al)?)$/

/** Boolean and numeric members that only models for other purposes have: `dimensions`, but not `vision`. */
const otherNames =
  /^(?:is|supports?|can)?(?:embeddings?|embeddingmodel|rerank(?:er|ing)?|imagegenerations?|texttoimage|texttospeech|speechtotext|tts|stt|transcriptions?|moderations?|videogenerations?)$|^(?:embedding)?(?:dimensions?|dims|vectorsize)$/

/** Members that are false if the model is off: `isactive`, but not `activeusers`. */
const onNames =
  /^(?:is|model)?(?:active|enabled|available|ready|online|deployed|accessible|allowed|permitted|haspermission|pickerenabled)$/
/** Members that are true if the model is off: `archived`, but not `archivedat`. */
const offNames = /^(?:is)?(?:disabled|archived|deleted|inactive|hidden|retired|offline)$/
const stateNames = /^(?:status|state|availability|visibility|lifecycle)$/
/** `End of life`, `shutdown`, but not `deprecated`: such a model still answers. */
const offStates =
  /^(?:in-?active|disabled|offline|retired|unavailable|archived|deleted|stopped|error|failed|shut ?down|suspended|hidden|hide|end[-_ ]of[-_ ]life|eol)$/i

/** Switches about other things: `permission[].allow_view`, `pricing.enabled`, `features.web.enabled`. */
const otherThings =
  /^(?:status|state|policy|lifecycle|availability|modelinfo|metadata|info|details)\.$/

function isSwitchedOff({ name, parent, value }: FlatMember): boolean {
  if (parent !== '' && !otherThings.test(parent)) return false
  if (value === false) return onNames.test(name)
  if (value === true) return offNames.test(name)
  const isState = stateNames.test(name) || stateNames.test(parent.slice(0, -1))
  return isState && typeof value === 'string' && offStates.test(value)
}

function chatFlag(members: readonly FlatMember[]): ModelPurpose {
  const flags = members.filter(({ name }) => chatNames.test(name)).map(({ value }) => value)
  if (flags.includes(true)) return 'text'
  return flags.includes(false) ? 'other' : undefined
}

function otherFlag(members: readonly FlatMember[]): ModelPurpose {
  const isOther = members.some(
    ({ name, value }) =>
      otherNames.test(name) && (value === true || (typeof value === 'number' && value > 0)),
  )
  return isOther ? 'other' : undefined
}

/** Combines verdicts. `text` wins, because a conversational model can have other abilities too. */
function combineVerdicts(verdicts: readonly ModelPurpose[]): ModelPurpose {
  return verdicts.includes('text') ? 'text' : verdicts.find((verdict) => verdict !== undefined)
}

/** Texts about other purposes: `Text Embedding`, but not `text`. They count before `textWords`. */
const otherWords =
  /embed|rerank|similarity|image|picture|audio|\btts\b|\bstt\b|\basr\b|speech|voice|transcri|moderation|video|\bocr\b|classif|translat|music|detection|segmentation|upscal|diffusion|\b3d\b|feature[- ]extraction|\bbidi|realtime|guardrail|safety|\bbert\b/i
/** Texts about conversations: `chat.completions`, `LLM`, but not `tabular`. */
const textWords =
  /chat|text|language|\bllm|\bv?lm\b|vlm|mllm|completion|generate ?content|responses?\b|messages?\b|convers|code|coding|instruct|reasoning|multi-?modal|omni|assistant|^openai$|^anthropic$|^gemini$/i

/** Abilities to create something: `image-generation`, but not `image`, which can be an input too. */
const creates =
  /embed|rerank|moderation|transcri|\b(?:tts|stt|asr)\b|speech[- _]?(?:to|2)|(?:to|2)[- _]?(?:image|speech|video|audio|music)|(?:image|video|audio|speech|music)[- _]?(?:generat|synth|edit)|inpaint/i

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

function judgeAbility(value: string): ModelPurpose {
  if (creates.test(value)) return 'other'
  return textWords.test(value) ? 'text' : undefined
}

/** The output part of a modality: `text` in `text+image->text`. */
function outputPart(text: string): string {
  return arrow.test(text) && text.includes('>') ? text.slice(text.indexOf('>') + 1) : text
}

/** Objects about what a model accepts or costs, and not about what it is for. */
const aboutInput = /(?:^|\.)(?:input|supportedinput|permission|pricing)\w*\./

/** The most texts that are read of one member. */
const maxTexts = 30

function textsOf(members: readonly FlatMember[], names: RegExp): readonly string[] {
  return members
    .filter(({ name, parent }) => names.test(name) && !aboutInput.test(parent))
    .flatMap(({ value }) => (Array.isArray(value) ? value.slice(0, maxTexts) : [value]))
    .flatMap((item) => {
      const text = asObject(item)?.['name'] ?? asObject(item)?.['path'] ?? item
      return typeof text === 'string' && text.length <= 100 ? [text] : []
    })
}

/** The deepest object whose members are read. */
const maxDepth = 3

/** The members of the entry and of the objects in it. */
function flattenMembers(entry: ListEntry, parent = '', depth = 0): readonly FlatMember[] {
  return Object.entries(entry).flatMap(([original, value]) => {
    const name = comparableName(original)
    const member = { name, parent, value }
    const inner = asObject(value)
    return inner === undefined || depth === maxDepth
      ? [member]
      : [member, ...flattenMembers(inner, `${parent}${name}.`, depth + 1)]
  })
}
