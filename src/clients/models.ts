import { UserError } from '../errors.ts'
import { withLimits } from '../gateway/models/limits.ts'
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
  window: WindowHabit,
): ModelChoice {
  const model = pickModel(catalog, options, protocol)
  const { notes, ...limits } = windowOf(catalog, [model], options, window)
  return {
    probeModel: model,
    model,
    ...limits,
    notes: [...renamings(catalog, [options.model], options), ...notes],
  }
}

/** What the rules would take a model for, in a client that has one. */
export function oneUse(chosen: ChosenModel | undefined, role?: string): readonly ModelUse[] {
  return chosen === undefined ? [] : [{ ...chosen, ...(role === undefined ? {} : { role }) }]
}

/** As `chooseOneModel`, the id only. */
export function pickModel(
  catalog: Catalog | undefined,
  options: SetupOptions,
  protocol: ProtocolName,
): string {
  if (options.model !== undefined) return checkedModel(catalog, options.model, protocol, options)
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

/** Whether a gateway has a model that speaks a protocol. */
export function isOffered(catalog: Catalog, id: string, protocol: ProtocolName): boolean {
  const found = entryOf(catalog, resolveModel(catalog, id)?.id)
  return found !== undefined && speaks(found, protocol) !== false
}

/**
 * The catalog's id for a model that a person asked for. Without a catalog, and for what is configured
 * already, the name as it stands: the client sends it so.
 *
 * @throws UserError `model-unknown` with the nearest ids, `protocol-unsupported`
 */
export function checkedModel(
  catalog: Catalog | undefined,
  asked: string,
  protocol: ProtocolName,
  { isConfigured }: Pick<SetupOptions, 'isConfigured'>,
): string {
  if (catalog === undefined || isConfigured) return asked
  const found = resolveModel(catalog, asked)
  if (found === undefined) throw unknownModel(catalog, asked)
  const model = entryOf(catalog, found.id)
  if (model !== undefined && speaks(model, protocol) === false) {
    throw new UserError({
      code: 'protocol-unsupported',
      message: `The model ${found.id} does not speak the ${protocol} protocol`,
      hint: '`repoint models` shows which models do.',
    })
  }
  return found.id
}

/** What is said of models that are written under another name than they were asked for. */
export function renamings(
  catalog: Catalog | undefined,
  asked: readonly (string | undefined)[],
  { isConfigured }: Pick<SetupOptions, 'isConfigured'>,
): readonly Notice[] {
  if (catalog === undefined || isConfigured) return []
  return [...new Set(asked)].flatMap((name): Notice[] => {
    const found = name === undefined ? undefined : resolveModel(catalog, name)
    if (found === undefined || found.id === name) return []
    return [
      { code: 'model-renamed', message: `${name} is written as ${found.id}, ${found.reason}` },
    ]
  })
}

function unknownModel(catalog: Catalog, asked: string): UserError {
  const nearest = nearestModels(asked, catalog)
  return new UserError({
    code: 'model-unknown',
    message: `The gateway has no model ${JSON.stringify(asked)}`,
    hint: `${nearest.length === 0 ? '' : `Nearest: ${nearest.join(', ')}. `}\`repoint models\` shows all.`,
  })
}

/** What a client does about the context windows of models. */
export interface WindowHabit {
  /** Whether it knows the model's window by itself. Absent: it knows none. */
  readonly knows?: (id: string) => boolean
  /** What it does without knowing it, in words. */
  readonly otherwise: string
}

/**
 * The window to be written: the smallest among models, where all are known; `--context-window` wins.
 * None where the client itself knows one of them.
 */
export function windowOf(
  catalog: Catalog | undefined,
  ids: readonly string[],
  options: SetupOptions,
  { knows = () => false, otherwise }: WindowHabit,
): { readonly contextWindow?: number; readonly notes: readonly Notice[] } {
  if (options.contextWindow !== undefined)
    return { contextWindow: options.contextWindow, notes: [] }
  const sizes = ids.map(
    (id) =>
      entryOf(catalog, id)?.contextWindow ?? (knows(id) ? 'own' : withLimits({ id }).contextWindow),
  )

  const unknown = [...new Set(ids.filter((_, index) => sizes[index] === undefined))]
  if (unknown.length > 0 && options.isConfigured) return { notes: [] }
  if (unknown.length > 0)
    return {
      notes: [
        {
          code: 'context-window-unknown',
          message: `The gateway does not say the context window of ${unknown.join(', ')}: ${otherwise}`,
          hint: 'Give it with --context-window TOKENS.',
        },
      ],
    }
  const known = sizes.filter((size) => typeof size === 'number')
  const isAll = known.length === ids.length && ids.length > 0
  return { ...(isAll ? { contextWindow: Math.min(...known) } : {}), notes: [] }
}

function entryOf(catalog: Catalog | undefined, id: string | undefined): CatalogModel | undefined {
  return catalog?.models.find((model) => model.id === id)
}

function listed(ids: readonly string[]): string {
  return ids.length === 0 ? '' : `: ${ids.join(', ')}`
}
