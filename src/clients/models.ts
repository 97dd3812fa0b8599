import { UserError } from '../errors.ts'
import { nearestModels } from '../gateway/models/nearest.ts'
import { type ChosenModel, defaultModel, resolveModel, speaks } from '../gateway/models/rules.ts'
import type { Catalog, CatalogModel, ProtocolName } from '../gateway/types.ts'
import type { Notice } from '../notice.ts'
import type { ModelChoice, ModelUse, SetupOptions } from './client.ts'

/**
 * The model for a client that has one: the one asked for, else by the rules over the catalog.
 *
 * @throws UserError `model-unknown`, `protocol-unsupported`, or `usage` where only a person can choose
 */
export function chooseOneModel(
  catalog: Catalog | undefined,
  options: SetupOptions,
  protocol: ProtocolName,
): ModelChoice {
  const model = pickModel(catalog, options.model, protocol)
  return { probeModel: model, model, ...windowOf(catalog, [model], options), notes: [] }
}

/** What the rules would take a model for, in a client that has one. */
export function oneUse(chosen: ChosenModel | undefined, role?: string): readonly ModelUse[] {
  return chosen === undefined ? [] : [{ ...chosen, ...(role === undefined ? {} : { role }) }]
}

/** As `chooseOneModel`, the id only. */
export function pickModel(
  catalog: Catalog | undefined,
  asked: string | undefined,
  protocol: ProtocolName,
): string {
  if (asked !== undefined) return checkedModel(catalog, asked, protocol)
  if (catalog === undefined) {
    throw new UserError({
      code: 'usage',
      message: 'Without asking the gateway, the model must be named',
      hint: 'Add --model ID, or leave --no-verify out.',
    })
  }
  const chosen = defaultModel(catalog, protocol)
  if (chosen !== undefined) return chosen.id
  const usable = catalog.models.filter((model) => speaks(model, protocol) !== false)
  throw new UserError({
    code: 'usage',
    message:
      usable.length === 0
        ? `None of the gateway's models speaks the ${protocol} protocol`
        : `No rule chooses among the gateway's ${usable.length} models`,
    hint: `Name one with --model${listed(usable.slice(0, 5).map(({ id }) => id))}. \`repoint models\` shows all.`,
  })
}

/**
 * The catalog's id for a model that a person asked for. Without a catalog, the name as it stands.
 *
 * @throws UserError `model-unknown` with the nearest ids, `protocol-unsupported`
 */
export function checkedModel(
  catalog: Catalog | undefined,
  asked: string,
  protocol: ProtocolName,
): string {
  if (catalog === undefined) return asked
  const found = resolveModel(catalog, asked)
  if (found === undefined) throw unknownModel(catalog, asked)
  const model = catalog.models.find(({ id }) => id === found.id)
  if (model !== undefined && speaks(model, protocol) === false) {
    throw new UserError({
      code: 'protocol-unsupported',
      message: `The model ${found.id} does not speak the ${protocol} protocol`,
      hint: '`repoint models` shows which models do.',
    })
  }
  return found.id
}

function unknownModel(catalog: Catalog, asked: string): UserError {
  const nearest = nearestModels(asked, catalog)
  return new UserError({
    code: 'model-unknown',
    message: `The gateway has no model ${JSON.stringify(asked)}`,
    hint: `${nearest.length === 0 ? '' : `Nearest: ${nearest.join(', ')}. `}\`repoint models\` shows all.`,
  })
}

/** The smallest context window among models, where all are known. `--context-window` wins. */
export function windowOf(
  catalog: Catalog | undefined,
  ids: readonly string[],
  options: SetupOptions,
): Pick<ModelChoice, 'contextWindow' | 'unknownWindows'> {
  if (options.contextWindow !== undefined) return { contextWindow: options.contextWindow }
  const known = ids.map((id) => entryOf(catalog, id)?.contextWindow)
  const sizes = known.filter((size) => size !== undefined)
  if (sizes.length < ids.length)
    return { unknownWindows: ids.filter((_, index) => known[index] === undefined) }
  return ids.length === 0 ? {} : { contextWindow: Math.min(...sizes) }
}

/** One note for all the models, of whichever client. */
export function windowNotices(unknown: readonly string[]): readonly Notice[] {
  if (unknown.length === 0) return []
  return [
    {
      code: 'context-window-unknown',
      message: `The gateway does not say the context window of ${[...new Set(unknown)].join(', ')}; the client will guess it`,
      hint: 'Give it with --context-window TOKENS.',
    },
  ]
}

function entryOf(catalog: Catalog | undefined, id: string): CatalogModel | undefined {
  return catalog?.models.find((model) => model.id === id)
}

function listed(ids: readonly string[]): string {
  return ids.length === 0 ? '' : `: ${ids.join(', ')}`
}
