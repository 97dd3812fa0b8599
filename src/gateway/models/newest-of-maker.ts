import { compareVersions, dateAtEnd, plainModelName } from './ids.ts'

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
export function newestOfMaker(
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
