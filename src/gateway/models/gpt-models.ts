/**
 * The families of GPT models. A family (`gpt-5.6`) has variants (`sol`, `terra`, `luna`), or tiers in older
 * families: the base (`gpt-5.4`) and the `mini`. The rules of rules.ts choose among them.
 */
import type { CatalogModel } from '../types.ts'
import { compareVersions, dateAtEnd, plainModelName } from './ids.ts'

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

export interface GptModel {
  readonly model: CatalogModel
  readonly id: GptId
}

/** The GPT models, the best ID first: newest family, then without a date, then without a vendor. */
export function gptModels(models: readonly CatalogModel[]): readonly GptModel[] {
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

export function newestVariant(models: readonly GptModel[], variant: string): GptModel | undefined {
  return models.find(({ id }) => id.variant === variant)
}

/**
 * The newest family's sol, or its short ID if the catalog lists only that. If the family has a mini, the
 * short ID is its base tier.
 */
export function newestSol(models: readonly GptModel[]): GptModel | undefined {
  const sols = models.filter(({ id }) => id.variant === 'sol')
  const withMini = familyNames(models.filter(({ id }) => id.variant === 'mini'))
  const isSol = (model: GptModel) =>
    model.id.variant === 'sol' || (isBare(model.id) && !withMini.has(familyName(model)))

  const newest = models.find(isSol)
  if (newest === undefined) return undefined
  return sols.find((model) => familyName(model) === familyName(newest)) ?? newest
}

/** Whether an ID names a family and nothing else: `gpt-5.6`. */
export function isBare({ variant, date }: GptId): boolean {
  return variant === '' && date === ''
}

export function solReason(model: GptModel): string {
  const name = model.id.variant === 'sol' ? '' : 'short name of the '
  return `${name}sol variant of the newest family, ${familyName(model)}`
}

/**
 * The base and mini tiers of the newest family that has both. If no family has both, the newest of each.
 * A family with a sol variant has no base tier: its short ID means sol.
 */
export function previousTiers(models: readonly GptModel[]): {
  readonly base: GptModel | undefined
  readonly mini: GptModel | undefined
} {
  const newest = newestSol(models)?.id.family
  const withSol = familyNames(models.filter(({ id }) => id.variant === 'sol'))
  const isOlder = ({ id }: GptModel) =>
    newest === undefined || compareVersions(id.family, newest) < 0
  const older = models.filter((model) => isOlder(model) && !withSol.has(familyName(model)))

  const bases = older.filter(({ id }) => id.variant === '')
  const minis = older.filter(({ id }) => id.variant === 'mini')
  if (newest !== undefined && areReplaced([...bases, ...minis], models, newest))
    return { base: undefined, mini: undefined }

  const withMini = familyNames(minis)
  const base = bases.find((model) => withMini.has(familyName(model))) ?? bases[0]
  const mini = minis.find((model) => base !== undefined && familyName(base) === familyName(model))
  return { base, mini: mini ?? minis[0] }
}

/**
 * Whether terra and luna models replace older tiers: those of a family in between, or those of the newest
 * family if it began a new major version.
 */
function areReplaced(
  olderTiers: readonly GptModel[],
  models: readonly GptModel[],
  newest: GptId['family'],
): boolean {
  const isNewMajor = olderTiers.every(({ id }) => id.family[0] !== newest[0])
  const replaces = ({ id }: GptModel) =>
    olderTiers.every((tier) => compareVersions(id.family, tier.id.family) > 0) &&
    (isNewMajor || compareVersions(id.family, newest) < 0)

  return models.filter(({ id }) => ['terra', 'luna'].includes(id.variant)).some(replaces)
}

function familyNames(models: readonly GptModel[]): ReadonlySet<string> {
  return new Set(models.map(familyName))
}

export function familyName(model: GptModel): string {
  return `gpt-${model.id.family.join('.')}`
}

/** Parses the ID of a GPT model. Undefined for any other ID. */
export function parseGptId(id: string): GptId | undefined {
  if (!gptIds.has(id)) gptIds.set(id, readGptId(id))
  return gptIds.get(id)
}

/** The rules ask several times for each of thousands of IDs. */
const gptIds = new Map<string, GptId | undefined>()

function readGptId(id: string): GptId | undefined {
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
