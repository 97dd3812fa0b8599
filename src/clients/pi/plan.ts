import { compact } from '../../compact.ts'
import type { ConfigValue, FileEdit, KeyChange } from '../../edits/plan.ts'
import { UserError } from '../../errors.ts'
import { isSameButVersion } from '../../gateway/roots.ts'
import type { Catalog, CatalogModel } from '../../gateway/types.ts'
import type { Choice, FileText, FileTexts, ModelChoice } from '../client.ts'
import { headerKeys } from '../headers.ts'
import { replacesWindow } from '../models.ts'
import { editKeys } from '../repairs.ts'
import { expectRead } from '../strict-json.ts'
import { asPlanned, fileOf, layersOf, rootOf } from '../texts.ts'
import {
  apiOf,
  modelOf,
  modelPath,
  type PiProvider,
  providerOf,
  providerPath,
  readAuth,
  readModels,
  readSettings,
  usualProtocol,
} from './config.ts'
import { deciding } from './deciding.ts'

/** @throws UserError `config-invalid`, `config-conflict` */
export function planPi(texts: FileTexts, choice: Choice): readonly FileEdit[] {
  expectSingle(texts, choice)
  const edit = (file: FileText, keys: readonly KeyChange[]) =>
    editKeys({ id: 'pi', deciding }, file, keys, choice.repairs)
  const edits = [
    ...layersOf(texts, 'auth').map((file) => edit(file, [])),
    edit(fileOf(texts, 'models'), modelsKeys(texts, choice)),
    edit(fileOf(texts, 'settings'), settingsKeys(choice)),
  ]
  const after = asPlanned(texts, edits)
  for (const file of [readAuth(after), readModels(after), readSettings(after)])
    if (file !== undefined) expectRead('pi', file)
  return edits
}

/** @throws UserError `config-conflict` where the provider lists a model twice, which only its owner can mend */
function expectSingle(texts: FileTexts, { providerId }: Choice): void {
  const ids = providerOf(readModels(texts), providerId).models.map(({ id }) => id)
  const twice = ids.find((id, index) => ids.indexOf(id) !== index)
  if (twice === undefined) return
  const { path } = fileOf(texts, 'models')
  throw new UserError({
    code: 'config-conflict',
    message: `${path} lists the model ${twice} of ${providerId} twice`,
    hint: 'Take one of them out: pi uses the last.',
  })
}

function settingsKeys({ models, providerId }: Choice): readonly KeyChange[] {
  return [
    { path: ['defaultProvider'], value: providerId },
    { path: ['defaultModel'], value: models.model },
  ]
}

function modelsKeys(texts: FileTexts, choice: Choice): readonly KeyChange[] {
  const { models, providerId, key, root } = choice
  const protocol = models.protocol ?? usualProtocol
  const path = providerPath(providerId)
  const now = providerOf(readModels(texts), providerId)
  const isForeign = now.url !== undefined && !isSameButVersion(rootOf(now.url), root)
  return [
    ...(now.table['name'] === undefined ? [{ path: [...path, 'name'], value: 'Gateway' }] : []),
    { path: [...path, 'baseUrl'], value: root },
    { path: [...path, 'api'], value: apiOf[protocol] },
    { path: [...path, 'apiKey'], value: key, isSecret: true },
    // Else pi sends the key as x-api-key alone, and beside it whatever ANTHROPIC_AUTH_TOKEN holds.
    ...(protocol === 'messages' ? [{ path: [...path, 'authHeader'], value: true }] : []),
    ...headerKeys([...path, 'headers'], now.table['headers'], choice, isForeign),
    ...listKeys(now, choice),
  ]
}

/**
 * What the list of models becomes. An entry that is there keeps what someone wrote into it; the
 * entries of another gateway go.
 */
function listKeys(now: PiProvider, choice: Choice): readonly KeyChange[] {
  const { models, providerId } = choice
  const offered = offeredIn(models)
  // Or for the address of another protocol.
  const isOtherGateway = now.url !== undefined && rootOf(now.url) !== choice.root
  const gone = isOtherGateway
    ? now.models.filter(({ id }) => !offered.some((model) => model.id === id))
    : []
  return [
    ...gone.map(({ id }) => ({ path: modelPath(providerId, String(id)), value: undefined })),
    ...offered.flatMap((model) => modelKeys(model, now, choice, isOtherGateway)),
  ]
}

function modelKeys(
  model: CatalogModel,
  now: PiProvider,
  { models, wanted, providerId }: Choice,
  isOtherGateway: boolean,
): readonly KeyChange[] {
  const path = modelPath(providerId, model.id)
  const isChosen = model.id === models.model
  const entry = modelOf(now, model.id)
  const set = (name: string, value: ConfigValue | undefined) => ({ path: [...path, name], value })
  const limits = limitsOf(model, models)
  if (entry === undefined) {
    const value = { id: model.id, ...compact({ name: model.displayName }), ...limits }
    return [{ path, value }]
  }

  const isWindowGone = isChosen && replacesWindow(wanted)
  return [
    ...Object.entries(limits)
      .filter(
        ([name]) =>
          entry[name] === undefined || isOtherGateway || (isWindowGone && name === 'contextWindow'),
      )
      .map(([name, value]) => set(name, value)),
    ...(isWindowGone && limits.contextWindow === undefined && entry['contextWindow'] !== undefined
      ? [set('contextWindow', undefined)]
      : []),
    ...(isChosen && entry['api'] !== undefined ? [set('api', undefined)] : []),
  ]
}

export function offeredIn({ offered, model }: ModelChoice): Catalog['models'] {
  const all = offered ?? []
  return all.some(({ id }) => id === model) ? all : [{ id: model }, ...all]
}

/** In tokens, as far as they are known. */
export function limitsOf(
  model: CatalogModel,
  { model: chosen, contextWindow }: ModelChoice,
): { readonly contextWindow?: number; readonly maxTokens?: number } {
  return compact({
    contextWindow: (model.id === chosen ? contextWindow : undefined) ?? model.contextWindow,
    maxTokens: model.maxOutputTokens,
  })
}
