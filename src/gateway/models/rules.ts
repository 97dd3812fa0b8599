import { closestNames } from '../../text.ts'
import type { Catalog, CatalogModel, Protocol } from '../types.ts'
import {
  familyName,
  type GptModel,
  gptModels,
  isBare,
  newestSol,
  newestVariant,
  parseGptId,
  previousTiers,
  solReason,
} from './gpt-models.ts'
import { compareVersions, dateAtEnd, plainModelName, removeVendor } from './ids.ts'

/** A model, and why: which rule chose it, or how it matches the name that the user typed. */
export interface ModelWithReason {
  readonly id: string
  readonly reason: string
}

/** GPT models by strength, for a client that needs several. Undefined if no rule applies. */
type GptTiers = Readonly<Record<'best' | 'balanced' | 'small', ModelWithReason | undefined>>

export function catalogEntry(
  catalog: Catalog | undefined,
  id: string | undefined,
): CatalogModel | undefined {
  return catalog?.models.find((model) => model.id === id)
}

/** Words in the IDs of models that cannot hold a conversation. The comments quote IDs that contain one. */
const otherPurposeWords = [
  // openai/gpt-image-2, flux-1.1-pro
  'images?|imagen|dalle?|flux|midjourney|mj|stable|sdxl|seedream|ideogram|recraft|canvas|nano-banana',
  't2i|i2i|upscaler?',
  // sora-2, wan2.2-t2v
  'sora|veo|video|kling|runway|hailuo|luma|seedance|reel|t2v|i2v',
  // gpt-4o-audio-preview, whisper-1
  'audio|realtime|speech|voice|tts|stt|asr|whisper|transcribe|transcription',
  'elevenlabs|cosyvoice|paraformer|suno|lyria|music',
  // text-embedding-3-large, rerank-v3.5
  'embed|embeddings?|bge|minilm|colbert|voyage|rerank|reranker',
  // omni-moderation-latest, mistral-ocr-latest
  'moderation|ocr',
]

/** Such a word as a whole part of an ID: `sora-2`, but not `sorabot-2`. */
const otherPurposes = new RegExp(
  String.raw`(?:^|[-_/.:])(?:${otherPurposeWords.join('|')})(?:$|[-_/.:\d])`,
  'i',
)

/** The endpoint types of New API for conversations. */
const conversationTypes = [
  'openai',
  'openai-response',
  'openai-response-compact',
  'anthropic',
  'gemini',
]

/**
 * Whether a model can be offered for a conversation. It can, unless the catalog says otherwise. An ID
 * such as LiteLLM's `openai/*` is a pattern (docs.litellm.ai/docs/wildcard_routing, read 2026-11-22).
 */
export function isChatModel(model: CatalogModel): boolean {
  const isChat = chatModels.get(model) ?? isForChat(model)
  chatModels.set(model, isChat)
  return isChat
}

const chatModels = new WeakMap<CatalogModel, boolean>()

function isForChat(model: CatalogModel): boolean {
  if (model.isConversational === false) return false
  if (otherPurposes.test(model.id) || model.id.includes('*')) return false
  const types = model.endpointTypes
  if (types === undefined || types.length === 0) return true
  // New API lists the main purpose first: image models have image-generation, openai.
  return conversationTypes.includes(types[0]!)
}

/** New API's name for each protocol. */
const endpointType: Readonly<Record<Protocol, string>> = {
  chat: 'openai',
  responses: 'openai-response',
  messages: 'anthropic',
}

/**
 * Whether a model supports a protocol. `unknown`: the gateway does not say, or lists the model for chat
 * completions only. New API lists GPT models like this, but translates other routes to them too
 * (common/endpoint_type.go, read 2026-11-21), so only a probe can tell.
 */
export function supportsProtocol(model: CatalogModel, protocol: Protocol): boolean | 'unknown' {
  if (!isChatModel(model)) return false
  const types = model.endpointTypes
  if (types === undefined || types.length === 0) return 'unknown'
  if (types.includes(endpointType[protocol])) return true
  if (protocol === 'chat') return false
  return types.includes('openai') || types.includes('openai-response') ? 'unknown' : false
}

/** Whether a model may speak one of these protocols. */
export function supportsAny(model: CatalogModel, protocols: readonly Protocol[]): boolean {
  return protocols.some((protocol) => supportsProtocol(model, protocol) !== false)
}

/**
 * The protocol that a model's maker made it for. Over another one a model may reject tools (GPT-5.6
 * over chat) or lose its thinking and its prompt cache (Claude over chat).
 */
export function nativeProtocol(id: string): Protocol {
  if (parseGptId(id) !== undefined) return 'responses'
  return /^claude\b/.test(plainModelName(id)) ? 'messages' : 'chat'
}

/** A model that a client may start with. */
export interface DefaultModel extends ModelWithReason {
  /** No rule knows it: it is one of the first in the list. A user who can be asked chooses instead. */
  readonly isGuess?: boolean
}

/** So many models that no rule knows are tried. */
const maxGuesses = 3

/**
 * The models that a client may start with, the best first. A client with one protocol gets the models that are native
 * to it first. No model that the list calls retired, or without tools.
 *
 *     the newest family's sol variant
 *     the newest GPT model of another variant
 *     the newest sonnet
 *     the newest model of the maker with the most models
 *     the only chat model
 *     the first models of the list
 */
export function defaultModels(
  { models }: Pick<Catalog, 'models'>,
  ...protocols: readonly Protocol[]
): readonly DefaultModel[] {
  const known = defaultsOf.get(models) ?? new Map<string, readonly DefaultModel[]>()
  defaultsOf.set(models, known)
  const key = protocols.join()
  const defaults = known.get(key) ?? findDefaults({ models }, protocols)
  known.set(key, defaults)
  return defaults
}

/** By list and protocols: several clients and rounds of requests ask for the same. */
const defaultsOf = new WeakMap<readonly CatalogModel[], Map<string, readonly DefaultModel[]>>()

function findDefaults(
  catalog: Pick<Catalog, 'models'>,
  protocols: readonly Protocol[],
): readonly DefaultModel[] {
  const usable = catalog.models.filter(
    (model) => model.tools !== false && !model.isRetired && supportsAny(model, protocols),
  )
  const [protocol, second] = protocols
  const isNative = ({ id }: CatalogModel) => nativeProtocol(id) === protocol
  const native = second === undefined ? usable.filter(isNative) : []
  const [only] = usable
  const models: readonly DefaultModel[] = [
    ...(native.length < usable.length ? bestOfNative(native) : []),
    ...bestOfFamilies(usable),
    ...(usable.length === 1 && only
      ? [{ id: only.id, reason: 'the only chat model of this gateway' }]
      : []),
    ...[...native, ...usable]
      .slice(0, native.length + maxGuesses)
      .map(({ id }) => ({ id, reason: 'one of the first models of the list', isGuess: true })),
  ]
  const byId = new Map(models.toReversed().map((model) => [model.id, model]))
  const ordered = [...new Set(models.map(({ id }) => id))].map((id) => byId.get(id)!)
  const guesses = ordered.filter(({ isGuess }) => isGuess).slice(0, maxGuesses)
  return [...ordered.filter(({ isGuess }) => !isGuess), ...guesses]
}

/** Makers whose models are made for chat completions. */
const knownMakers = /^(?:gemini|glm|kimi|deepseek|qwen|llama|grok|mistral|minimax)/

/** The models to try first over the one protocol of a client. */
function bestOfNative(models: readonly CatalogModel[]): readonly ModelWithReason[] {
  const best = bestOfFamilies(models)
  if (best.length > 0) return best
  const known = models.filter(({ id }) => knownMakers.test(plainModelName(id))).slice(0, 1)
  return known.map(({ id }) => ({ id, reason: "made for the client's protocol" }))
}

function bestOfFamilies(models: readonly CatalogModel[]): readonly ModelWithReason[] {
  const gpt = gptModels(models)
  const sol = newestSol(gpt)
  const other = gpt.find(({ id }) => /^(?:|pro|terra|codex)$/.test(id.variant)) ?? gpt[0]
  return [
    sol && { id: sol.model.id, reason: solReason(sol) },
    other && { id: other.model.id, reason: `of the newest family, ${familyName(other)}` },
    newestSonnet(models),
    newestOfMaker(models.map(({ id }) => id)),
  ].filter((model) => model !== undefined)
}

/** The newest model of Claude's middle tier: `claude-sonnet-5-5`, `anthropic/claude-3.7-sonnet`. */
function newestSonnet(models: readonly CatalogModel[]): ModelWithReason | undefined {
  const version = (id: string) =>
    plainModelName(id).replace(dateAtEnd, '').match(/\d+/g)?.map(Number) ?? []
  const [newest] = models
    .filter(({ id }) => /^claude\b.*\bsonnet\b/.test(plainModelName(id)))
    .map(({ id }) => ({ id, version: version(id) }))
    .sort((a, b) => compareVersions(b.version, a.version) || (a.id < b.id ? -1 : 1))
  return newest && { id: newest.id, reason: 'the newest sonnet' }
}

/** The model for titles and other small work: the previous family's mini, or else the newest luna. */
export function smallModel(catalog: Catalog): ModelWithReason | undefined {
  const models = gptModels(catalog.models.filter(isChatModel))
  const { mini } = previousTiers(models)
  if (mini !== undefined)
    return { id: mini.model.id, reason: `mini tier of the previous family, ${familyName(mini)}` }

  const luna = newestVariant(models, 'luna')
  if (luna === undefined) return undefined
  const reason = `economical variant of the newest family, ${familyName(luna)}`
  return { id: luna.model.id, reason }
}

/**
 * The newest sol, the previous family's base tier, and its mini. If no previous family has these tiers,
 * the newest family's terra and luna replace them.
 *
 * Ignores the endpoint types: see {@link supportsProtocol}.
 */
export function gptTiers(catalog: Catalog): GptTiers {
  const models = gptModels(catalog.models.filter(isChatModel))
  const sol = newestSol(models)
  return {
    best: sol && { id: sol.model.id, reason: solReason(sol) },
    balanced: balancedModel(models),
    small: smallModel(catalog),
  }
}

function balancedModel(models: readonly GptModel[]): ModelWithReason | undefined {
  const { base } = previousTiers(models)
  if (base !== undefined)
    return { id: base.model.id, reason: `base tier of the previous family, ${familyName(base)}` }

  const terra = newestVariant(models, 'terra')
  if (terra === undefined) return undefined
  const reason = `balanced variant of the newest family, ${familyName(terra)}`
  return { id: terra.model.id, reason }
}

/**
 * The listed model for an ID that the user typed: the same ID, or the same name with a vendor's prefix or
 * in upper or lower case. A short family ID (`gpt-5.6`) means that family's sol variant, if the catalog
 * lists it. Undefined: the catalog does not list the model, but the gateway may still serve it.
 */
export function resolveModel(catalog: Catalog, typed: string): ModelWithReason | undefined {
  const { models } = catalog
  const sol = aliasTarget(catalog, typed)
  if (sol !== undefined) return { id: sol, reason: `the sol variant of ${typed}` }
  if (models.some((model) => model.id === typed)) return { id: typed, reason: 'asked for' }
  // OpenRouter's `@preset` is not a vendor (openrouter.ai/docs/features/presets, read 2026-11-22).
  if (typed.startsWith('@preset/')) return undefined

  const name = removeVendor(typed).toLowerCase()
  const sameName = models.filter((model) => removeVendor(model.id).toLowerCase() === name)
  const best = sameName.find((model) => model.id === removeVendor(model.id)) ?? sameName[0]
  return best && { id: best.id, reason: `the catalog's name for ${typed}` }
}

/** The one model that a gateway has for conversations. Undefined: it has none, or a choice. */
export function onlyModel(catalog: Catalog, ...protocols: readonly Protocol[]): string | undefined {
  const usable = catalog.models.filter((model) => supportsAny(model, protocols))
  return usable.length === 1 ? usable[0]!.id : undefined
}

/** The listed model for a short family ID. Undefined if the ID is not such an alias here. */
export function aliasTarget(catalog: Catalog, id: string): string | undefined {
  const short = parseGptId(id)
  return short !== undefined && isBare(short) ? aliasesIn(catalog)(id) : undefined
}

/** Like `aliasTarget`, for many IDs: it sorts the models of the catalog once. */
export function aliasesIn({ models }: Catalog): (id: string) => string | undefined {
  const sols = new Map<string, string>()
  for (const { id, model } of gptModels(models.filter(isChatModel))) {
    const family = id.family.join('.')
    if (id.variant === 'sol' && !sols.has(family)) sols.set(family, model.id)
  }
  return (id) => {
    const short = parseGptId(id)
    return short !== undefined && isBare(short) ? sols.get(short.family.join('.')) : undefined
  }
}

/** For each word, the IDs of messages models that contain it, such as `opus`. */
export function messagesTiers<Word extends string>(
  catalog: Catalog,
  words: readonly Word[],
): Readonly<Record<Word, readonly string[]>> {
  const tiers = Object.fromEntries(words.map((word) => [word, []])) as unknown as Record<
    Word,
    string[]
  >

  for (const model of catalog.models) {
    const parts = removeVendor(model.id)
      .toLowerCase()
      .split(/[^a-z]+/)
    const word = words.find((name) => parts.includes(name))
    if (word !== undefined && supportsProtocol(model, 'messages') !== false)
      tiers[word].push(model.id)
  }

  return tiers
}

/** The IDs of the catalog that are most similar to `typed`: at most `count`, the most similar first. */
export function closestModels(typed: string, catalog: Catalog, count = 3): readonly string[] {
  const ids = catalog.models.filter(isChatModel).map(({ id }) => id)
  return closestNames(typed, ids, removeVendor).slice(0, count)
}

/** An alias that a maker keeps for its newest coding model. */
const codingAlias = /(?:^|-)(?:code-latest|for-coding)$/

/** The variants that are a maker's strongest. A name without a variant counts too. */
const strongestVariants = ['', 'pro', 'max', 'plus', 'large', 'ultra']

/** Words for a maker's smaller or faster models, anywhere in a name. */
const weakerWords =
  /-(?:small|medium|mini|nano|micro|tiny|lite|light|flash|fast|turbo|air|instant|nemo|highspeed)(?:-|$)/

/** Makers whose families have their own rules. */
const otherMakers = /^(?:gpt|claude|o|chatgpt)$/

interface ParsedId {
  readonly id: string
  readonly maker: string
  readonly version: readonly number[]
  readonly isStrongest: boolean
  /** Dated and preview IDs come after permanent ones. */
  readonly isDated: boolean
}

/**
 * The newest and strongest model of the maker with the most models. Most coding plans and vendors list
 * the models of one maker. Undefined if there is no such maker, so that the user must choose.
 */
function newestOfMaker(
  ids: readonly string[],
): { readonly id: string; readonly reason: string } | undefined {
  const alias = ids.find((id) => codingAlias.test(plainModelName(id)))
  if (alias !== undefined) return { id: alias, reason: "the gateway's name for its coding model" }

  const models = ids.map(parseModelId).filter((model) => model !== undefined)
  const byMaker = new Map<string, ParsedId[]>()
  for (const model of models) {
    const ofMaker = byMaker.get(model.maker)
    if (ofMaker === undefined) byMaker.set(model.maker, [model])
    else ofMaker.push(model)
  }
  const [largest = [], second = []] = [...byMaker.values()].toSorted((a, b) => b.length - a.length)
  if (largest.length < 2 || largest.length === second.length) return undefined

  const [best] = largest.toSorted(
    (a, b) =>
      Number(b.isStrongest) - Number(a.isStrongest) ||
      compareVersions(b.version, a.version) ||
      Number(a.isDated) - Number(b.isDated) ||
      (a.id < b.id ? -1 : 1),
  )
  if (best === undefined || otherMakers.test(best.maker)) return undefined

  return {
    id: best.id,
    reason: `the newest strong model of ${best.maker}, which made most models here`,
  }
}

function parseModelId(id: string): ParsedId | undefined {
  const name = plainModelName(id)
  const undated = name.replace(dateAtEnd, '').replace(/-\d{2}-20\d{2}$|-\d{4}$/, '')
  // kimi-k2.5-turbo: kimi, 2.5, -turbo. Not 01-ai-yi: a maker begins with a letter.
  const match = /^([a-z]+)(?:-(?!\d)[a-z]+)*?-?[a-z]?(\d+(?:\.\d+)*)?((?:-[a-z][\w.]*)*)$/.exec(
    undated,
  )
  if (match === null) return undefined

  const [, maker = '', version = '', suffix = ''] = match
  const variant = suffix.replace(/^-/, '').replace(/-?latest$/, '')

  return {
    id,
    maker,
    version: version === '' ? [] : version.split('.').map(Number),
    isStrongest:
      strongestVariants.includes(variant) &&
      (version !== '' || variant !== '') &&
      !weakerWords.test(undated),
    isDated: undated !== name,
  }
}
