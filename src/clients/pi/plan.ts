import { compact } from '../../compact.ts'
import type { FileEdit, KeyChange } from '../../edits/plan.ts'
import { UserError } from '../../errors.ts'
import { isSameButVersion } from '../../gateway/roots.ts'
import type { Catalog, CatalogModel } from '../../gateway/types.ts'
import type { Choice, FileText, FileTexts, ModelChoice } from '../client.ts'
import { headerKeys } from '../headers.ts'
import { leavingKeys, type ToldFact, toldKeys, toldValues } from '../picker.ts'
import { editKeys } from '../repairs.ts'
import { expectRead } from '../strict-json.ts'
import { asPlanned, fileOf, layersOf, rootOf, type Table } from '../texts.ts'
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
    ...listKeys(fileOf(texts, 'models'), now, choice),
  ]
}

/** What the list of models becomes. An entry that is there keeps what someone wrote into it. */
function listKeys(file: FileText, now: PiProvider, choice: Choice): readonly KeyChange[] {
  const { models, providerId } = choice
  const offered = offeredIn(models)
  // Or for the address of another protocol.
  const isOtherGateway = now.url !== undefined && rootOf(now.url) !== choice.root
  const entries = now.models.map(({ id }) => {
    const path = modelPath(providerId, String(id))
    return { id: String(id), path, isElsewhere: isOtherGateway }
  })

  return [
    ...leavingKeys(file, entries, offered, choice),
    ...offered.flatMap((model) => modelKeys(model, now, choice, isOtherGateway)),
  ]
}

function modelKeys(
  model: CatalogModel,
  now: PiProvider,
  choice: Choice,
  isOtherGateway: boolean,
): readonly KeyChange[] {
  const path = modelPath(choice.providerId, model.id)
  const entry = modelOf(now, model.id)
  const told = toldOf(model, choice.models)
  if (entry === undefined) {
    const { id, displayName: name } = model
    return [{ path, value: { id, ...compact({ name }), ...toldValues(told) } }]
  }

  const isBound = model.id === choice.models.model && entry['api'] !== undefined
  return [
    ...toldKeys({ path, now: entry, isOtherGateway }, model, told, choice),
    ...(isBound ? [{ path: [...path, 'api'], value: undefined }] : []),
  ]
}

export function offeredIn({ offered, model }: ModelChoice): Catalog['models'] {
  const all = offered ?? []
  return all.some(({ id }) => id === model) ? all : [{ id: model }, ...all]
}

/**
 * What pi is told of a model, which it takes for a blind one that does not reason. To one that reasons
 * it calls its own words the developer's in the chat protocol, which only OpenAI's models know (0.73.1).
 */
function toldOf(
  model: CatalogModel,
  { model: chosen, contextWindow, protocol = usualProtocol }: ModelChoice,
): Readonly<Record<string, ToldFact>> {
  const { images, reasoning, maxOutputTokens } = model
  const isChat = reasoning && protocol === 'chat'
  const window = (model.id === chosen ? contextWindow : undefined) ?? model.contextWindow
  return {
    input: { value: images ? ['text', 'image'] : undefined, by: ['images'] },
    reasoning: { value: reasoning || undefined, by: ['reasoning'] },
    compat: { value: isChat ? { supportsDeveloperRole: false } : undefined, by: [] },
    contextWindow: { value: window, by: ['contextWindow'] },
    maxTokens: { value: maxOutputTokens, by: ['maxOutputTokens'] },
  }
}

/** As `toldOf`, for a list of its own. */
export function entryOf(model: CatalogModel, models: ModelChoice): Table {
  return toldValues(toldOf(model, models))
}
