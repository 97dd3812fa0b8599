import { closestNames } from '../../text.ts'
import type { Catalog, CatalogModel, Protocol } from '../types.ts'
import { newestOfMaker } from './families.ts'
import { dateAtEnd, plainModelName } from './ids.ts'

/** A model, and the reason why the rules chose it, as text. */
export interface ChosenModel {
  readonly id: string
  readonly reason: string
}

/** GPT models by strength, for a client that needs several. Undefined if no rule applies. */
export type GptTiers = Readonly<Record<'best' | 'balanced' | 'small', ChosenModel | undefined>>

/** The entry of a model in a catalog. */
export function catalogEntry(
  catalog: Catalog | undefined,
  id: string | undefined,
): CatalogModel | undefined {
  return catalog?.models.find((model) => model.id === id)
}

/** Words in the IDs of models that cannot hold a conversation, as whole parts of the ID. */
const otherPurposes =
  /(?:^|[-_/.:])(?:image|images|imagen|dall|dalle|flux|midjourney|mj|stable|sdxl|seedream|audio|realtime|tts|whisper|transcribe|transcription|speech|asr|voice|embed|embedding|embeddings|bge|rerank|reranker|moderation|sora|veo|video|kling|suno|ocr|t2v|i2v|t2i|i2i|ideogram|recraft|runway|hailuo|luma|seedance|elevenlabs|lyria|music|stt|canvas|reel|minilm|colbert|voyage|cosyvoice|paraformer|upscaler?|nano-banana)(?:$|[-_/.:\d])/i

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
  if (model.isConversational === false) return false
  if (otherPurposes.test(model.id) || model.id.includes('*')) return false
  const types = model.endpointTypes
  if (types === undefined || types.length === 0) return true
  // New API lists the main purpose first: image models have image-generation, openai.
  return conversationTypes.includes(types[0]!)
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

const endpointType: Readonly<Record<Protocol, string>> = {
  chat: 'openai',
  responses: 'openai-response',
  messages: 'anthropic',
}

/**
 * The default model for a client: the newest family's sol variant; or the only chat model; or the newest
 * model of the maker with the most models. Undefined if the user must choose.
 */
export function defaultModel(
  catalog: Catalog,
  ...protocols: readonly Protocol[]
): ChosenModel | undefined {
  const usable = catalog.models.filter((model) => supportsAny(model, protocols))
  const newest = newestSol(gptModels(usable))
  if (newest !== undefined) return { id: newest.model.id, reason: solReason(newest) }
  const only = onlyModel(catalog, ...protocols)
  if (only) return { id: only, reason: 'the only chat model of this gateway' }
  return newestOfMaker(usable.map(({ id }) => id))
}

/** The model for titles and other small work: the previous family's mini, or else the newest luna. */
export function smallModel(catalog: Catalog): ChosenModel | undefined {
  const models = gptModels(catalog.models.filter(isChatModel))
  const { mini } = previousTiers(models)
  if (mini !== undefined)
    return { id: mini.model.id, reason: `mini tier of the previous family, ${familyName(mini)}` }

  const luna = newestVariant(models, 'luna')

  return (
    luna && {
      id: luna.model.id,
      reason: `economical variant of the newest family, ${familyName(luna)}`,
    }
  )
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
  const terra = newestVariant(models, 'terra')
  const { base } = previousTiers(models)

  const best = sol && { id: sol.model.id, reason: solReason(sol) }
  const balanced = base
    ? { id: base.model.id, reason: `base tier of the previous family, ${familyName(base)}` }
    : terra && {
        id: terra.model.id,
        reason: `balanced variant of the newest family, ${familyName(terra)}`,
      }

  return { best, balanced, small: smallModel(catalog) }
}

/**
 * The listed model for an ID that the user typed: the same ID, or the same name with a vendor's prefix or
 * in upper or lower case. A short family ID (`gpt-5.6`) means that family's sol variant, if the catalog
 * lists it. Undefined: the catalog does not list the model, but the gateway may still serve it.
 */
export function resolveModel(catalog: Catalog, typed: string): ChosenModel | undefined {
  const { models } = catalog
  const sol = aliasTarget(catalog, typed)
  if (sol !== undefined) return { id: sol, reason: `the sol variant of ${typed}` }
  if (models.some((model) => model.id === typed)) return { id: typed, reason: 'asked for' }
  // A preset of OpenRouter is no vendor (openrouter.ai/docs/features/presets, read 2026-11-22).
  if (typed.startsWith('@preset/')) return undefined

  const name = removeVendor(typed).toLowerCase()
  const sameName = models.filter((model) => removeVendor(model.id).toLowerCase() === name)
  const best = sameName.find((model) => model.id === removeVendor(model.id)) ?? sameName[0]
  return best && { id: best.id, reason: `the catalog's name for ${typed}` }
}

/** The one model that a gateway has for conversations. Undefined: it has none, or a choice. */
export function onlyModel(catalog: Catalog, ...protocols: readonly Protocol[]): string | undefined {
  const [only, ...others] = catalog.models.filter((model) => supportsAny(model, protocols))
  return others.length === 0 ? only?.id : undefined
}

/** The listed model for a short family ID. Undefined if the ID is not such an alias here. */
export function aliasTarget({ models }: Catalog, id: string): string | undefined {
  const short = parseGptId(id)
  if (short === undefined || !isBare(short)) return undefined
  return gptModels(models.filter(isChatModel)).find(
    (one) => one.id.variant === 'sol' && compareVersions(one.id.family, short.family) === 0,
  )?.model.id
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

/** The parts of a GPT model's ID. They are only used to rank and group IDs, never to compose one. */
interface GptId {
  /** `[5, 6]` for `gpt-5.6-sol`. Compared as numbers, so 5.10 is newer than 5.9. */
  readonly family: readonly number[]
  /** `sol`, `terra`, `luna`, `mini`, …; empty for the short family ID. */
  readonly variant: string
  /** The digits of a date in the ID; empty if there is none. */
  readonly date: string
  readonly hasVendor: boolean
}

interface GptModel {
  readonly model: CatalogModel
  readonly id: GptId
}

/** The GPT models, the best ID first: newest family, then without a date, then without a vendor. */
function gptModels(models: readonly CatalogModel[]): readonly GptModel[] {
  return models
    .flatMap((model) => {
      const id = parseGptId(model.id)
      return id === undefined ? [] : [{ model, id }]
    })
    .sort(
      (a, b) =>
        compareVersions(b.id.family, a.id.family) ||
        Number(a.id.date !== '') - Number(b.id.date !== '') ||
        Number(b.id.date) - Number(a.id.date) ||
        Number(a.id.hasVendor) - Number(b.id.hasVendor) ||
        (a.model.id < b.model.id ? -1 : 1),
    )
}

function newestVariant(models: readonly GptModel[], variant: string): GptModel | undefined {
  return models.find(({ id }) => id.variant === variant)
}

/**
 * The newest family's sol, or its short ID if the catalog lists only that. If the family has a mini, the
 * short ID is its base tier.
 */
function newestSol(models: readonly GptModel[]): GptModel | undefined {
  const withMini = familyNames(models.filter(({ id }) => id.variant === 'mini'))
  const newest = models.find(
    (model) => model.id.variant === 'sol' || (isBare(model.id) && !withMini.has(familyName(model))),
  )
  const sols = models.filter(({ id }) => id.variant === 'sol')
  return sols.find((model) => newest && familyName(model) === familyName(newest)) ?? newest
}

function isBare({ variant, date }: GptId): boolean {
  return variant === '' && date === ''
}

function solReason(model: GptModel): string {
  const name = model.id.variant === 'sol' ? '' : 'short name of the '
  return `${name}sol variant of the newest family, ${familyName(model)}`
}

/**
 * The base and mini tiers of the newest family that has both. If no family has both, the newest of each.
 * A family with a sol variant has no base tier: its short ID means sol.
 */
function previousTiers(models: readonly GptModel[]): {
  base: GptModel | undefined
  mini: GptModel | undefined
} {
  const newest = newestSol(models)?.id.family
  const withSol = familyNames(models.filter(({ id }) => id.variant === 'sol'))
  const older = models.filter(
    (model) =>
      (newest === undefined || compareVersions(model.id.family, newest) < 0) &&
      !withSol.has(familyName(model)),
  )

  const bases = older.filter(({ id }) => id.variant === '')
  const minis = older.filter(({ id }) => id.variant === 'mini')
  const withMini = familyNames(minis)
  // A family in between has newer tiers, and so has the newest one after a change of the major version.
  const isNewer = ({ id }: GptModel) =>
    newest !== undefined &&
    [...bases, ...minis].every((tier) => compareVersions(id.family, tier.id.family) > 0) &&
    (compareVersions(id.family, newest) < 0 ||
      [...bases, ...minis].every((tier) => tier.id.family[0] !== newest[0]))
  const tiered = models.filter(({ id }) => ['terra', 'luna'].includes(id.variant))
  if (tiered.some(isNewer)) return { base: undefined, mini: undefined }

  const base = bases.find((model) => withMini.has(familyName(model))) ?? bases[0]
  const mini = minis.find((model) => base !== undefined && familyName(base) === familyName(model))
  return { base, mini: mini ?? minis[0] }
}

function familyNames(models: readonly GptModel[]): ReadonlySet<string> {
  return new Set(models.map(familyName))
}

function familyName(model: GptModel): string {
  return `gpt-${model.id.family.join('.')}`
}

/** Removes the vendor from an ID: `openai/gpt-5.6-sol` becomes `gpt-5.6-sol`. */
export function removeVendor(id: string): string {
  return id.slice(id.lastIndexOf('/') + 1)
}

/** Parses the ID of a GPT model. Undefined for any other ID. */
function parseGptId(id: string): GptId | undefined {
  const name = plainModelName(id)
  const match = /^gpt-(\d+(?:\.\d+)*)((?:-[a-z0-9.]+)*)$/.exec(name)
  if (match === null) return undefined

  const date = dateAtEnd.exec(match[2]!)
  const variant = match[2]!.slice(1, date === null ? undefined : date.index).replace(/^-/, '')

  return {
    // 5.0 equals 5.
    family: match[1]!
      .replace(/(?:\.0+)+$/, '')
      .split('.')
      .map(Number),
    variant: date?.index === 0 ? '' : variant,
    date: date === null ? '' : date.slice(1).filter(Boolean).join('').slice(-6),
    hasVendor: name !== id.toLowerCase(),
  }
}

/** Compares versions. Negative if `a` is older: `[3, 7]` is older than `[4]`. */
export function compareVersions(a: readonly number[], b: readonly number[]): number {
  for (let part = 0; part < Math.max(a.length, b.length); part++) {
    const difference = (a[part] ?? 0) - (b[part] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

/** The IDs of the catalog that are most similar to `typed`: at most `count`, the most similar first. */
export function closestModels(typed: string, catalog: Catalog, count = 3): readonly string[] {
  const ids = catalog.models.filter(isChatModel).map(({ id }) => id)
  return closestNames(typed, ids, removeVendor).slice(0, count)
}
