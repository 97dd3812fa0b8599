import { compact } from '../../compact.ts'
import type { SettingChange } from '../../edits/types.ts'
import { sideOf } from '../../gateway/base-urls.ts'
import type { LoadedFile } from '../contract/files.ts'
import type { OfferedModel, SetupTarget } from '../contract/setup.ts'
import { pointsElsewhere } from '../files/addresses.ts'
import { parseFile } from '../files/parse-file.ts'
import { type Table, textIn } from '../files/tables.ts'
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
  defaultModelPath,
  defaultOutputTokens,
  entryIdOf,
  entryPath,
  protocolOfEntry,
  providerValueOf,
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
 * The changes to `customModels` and to the default model. A setup writes, for example:
 *
 *     {
 *       "customModels": [
 *         { "id": "custom:gateway", "model": "glm-5", "displayName": "Gateway", "baseUrl": "https://…/v1", … },
 *         { "id": "custom:gateway/glm-4.7", "model": "glm-4.7", "displayName": "GLM 4.7", … }
 *       ],
 *       "sessionDefaultSettings": { "model": "custom:gateway" }
 *     }
 *
 * The entry ID of the model that droid starts with is `custom:PROVIDER`. That of every other model of the gateway
 * is `custom:PROVIDER/MODEL`. For example, a setup chooses `b` at a gateway that has `a` and `b`; before, it chose
 * `a`:
 *
 *     entry               model before    model after
 *     custom:gateway      a               b
 *     custom:gateway/a                    a
 *     custom:gateway/b    b               removed
 */
export function ourChanges(file: LoadedFile, target: SetupTarget): readonly SettingChange[] {
  const { providerId, resolved } = target
  const [first, ...offered] = offeredIn(resolved)
  const { contextWindow: _, ...known } = first
  const startModel: OfferedModel = {
    ...known,
    ...compact({ contextWindow: resolved.contextWindow }),
  }

  const otherEntries = otherModelEntries(file, target)
  // If the gateway has not reported its models, those of an earlier setup stay, with the new key.
  const isListUnknown = offered.length === 0 && !resolved.offersWholeCatalog
  const otherModels = isListUnknown
    ? otherEntries.filter((entry) => !entry.isOtherGateway)
    : offered
  const removed = otherEntries.filter(({ id }) => otherModels.every((model) => model.id !== id))

  return [
    ...removedEntries(file, removed, target),
    ...modelChanges(file, entryIdOf(providerId), startModel, target),
    ...otherModels.flatMap((model) =>
      modelChanges(file, entryIdOf(providerId, model.id), model, target),
    ),
    { path: defaultModelPath, value: entryIdOf(providerId) },
  ]
}

/** The models of the entries `custom:PROVIDER/MODEL` that the file has now. Only repoint writes such IDs. */
function otherModelEntries(
  file: LoadedFile,
  { providerId, resolved, baseUrls }: SetupTarget,
): readonly (OtherEntry & Pick<OfferedModel, 'id' | 'protocol'>)[] {
  const prefix = entryIdOf(providerId, '')
  return readSettings(file).models.flatMap(({ entryId, entry }) => {
    if (!entryId?.startsWith(prefix)) return []
    const id = entryId.slice(prefix.length)
    const protocol = protocolOfEntry(entry) ?? resolved.protocol
    const isOtherGateway = hasOtherAddress(entry, baseUrls[sideOf(protocol)])
    return [{ id, protocol, path: entryPath(entryId), isOtherGateway, isByRepoint: true as const }]
  })
}

/** Whether an entry has the address of another gateway. */
function hasOtherAddress(entry: Table, baseUrl: string): boolean {
  return pointsElsewhere(textIn(entry, ['baseUrl']), baseUrl)
}

function modelChanges(
  file: LoadedFile,
  entryId: string,
  model: OfferedModel,
  target: SetupTarget,
): readonly SettingChange[] {
  const path = entryPath(entryId)
  const now = parseFile(file).table(path) ?? {}
  const { protocol } = model
  const baseUrl = target.baseUrls[sideOf(protocol)]
  const isOtherGateway = hasOtherAddress(now, baseUrl)
  const isOtherModel = now['model'] !== undefined && now['model'] !== model.id

  const isNamed = textIn(now, ['displayName']) !== undefined
  const isStartModel = entryId === entryIdOf(target.providerId)
  const name = isStartModel ? 'Gateway' : (model.displayName ?? model.id)
  const output = Math.min(
    model.outputLimit ?? defaultOutputTokens,
    model.contextWindow ?? Number.POSITIVE_INFINITY,
  )
  const images = writtenAbility('images', model, target)
  const members: readonly EntryMember[] = [
    { path: ['model'], value: model.id },
    ...(isNamed ? [] : [{ path: ['displayName'], value: name }]),
    { path: ['baseUrl'], value: baseUrl },
    ...bearerChanges(['apiKey'], now['apiKey'], target),
    ...headerChanges(['extraHeaders'], now['extraHeaders'], target, isOtherGateway),
    { path: ['provider'], value: providerValueOf[protocol] },
    // Each of them would change the protocol.
    ...['authMode', 'bedrock']
      .filter((member) => now[member] !== undefined)
      .map((member) => ({ path: [member], value: undefined })),
    // If it is missing, droid sends no images to a model of the chat protocol (0.215.0, 0.225.2, 2026-11-23).
    {
      path: ['noImageSupport'],
      value: images === undefined ? undefined : !images,
      about: ['images'],
    },
    { path: ['maxContextLimit'], value: model.contextWindow, about: ['contextWindow'] },
    { path: ['maxOutputTokens'], value: output, about: ['outputLimit', 'contextWindow'] },
  ]
  return entryChanges({ path, now, isOtherGateway, isOtherModel }, members, model, target)
}
