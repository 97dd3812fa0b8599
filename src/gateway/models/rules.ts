import { type Slot, slots } from '../../clients/client.ts'
import type { Catalog, CatalogModel, ProtocolName } from '../types.ts'
import { compareFamilies, type GptId, parseGptId, withoutVendor } from './model-id.ts'

/** A model, and why the rules took it, in words. */
export interface ChosenModel {
  readonly id: string
  readonly reason: string
}

/** The roles that GPT models take in the messages client. Undefined: no rule fits. */
export type GptMapping = Readonly<Record<Slot | 'subagent', ChosenModel | undefined>>

/** Words in ids of models that do not chat, as whole parts of the id. */
const otherPurposes =
  /(?:^|[-_/.:])(?:image|images|imagen|dall|dalle|flux|midjourney|mj|stable|sdxl|seedream|audio|realtime|tts|whisper|transcribe|transcription|speech|asr|voice|embed|embedding|embeddings|bge|rerank|reranker|moderation|sora|veo|video|kling|suno|ocr)(?:$|[-_/.:\d])/i

/** Endpoint types of New API that carry a conversation. */
const conversational = [
  'openai',
  'openai-response',
  'openai-response-compact',
  'anthropic',
  'gemini',
]

/** Whether a model can be offered for a conversation. Where nothing says otherwise, it can. */
export function isChatModel(model: CatalogModel): boolean {
  if (otherPurposes.test(model.id)) return false
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
export function speaks(model: CatalogModel, protocol: ProtocolName): boolean | 'unknown' {
  if (!isChatModel(model)) return false
  const types = model.endpointTypes
  if (types === undefined || types.length === 0) return 'unknown'
  if (types.includes(endpointType[protocol])) return true
  if (protocol === 'chat') return false
  return types.includes('openai') || types.includes('openai-response') ? 'unknown' : false
}

const endpointType: Readonly<Record<ProtocolName, string>> = {
  chat: 'openai',
  responses: 'openai-response',
  messages: 'anthropic',
}

/**
 * The model for a client that needs one: the newest family's sol variant; or, where a gateway has
 * a single chat model, that one. Undefined: only a person can choose.
 */
export function defaultModel(catalog: Catalog, protocol: ProtocolName): ChosenModel | undefined {
  const usable = catalog.models.filter((model) => speaks(model, protocol) !== false)
  const newest = newestWith(gptModels(usable), 'sol')
  if (newest !== undefined) {
    return { id: newest.model.id, reason: `sol variant of the newest family, ${family(newest)}` }
  }
  const [only, ...others] = usable
  if (only === undefined || others.length > 0) return undefined
  return { id: only.id, reason: 'the only chat model of this gateway' }
}

/** The model for titles and other small work: the previous family's mini, else the newest luna. */
export function smallModel(catalog: Catalog): ChosenModel | undefined {
  const models = gptModels(catalog.models.filter(isChatModel))
  const tiers = previousTiers(models)
  if (tiers.mini !== undefined) return miniChoice(tiers.mini)
  const luna = newestWith(models, 'luna')
  if (luna !== undefined) {
    return { id: luna.model.id, reason: `economical variant of the newest family, ${family(luna)}` }
  }
  return undefined
}

/**
 * GPT models for the slots of the messages client: opus and fable the newest sol, sonnet the
 * previous family's base tier, haiku and subagents its mini. Where there is no previous family
 * with such tiers, the newest family's terra and luna stand in.
 *
 * The endpoint types are not asked: see {@link speaks}.
 */
export function gptMapping(catalog: Catalog): GptMapping {
  const models = gptModels(catalog.models.filter(isChatModel))
  const sol = newestWith(models, 'sol')
  const terra = newestWith(models, 'terra')
  const tiers = previousTiers(models)

  const opus = sol && {
    id: sol.model.id,
    reason: `sol variant of the newest family, ${family(sol)}`,
  }
  const sonnet =
    tiers.base !== undefined
      ? {
          id: tiers.base.model.id,
          reason: `base tier of the previous family, ${family(tiers.base)}`,
        }
      : terra && {
          id: terra.model.id,
          reason: `balanced variant of the newest family, ${family(terra)}`,
        }
  const haiku = smallModel(catalog)
  return { opus, sonnet, haiku, fable: opus, subagent: haiku }
}

/**
 * The catalog's entry for what a person asked for: the very id, else the same id under a vendor's
 * prefix or in other letters, else, for a short family id (`gpt-5.6`), that family's sol variant.
 * Undefined: not in the catalog.
 */
export function resolveModel(catalog: Catalog, asked: string): ChosenModel | undefined {
  const { models } = catalog
  if (models.some((model) => model.id === asked)) return { id: asked, reason: 'asked for' }

  const name = withoutVendor(asked).toLowerCase()
  const alike = models.filter((model) => withoutVendor(model.id).toLowerCase() === name)
  const best = alike.find((model) => model.id === withoutVendor(model.id)) ?? alike[0]
  if (best !== undefined) return { id: best.id, reason: `the catalog's name for ${asked}` }

  const wanted = parseGptId(asked)
  if (wanted === undefined || wanted.variant !== '' || wanted.date !== '') return undefined
  const sol = gptModels(models.filter(isChatModel)).find(
    ({ id }) => id.variant === 'sol' && compareFamilies(id.family, wanted.family) === 0,
  )
  return sol && { id: sol.model.id, reason: `sol variant of ${asked}` }
}

/** The ids that hold each slot's word, as the messages client's own models do. */
export function messagesTiers(catalog: Catalog): Readonly<Record<Slot, readonly string[]>> {
  const tiers: Record<Slot, string[]> = { opus: [], sonnet: [], haiku: [], fable: [] }
  for (const model of catalog.models) {
    const words = withoutVendor(model.id)
      .toLowerCase()
      .split(/[^a-z]+/)
    const slot = slots.find((name) => words.includes(name))
    if (slot !== undefined && speaks(model, 'messages') !== false) tiers[slot].push(model.id)
  }
  return tiers
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
        compareFamilies(b.id.family, a.id.family) ||
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
 * Base and mini tier of the newest family that has both; each alone where none has both. A family
 * with a sol variant has no base tier: its bare id is the service's short name for sol.
 */
function previousTiers(models: readonly GptModel[]): {
  base: GptModel | undefined
  mini: GptModel | undefined
} {
  const newest = newestWith(models, 'sol')?.id.family
  const older = models.filter(
    ({ id }) =>
      (newest === undefined || compareFamilies(id.family, newest) < 0) &&
      !models.some((other) => other.id.variant === 'sol' && isSameFamily(other.id, id)),
  )
  const bases = older.filter(({ id }) => id.variant === '')
  const minis = older.filter(({ id }) => id.variant === 'mini')
  const base = bases.find(({ id }) => minis.some((mini) => isSameFamily(mini.id, id))) ?? bases[0]
  const mini = minis.find(({ id }) => base !== undefined && isSameFamily(base.id, id)) ?? minis[0]
  return { base, mini }
}

function isSameFamily(a: GptId, b: GptId): boolean {
  return compareFamilies(a.family, b.family) === 0
}

function miniChoice(mini: GptModel): ChosenModel {
  return { id: mini.model.id, reason: `mini tier of the previous family, ${family(mini)}` }
}

function family(model: GptModel): string {
  return `gpt-${model.id.family.join('.')}`
}
