import { nearestTo } from '../../text.ts'
import type { Catalog, CatalogModel, Protocol } from '../types.ts'
import { newestOfMaker } from './families.ts'
import { dateAtEnd, plainModelName } from './ids.ts'

/** A model, and why the rules took it, in words. */
export interface ChosenModel {
  readonly id: string
  readonly reason: string
}

/** GPT models by strength, for a client that wants several. Undefined: no rule fits. */
export type GptTiers = Readonly<Record<'best' | 'balanced' | 'small', ChosenModel | undefined>>

/** Words in ids of models that do not chat, as whole parts of the id. */
const otherPurposes =
  /(?:^|[-_/.:])(?:image|images|imagen|dall|dalle|flux|midjourney|mj|stable|sdxl|seedream|audio|realtime|tts|whisper|transcribe|transcription|speech|asr|voice|embed|embedding|embeddings|bge|rerank|reranker|moderation|sora|veo|video|kling|suno|ocr|t2v|i2v|t2i|i2i|ideogram|recraft|runway|hailuo|luma|seedance|elevenlabs|lyria|music|stt|canvas|reel|minilm|colbert|voyage|cosyvoice|paraformer|upscaler?|nano-banana)(?:$|[-_/.:\d])/i

/** Endpoint types of New API that carry a conversation. */
const conversational = [
  'openai',
  'openai-response',
  'openai-response-compact',
  'anthropic',
  'gemini',
]

/**
 * Whether a model can be offered for a conversation. Where nothing says otherwise, it can; what LiteLLM
 * lists as `openai/*` is a pattern (docs.litellm.ai/docs/wildcard_routing, read 2026-11-22).
 */
export function isChatModel(model: CatalogModel): boolean {
  if (model.isConversational === false) return false
  if (otherPurposes.test(model.id) || model.id.includes('*')) return false
  const types = model.endpointTypes
  if (types === undefined || types.length === 0) return true
  // New API puts what a model is made for first: image models come as image-generation, openai.
  return conversational.includes(types[0]!)
}

/**
 * Whether a model speaks a protocol. `unknown`: the gateway does not say, or it lists the model
 * for chat completions only. New API lists the GPT models so and serves them on its other routes
 * too, by translation (common/endpoint_type.go, read 2026-11-21): only a probe can tell.
 */
export function speaks(model: CatalogModel, protocol: Protocol): boolean | 'unknown' {
  if (!isChatModel(model)) return false
  const types = model.endpointTypes
  if (types === undefined || types.length === 0) return 'unknown'
  if (types.includes(endpointType[protocol])) return true
  if (protocol === 'chat') return false
  return types.includes('openai') || types.includes('openai-response') ? 'unknown' : false
}

/** Whether a model may speak one of these protocols. */
export function speaksAny(model: CatalogModel, protocols: readonly Protocol[]): boolean {
  return protocols.some((protocol) => speaks(model, protocol) !== false)
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
 * The model for a client that needs one: the newest family's sol variant; or, if a gateway has a single
 * chat model, that one; or the newest of the maker that has the most. Undefined: only a person can choose.
 */
export function defaultModel(
  catalog: Catalog,
  ...protocols: readonly Protocol[]
): ChosenModel | undefined {
  const usable = catalog.models.filter((model) => speaksAny(model, protocols))
  const newest = newestSol(gptModels(usable))
  if (newest !== undefined) return { id: newest.model.id, reason: solReason(newest) }
  const only = onlyModel(catalog, ...protocols)
  if (only) return { id: only, reason: 'the only chat model of this gateway' }
  return newestOfMaker(usable.map(({ id }) => id))
}

/** The model for titles and other small work: the previous family's mini, else the newest luna. */
export function smallModel(catalog: Catalog): ChosenModel | undefined {
  const models = gptModels(catalog.models.filter(isChatModel))
  const { mini } = previousTiers(models)
  if (mini !== undefined)
    return { id: mini.model.id, reason: `mini tier of the previous family, ${family(mini)}` }

  const luna = newestWith(models, 'luna')
  return (
    luna && {
      id: luna.model.id,
      reason: `economical variant of the newest family, ${family(luna)}`,
    }
  )
}

/**
 * The newest sol; the previous family's base tier; its mini. Where there is no previous family with
 * such tiers, the newest family's terra and luna stand in.
 *
 * The endpoint types are not asked: see {@link speaks}.
 */
export function gptTiers(catalog: Catalog): GptTiers {
  const models = gptModels(catalog.models.filter(isChatModel))
  const sol = newestSol(models)
  const terra = newestWith(models, 'terra')
  const { base } = previousTiers(models)

  const best = sol && { id: sol.model.id, reason: solReason(sol) }
  const balanced = base
    ? { id: base.model.id, reason: `base tier of the previous family, ${family(base)}` }
    : terra && {
        id: terra.model.id,
        reason: `balanced variant of the newest family, ${family(terra)}`,
      }
  return { best, balanced, small: smallModel(catalog) }
}

/**
 * The catalog's entry for what a person asked for: the very id, else the same id under a vendor's
 * prefix or in other letters; a short family id (`gpt-5.6`) is that family's sol variant, where the
 * catalog lists it. Undefined: not in the catalog, which does not say that it is not served.
 */
export function resolveModel(catalog: Catalog, asked: string): ChosenModel | undefined {
  const { models } = catalog
  const sol = aliasTarget(catalog, asked)
  if (sol !== undefined) return { id: sol, reason: `the sol variant of ${asked}` }
  if (models.some((model) => model.id === asked)) return { id: asked, reason: 'asked for' }
  // A preset of OpenRouter is no vendor (openrouter.ai/docs/features/presets, read 2026-11-22).
  if (asked.startsWith('@preset/')) return undefined

  const name = withoutVendor(asked).toLowerCase()
  const alike = models.filter((model) => withoutVendor(model.id).toLowerCase() === name)
  const best = alike.find((model) => model.id === withoutVendor(model.id)) ?? alike[0]
  return best && { id: best.id, reason: `the catalog's name for ${asked}` }
}

/** The one model that a gateway has for conversations. Undefined: it has none, or a choice. */
export function onlyModel(catalog: Catalog, ...protocols: readonly Protocol[]): string | undefined {
  const [only, ...others] = catalog.models.filter((model) => speaksAny(model, protocols))
  return others.length === 0 ? only?.id : undefined
}

/** The listed model that a short family id is served as. Undefined: it is no such name here. */
export function aliasTarget({ models }: Catalog, id: string): string | undefined {
  const short = parseGptId(id)
  if (short === undefined || !isBare(short)) return undefined
  return gptModels(models.filter(isChatModel)).find(
    (one) => one.id.variant === 'sol' && compareVersions(one.id.family, short.family) === 0,
  )?.model.id
}

/** For each word the ids that hold it, as the ids of the messages client's own models do. */
export function messagesTiers<Word extends string>(
  catalog: Catalog,
  words: readonly Word[],
): Readonly<Record<Word, readonly string[]>> {
  const tiers = Object.fromEntries(words.map((word) => [word, []])) as unknown as Record<
    Word,
    string[]
  >

  for (const model of catalog.models) {
    const parts = withoutVendor(model.id)
      .toLowerCase()
      .split(/[^a-z]+/)
    const word = words.find((name) => parts.includes(name))
    if (word !== undefined && speaks(model, 'messages') !== false) tiers[word].push(model.id)
  }

  return tiers
}

/** What a GPT model's id says. Ids are opaque: this only ranks and groups, it never makes one up. */
interface GptId {
  /** `[5, 6]` for `gpt-5.6-sol`; compared as numbers, so 5.10 is newer than 5.9. */
  readonly family: readonly number[]
  /** `sol`, `terra`, `luna`, `mini`, …; empty for the bare family id. */
  readonly variant: string
  /** Digits of a date in the id; empty: none. */
  readonly date: string
  readonly hasVendor: boolean
}

interface GptModel {
  readonly model: CatalogModel
  readonly id: GptId
}

/** GPT models, the best name first: newest family, no date before dated, no vendor before vendor. */
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

function newestWith(models: readonly GptModel[], variant: string): GptModel | undefined {
  return models.find(({ id }) => id.variant === variant)
}

/**
 * The newest family's sol, under its own name or, where only that is listed, under the family's short
 * one. Beside a mini the bare id is a base tier.
 */
function newestSol(models: readonly GptModel[]): GptModel | undefined {
  const withMini = familiesOf(models.filter(({ id }) => id.variant === 'mini'))
  const newest = models.find(
    (model) => model.id.variant === 'sol' || (isBare(model.id) && !withMini.has(family(model))),
  )
  const sols = models.filter(({ id }) => id.variant === 'sol')
  return sols.find((model) => newest && family(model) === family(newest)) ?? newest
}

function isBare({ variant, date }: GptId): boolean {
  return variant === '' && date === ''
}

function solReason(model: GptModel): string {
  const name = model.id.variant === 'sol' ? '' : 'short name of the '
  return `${name}sol variant of the newest family, ${family(model)}`
}

/**
 * Base and mini tier of the newest family that has both; each alone where none has both. A family
 * with a sol variant has no base tier: its bare id is the service's short name for sol.
 */
function previousTiers(models: readonly GptModel[]): {
  base: GptModel | undefined
  mini: GptModel | undefined
} {
  const newest = newestSol(models)?.id.family
  const withSol = familiesOf(models.filter(({ id }) => id.variant === 'sol'))
  const older = models.filter(
    (model) =>
      (newest === undefined || compareVersions(model.id.family, newest) < 0) &&
      !withSol.has(family(model)),
  )

  const bases = older.filter(({ id }) => id.variant === '')
  const minis = older.filter(({ id }) => id.variant === 'mini')
  const withMini = familiesOf(minis)
  // A family in between has newer tiers of its own.
  const isBetween = ({ id }: GptModel) =>
    newest !== undefined &&
    compareVersions(id.family, newest) < 0 &&
    [...bases, ...minis].every((tier) => compareVersions(id.family, tier.id.family) > 0)
  const tiered = models.filter(({ id }) => ['terra', 'luna'].includes(id.variant))
  if (tiered.some(isBetween)) return { base: undefined, mini: undefined }

  const base = bases.find((model) => withMini.has(family(model))) ?? bases[0]
  const mini = minis.find((model) => base !== undefined && family(base) === family(model))
  return { base, mini: mini ?? minis[0] }
}

function familiesOf(models: readonly GptModel[]): ReadonlySet<string> {
  return new Set(models.map(family))
}

function family(model: GptModel): string {
  return `gpt-${model.id.family.join('.')}`
}

/** The id without its vendor: `openai/gpt-5.6-sol` is `gpt-5.6-sol`. */
export function withoutVendor(id: string): string {
  return id.slice(id.lastIndexOf('/') + 1)
}

/** Reads a GPT id, or undefined where it is none. */
function parseGptId(id: string): GptId | undefined {
  const name = plainModelName(id)
  const match = /^gpt-(\d+(?:\.\d+)*)((?:-[a-z0-9.]+)*)$/.exec(name)
  if (match === null) return undefined

  const date = dateAtEnd.exec(match[2]!)
  const variant = match[2]!.slice(1, date === null ? undefined : date.index).replace(/^-/, '')

  return {
    // 5.0 is 5.
    family: match[1]!
      .replace(/(?:\.0+)+$/, '')
      .split('.')
      .map(Number),
    variant: date?.index === 0 ? '' : variant,
    date: date === null ? '' : date.slice(1).filter(Boolean).join('').slice(-6),
    hasVendor: name !== id.toLowerCase(),
  }
}

/** Negative where `a` is the older version: `[3, 7]` before `[4]`. */
export function compareVersions(a: readonly number[], b: readonly number[]): number {
  for (let part = 0; part < Math.max(a.length, b.length); part++) {
    const difference = (a[part] ?? 0) - (b[part] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

/** The ids of the catalog that look most like `asked`: at most `count`, the likest first. */
export function nearestModels(asked: string, catalog: Catalog, count = 3): readonly string[] {
  const ids = catalog.models.filter(isChatModel).map(({ id }) => id)
  return nearestTo(asked, ids, withoutVendor).slice(0, count)
}
