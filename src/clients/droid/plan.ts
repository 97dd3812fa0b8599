import { compact } from '../../compact.ts'
import type { FileEdit, SettingChange } from '../../edits/types.ts'
import { ofProtocol } from '../../gateway/base-urls.ts'
import type { LoadedFile, LoadedFiles } from '../contract/files.ts'
import type { OfferedModel, SetupTarget } from '../contract/setup.ts'
import { isUrlOf } from '../files/addresses.ts'
import { fileOf, readFile } from '../files/read-file.ts'
import { textIn } from '../files/tables.ts'
import { protocolFor } from '../models/protocols.ts'
import { editReadably } from '../plan/edit-file.ts'
import { bearerChanges, headerChanges } from '../plan/headers.ts'
import { factChanges, removedEntries } from '../plan/model-list.ts'
import { droidName } from './name.ts'
import { sensitiveSettings } from './sensitive-settings.ts'
import {
  apiOf,
  defaultModelPath,
  defaultOutputTokens,
  idOf,
  modelPath,
  protocolOfEntry,
  readSettings,
} from './settings.ts'

export function plan(files: LoadedFiles, target: SetupTarget): readonly FileEdit[] {
  const file = fileOf(files, 'settings')
  const edit = editReadably({
    client: droidName,
    sensitiveSettings,
    file,
    changes: ourChanges(file, target),
    fixes: target.fixes,
    read: readSettings,
  })
  return [edit]
}

export function ourChanges(file: LoadedFile, target: SetupTarget): readonly SettingChange[] {
  const { providerId, resolved, baseUrl } = target
  const [chosen = { id: resolved.model }, ...offered] = resolved.offered ?? []
  const { contextWindow: _, ...known }: OfferedModel = chosen
  const started: OfferedModel = { ...known, ...compact({ contextWindow: resolved.contextWindow }) }

  const others = readSettings(file).models.flatMap(({ providerId: id, entry }) => {
    if (!id?.startsWith(`${providerId}/`)) return []
    const isOtherGateway = !isUrlOf(String(entry['baseUrl']), baseUrl)
    const model = id.slice(providerId.length + 1)
    const protocol = protocolOfEntry(entry)
    return [{ id: model, path: modelPath(id), isOtherGateway, isMarked: true as const, protocol }]
  })
  // If the gateway has not reported its models, its entries stay, with the new address and key.
  const isKept = offered.length === 0 && !resolved.offersWholeCatalog
  const all = isKept ? others.filter(({ isOtherGateway }) => !isOtherGateway) : offered

  return [
    ...removedEntries(file, others, all, target),
    ...entryChanges(file, providerId, started, target),
    ...all.flatMap((model) => entryChanges(file, `${providerId}/${model.id}`, model, target)),
    { path: defaultModelPath, value: idOf(providerId) },
  ]
}

/** Other members of our entry stay, unless the entry is for another address. */
function entryChanges(
  file: LoadedFile,
  id: string,
  model: OfferedModel,
  target: SetupTarget,
): readonly SettingChange[] {
  const { providerId } = target
  const protocol = protocolFor(target.resolved, model)
  const baseUrl = ofProtocol(target.baseUrls, protocol)
  const path = modelPath(id)
  const now = readFile(file).table(path) ?? {}
  const url = textIn(now, ['baseUrl'])
  const isOtherGateway = url !== undefined && !isUrlOf(url, baseUrl)
  const isOtherModel = now['model'] !== undefined && now['model'] !== model.id
  const output = Math.min(
    model.maxOutputTokens ?? defaultOutputTokens,
    model.contextWindow ?? Number.POSITIVE_INFINITY,
  )
  const isNamed = textIn(now, ['displayName']) !== undefined
  const name = id === providerId ? 'Gateway' : (model.displayName ?? model.id)

  return [
    { path: [...path, 'model'], value: model.id },
    ...(isNamed ? [] : [{ path: [...path, 'displayName'], value: name }]),
    { path: [...path, 'baseUrl'], value: baseUrl },
    ...bearerChanges([...path, 'apiKey'], now['apiKey'], target),
    ...headerChanges([...path, 'extraHeaders'], now['extraHeaders'], target, isOtherGateway),
    { path: [...path, 'provider'], value: apiOf[protocol] },
    // Each of them would change the protocol.
    ...['authMode', 'bedrock']
      .filter((name) => now[name] !== undefined)
      .map((name) => ({ path: [...path, name], value: undefined })),
    ...factChanges(
      { path, now, isOtherGateway, isOtherModel },
      model,
      {
        // If it is missing, droid sends no images to a model of the chat protocol (0.215.0, 0.225.2,
        // 2026-11-23).
        noImageSupport: { value: model.images ? false : undefined, by: ['images'] },
        maxContextLimit: { value: model.contextWindow, by: ['contextWindow'] },
        maxOutputTokens: { value: output, by: ['maxOutputTokens', 'contextWindow'] },
      },
      target,
    ),
  ]
}
