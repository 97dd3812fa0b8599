import { dateAtEnd, plainModelName } from './ids.ts'

/** An ID that a maker keeps pointing at its newest model for coding. */
const codingAlias = /(?:^|-)(?:code-latest|for-coding)$/

/** Variants that are the maker's strongest; a name without a variant is as good. */
const strongest = ['', 'pro', 'max', 'plus', 'large', 'ultra']

/** Makers whose families the other rules know. */
const otherRulesKnow = /^(?:gpt|claude|o|chatgpt)$/

interface ParsedId {
  readonly id: string
  readonly maker: string
  readonly version: readonly number[]
  readonly isStrongest: boolean
  /** Dated or preview IDs come after those that stay. */
  readonly isDated: boolean
}

/**
 * The newest and strongest model of the maker that has the most models here: most coding plans and vendors
 * list one maker's. Undefined: there is no such maker, and only a person can choose.
 */
export function newestOfMaker(
  ids: readonly string[],
): { readonly id: string; readonly reason: string } | undefined {
  const alias = ids.find((id) => codingAlias.test(plainModelName(id)))
  if (alias !== undefined) return { id: alias, reason: "the gateway's name for its coding model" }

  const models = ids.map(parse).filter((model) => model !== undefined)
  const byMaker = new Map<string, ParsedId[]>()
  for (const model of models) byMaker.set(model.maker, [...(byMaker.get(model.maker) ?? []), model])
  const [most = [], second = []] = [...byMaker.values()].toSorted((a, b) => b.length - a.length)
  if (most.length < 2 || most.length === second.length) return undefined

  const [best] = most.toSorted(
    (a, b) =>
      Number(b.isStrongest) - Number(a.isStrongest) ||
      compare(b.version, a.version) ||
      Number(a.isDated) - Number(b.isDated) ||
      (a.id < b.id ? -1 : 1),
  )
  if (best === undefined || otherRulesKnow.test(best.maker)) return undefined
  return { id: best.id, reason: `the newest strong model of ${best.maker}, which most here are` }
}

function parse(id: string): ParsedId | undefined {
  const name = plainModelName(id)
  const undated = name.replace(dateAtEnd, '').replace(/-\d{4}$/, '')
  const match = /^([a-z]+)(?:-(?!\d)[a-z]+)*?-?[a-z]?(\d+(?:\.\d+)*)?((?:-[a-z][\w.]*)*)$/.exec(
    undated,
  )
  if (match === null) return undefined

  const [, maker = '', version = '', rest = ''] = match
  const variant = rest.replace(/^-/, '').replace(/-?latest$/, '')
  return {
    id,
    maker,
    version: version === '' ? [] : version.split('.').map(Number),
    isStrongest: strongest.includes(variant) && (version !== '' || variant !== ''),
    isDated: undated !== name,
  }
}

function compare(a: readonly number[], b: readonly number[]): number {
  for (let part = 0; part < Math.max(a.length, b.length); part++) {
    const difference = (a[part] ?? 0) - (b[part] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}
