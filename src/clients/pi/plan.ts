import { compact } from '../../compact.ts'
import type { FileEdit, KeyChange } from '../../edits/plan.ts'
import { UserError } from '../../errors.ts'
import { isSameButVersion } from '../../gateway/roots.ts'
import type { CatalogModel } from '../../gateway/types.ts'
import type { Choice, FileText, FileTexts, ModelChoice } from '../client.ts'
import { headerKeys } from '../headers.ts'
import { usualProtocol } from '../models.ts'
import { limitsAndSkills, listKeys, type ToldFact, toldValues } from '../picker.ts'
import { editKeys } from '../repairs.ts'
import { expectRead } from '../strict-json.ts'
import { asPlanned, fileOf, layersOf, rootOf, type Table } from '../texts.ts'
import {
  apiOf,
  modelOf,
  modelPath,
  modelsPath,
  type PiProvider,
  providerOf,
  providerPath,
  readAuth,
  readModels,
  readSettings,
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
    ...modelKeys(fileOf(texts, 'models'), now, choice),
  ]
}

function modelKeys(file: FileText, now: PiProvider, choice: Choice): readonly KeyChange[] {
  const { models, providerId, root } = choice
  const chosen = modelOf(now, models.model)
  const list = {
    path: modelsPath(providerId),
    now: now.models,
    // Or for the address of another protocol.
    isOtherGateway: now.url !== undefined && rootOf(now.url) !== root,
    fresh: ({ displayName: name }: CatalogModel) => compact({ name }),
    told: (model: CatalogModel) => toldOf(model, models),
  }
  const isBound = chosen?.['api'] !== undefined
  return [
    ...listKeys(file, list, choice),
    ...(isBound
      ? [{ path: [...modelPath(providerId, models.model), 'api'], value: undefined }]
      : []),
  ]
}

/**
 * What pi is told of a model. To one that reasons it calls its own words the developer's in the chat
 * protocol, which only OpenAI's models know (0.73.1).
 */
function toldOf(model: CatalogModel, models: ModelChoice): Readonly<Record<string, ToldFact>> {
  const isChat = model.reasoning && (models.protocol ?? usualProtocol) === 'chat'
  const { input, reasoning, ...limits } = limitsAndSkills(model, models)
  const compat = { value: isChat ? { supportsDeveloperRole: false } : undefined, by: [] }
  return { input, reasoning, compat, ...limits }
}

/** As `toldOf`, for a list of its own. */
export function entryOf(model: CatalogModel, models: ModelChoice): Table {
  return toldValues(toldOf(model, models))
}
