/**
 * The models of a provider as tables of their own:
 *
 *     [providers.gateway]
 *     base_url = "https://…/v1"
 *
 *     [models."gateway/glm-5"]
 *     provider = "gateway"
 *     model = "glm-5"
 */
import type { SettingChange } from '../../edits/types.ts'
import type { LoadedFile } from '../contract/files.ts'
import type { OfferedModel, SetupTarget } from '../contract/setup.ts'
import { pointsElsewhere } from '../files/addresses.ts'
import type { ParsedFile } from '../files/parse-file.ts'
import { isTable, type Table, textIn } from '../files/tables.ts'
import { offeredIn } from '../models/picker.ts'
import { type EntryMember, listChanges } from './entries.ts'
import { withoutForeignSettings } from './foreign-settings.ts'

export interface ModelTable {
  readonly name: string
  readonly table: Table
  /** Undefined: it names none. */
  readonly providerId: string | undefined
  /** What the client requests. */
  readonly id: string
}

/** The names of the tables and of a member: `models` and `provider`. */
interface ModelTableNames {
  readonly tables: string
  readonly provider: string
}

export function modelTablesIn(
  file: ParsedFile,
  { tables, provider }: ModelTableNames,
): readonly ModelTable[] {
  return file.members([tables]).flatMap(([name, table]): readonly ModelTable[] => {
    if (!isTable(table)) return []
    const id = textIn(table, ['model']) ?? name
    return [{ name, table, providerId: textIn(table, [provider]), id }]
  })
}

/** The table whose settings a request for `model` has. Another provider may have the same model. */
export function tableFor(
  model: string,
  { models, chosen }: { readonly models: readonly ModelTable[]; readonly chosen?: ModelTable },
): Table | undefined {
  const ofProvider = models.filter(({ providerId }) => providerId === chosen?.providerId)
  return [chosen, ...ofProvider].find((one) => one?.id === model)?.table
}

/** How a setup writes the models of its provider. */
interface ModelTables {
  readonly names: ModelTableNames
  readonly all: readonly ModelTable[]
  /** The provider is for another gateway so far. */
  readonly isOtherGateway: boolean
  /** Of `TakenTable`, for a model. */
  readonly harmless: readonly string[]
  readonly membersOf: (model: OfferedModel) => readonly EntryMember[]
}

/** The changes to the models of a provider, and the name of the table that the client starts with. */
export function modelTableChanges(
  file: LoadedFile,
  { names: { tables }, all, isOtherGateway, harmless, membersOf }: ModelTables,
  target: SetupTarget,
): { readonly changes: readonly SettingChange[]; readonly chosenName: string } {
  const { providerId, resolved, baseUrls } = target
  const ours = all.filter((model) => model.providerId === providerId)
  const nameOf = (id: string) =>
    ours.find((model) => model.id === id)?.name ?? `${providerId}/${id}`
  const list = {
    pathOf: (id: string) => [tables, nameOf(id)],
    now: new Map(ours.map(({ id, table }) => [id, table])),
    isOtherGateway,
    hasOtherAddress: (table: Table) =>
      Object.values(baseUrls).every((url) => pointsElsewhere(textIn(table, ['base_url']), url)),
    membersOf,
  }

  const offered = new Set(offeredIn(resolved).map(({ id }) => id))
  const changes = ours
    .filter(({ id }) => offered.has(id))
    .reduce<readonly SettingChange[]>(
      (planned, { name, table }) => {
        const taken = { path: [tables, name], now: table, isOtherGateway, harmless }
        return withoutForeignSettings(planned, taken, target)
      },
      listChanges(file, list, target),
    )
  return { changes, chosenName: nameOf(resolved.model) }
}
