import type { FileEdit, KeyChange } from '../../edits/plan.ts'
import type { Choice, FileText, FileTexts } from '../client.ts'
import { editKeys } from '../repairs.ts'
import { expectRead } from '../strict-json.ts'
import { asPlanned, fileOf, layersOf } from '../texts.ts'
import { providers, readAuth, readModels, readSettings } from './config.ts'
import { deciding } from './deciding.ts'
import { providerKeys, providerOf, providerPath } from './providers.ts'

/** @throws UserError `config-invalid`, `config-conflict` */
export function planPi(texts: FileTexts, choice: Choice): readonly FileEdit[] {
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

function settingsKeys({ models, providerId }: Choice): readonly KeyChange[] {
  return [
    { path: ['defaultProvider'], value: providerId },
    { path: ['defaultModel'], value: models.model },
  ]
}

function modelsKeys(texts: FileTexts, choice: Choice): readonly KeyChange[] {
  const { providerId } = choice
  const { root } = readModels(texts)
  const { table } = providerOf(providers, { root }, providerId)
  const name = [...providerPath(providers, providerId), 'name']
  return [
    ...(table['name'] === undefined ? [{ path: name, value: 'Gateway' }] : []),
    ...providerKeys(providers, { ...fileOf(texts, 'models'), root }, choice),
  ]
}
