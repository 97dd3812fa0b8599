import { compact } from '../../compact.ts'
import type { SettingChange } from '../../edits/types.ts'
import { isSameButVersion, ofProtocol } from '../../gateway/base-urls.ts'
import type { Protocol } from '../../gateway/types.ts'
import type { LoadedFile } from '../contract/files.ts'
import type { OfferedModel, SetupTarget } from '../contract/setup.ts'
import { pointsElsewhere } from '../files/addresses.ts'
import { parseFile } from '../files/parse-file.ts'
import { textIn } from '../files/tables.ts'
import { offeredIn } from '../models/picker.ts'
import { droidName } from '../names.ts'
import { planOneFile } from '../plan/edit-file.ts'
import {
  type EntryMember,
  entryChanges,
  type OtherEntry,
  removedEntries,
  writtenAbility,
} from '../plan/entries.ts'
import { bearerChanges, headerChanges } from '../plan/headers.ts'
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

export const plan = planOneFile({
  client: droidName,
  sensitiveSettings,
  kind: 'settings',
  read: readSettings,
  changes: ourChanges,
})

/**
 * The changes to `customModels` and to the default model. The entry of the model that droid starts with has the
 * ID of the provider. Each other model of the gateway has an entry `PROVIDER/MODEL`. For example, a setup chooses
 * `b` at a gateway that has `a` and `b`; before, it chose `a`:
 *
 *     entry        model before    model after
 *     gateway      a               b
 *     gateway/a                    a
 *     gateway/b    b               removed
 */
export function ourChanges(file: LoadedFile, target: SetupTarget): readonly SettingChange[] {
  const { providerId, resolved } = target
  const [first, ...offered] = offeredIn(resolved)
  const { contextWindow: _, ...known } = first
  const started: OfferedModel = { ...known, ...compact({ contextWindow: resolved.contextWindow }) }

  const present = otherModelEntries(file, target)
  // If the gateway has not reported its models, those of an earlier setup stay, with the new key.
  const isListUnknown = offered.length === 0 && !resolved.offersWholeCatalog
  const otherModels = isListUnknown ? present.filter((entry) => !entry.isOtherGateway) : offered
  const removed = present.filter(({ id }) => otherModels.every((model) => model.id !== id))

  return [
    ...removedEntries(file, removed, target),
    ...modelChanges(file, providerId, started, target),
    ...otherModels.flatMap((model) =>
      modelChanges(file, `${providerId}/${model.id}`, model, target),
    ),
    { path: defaultModelPath, value: idOf(providerId) },
  ]
}

/** The entries `PROVIDER/MODEL` that the file has now. */
function otherModelEntries(
  file: LoadedFile,
  { providerId, resolved, baseUrls }: SetupTarget,
): readonly (OtherEntry & { readonly id: string; readonly protocol: Protocol })[] {
  return readSettings(file).models.flatMap(({ entryId, entry }) => {
    if (!entryId?.startsWith(`${providerId}/`)) return []
    const protocol = protocolOfEntry(entry) ?? resolved.protocol
    const isOtherGateway = !isSameButVersion(
      String(entry['baseUrl']),
      ofProtocol(baseUrls, protocol),
    )
    const id = entryId.slice(providerId.length + 1)
    return [{ id, protocol, path: modelPath(entryId), isOtherGateway, isMarked: true as const }]
  })
}

/** @param id of the entry: not the model's */
function modelChanges(
  file: LoadedFile,
  id: string,
  model: OfferedModel,
  target: SetupTarget,
): readonly SettingChange[] {
  const path = modelPath(id)
  const now = parseFile(file).table(path) ?? {}
  const url = textIn(now, ['baseUrl'])
  const { protocol } = model
  const baseUrl = ofProtocol(target.baseUrls, protocol)
  const isOtherGateway = pointsElsewhere(url, baseUrl)
  const isOtherModel = now['model'] !== undefined && now['model'] !== model.id

  const isNamed = textIn(now, ['displayName']) !== undefined
  const name = id === target.providerId ? 'Gateway' : (model.displayName ?? model.id)
  const output = Math.min(
    model.maxOutputTokens ?? defaultOutputTokens,
    model.contextWindow ?? Number.POSITIVE_INFINITY,
  )
  const images = writtenAbility('images', model, target)
  const members: readonly EntryMember[] = [
    { path: ['model'], value: model.id },
    ...(isNamed ? [] : [{ path: ['displayName'], value: name }]),
    { path: ['baseUrl'], value: baseUrl },
    ...bearerChanges(['apiKey'], now['apiKey'], target),
    ...headerChanges(['extraHeaders'], now['extraHeaders'], target, isOtherGateway),
    { path: ['provider'], value: apiOf[protocol] },
    // Each of them would change the protocol.
    ...['authMode', 'bedrock']
      .filter((name) => now[name] !== undefined)
      .map((name) => ({ path: [name], value: undefined })),
    // If it is missing, droid sends no images to a model of the chat protocol (0.215.0, 0.225.2, 2026-11-23).
    {
      path: ['noImageSupport'],
      value: images === undefined ? undefined : !images,
      about: ['images'],
    },
    { path: ['maxContextLimit'], value: model.contextWindow, about: ['contextWindow'] },
    { path: ['maxOutputTokens'], value: output, about: ['maxOutputTokens', 'contextWindow'] },
  ]
  return entryChanges({ path, now, isOtherGateway, isOtherModel }, members, model, target)
}
