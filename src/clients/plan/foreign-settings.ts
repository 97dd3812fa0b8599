/**
 * What a setup leaves next to its key in a table that it takes over: a provider or an entry with our ID. Clients send
 * such settings with every request, or take the address, the key or the body from them. With opencode 1.18.34, an
 * old `models.ID.headers.authorization` replaced our key and went to the new gateway; with Qwen Code 0.24.4, an old
 * `extra_body` broke every request (2026-11-28).
 */
import type { ConfigValue, FileEdit, SettingChange, SettingPath } from '../../edits/types.ts'
import { includesPath, pathKey, plainKey, showPath, startsWith } from '../../edits/values/paths.ts'
import type { FileFix, Findings } from '../../finding.ts'
import { isSameButVersion } from '../../gateway/base-urls.ts'
import { listWords } from '../../text.ts'
import type { ClientName } from '../contract/client.ts'
import type { SetupTarget } from '../contract/setup.ts'
import { isTable, type Table } from '../files/tables.ts'

/** A table that a setup writes for its gateway, as the file has it now. */
export interface TakenTable {
  readonly path: SettingPath
  readonly now: Table
  /** It is for another gateway so far. */
  readonly isOtherGateway: boolean
  /**
   * The settings that may stay next to the key of any gateway, as paths below the table:
   *
   *     'options.timeout'                     with everything below it
   *     'models.*.limit'                      `*` matches any name, or any part of one
   *     'generationConfig.reasoning: false'   only with this value
   */
  readonly harmless: readonly string[]
}

/** A removed setting is undone together with the address: next to another one, it would be sent there. */
export const foreignSetting = { isForeign: true, isSecret: true, role: 'key' } as const

/**
 * The changes of a plan to a table, and the removal of every other setting in it that is not known to be harmless.
 * At the gateway that the table was for, the user's settings stay, except those that replace its key or address.
 */
export function withoutForeignSettings(
  changes: readonly SettingChange[],
  table: TakenTable,
  target: Pick<SetupTarget, 'baseUrl' | 'baseUrls'>,
): readonly SettingChange[] {
  const below = changes.filter(
    ({ path }) => path.length > table.path.length && startsWith(path, table.path),
  )
  const depth = table.path.length + 1
  const search: Search = {
    table,
    target,
    rules: table.harmless.map((rule) => {
      const [pattern = '', wanted] = rule.split(': ')
      return { pattern: pattern.split('.'), wanted }
    }),
    changed: new Set(below.map(({ path }) => pathKey(path))),
    changedInside: new Set(
      below.flatMap(({ path }) =>
        path.slice(depth).map((_, index) => pathKey(path.slice(0, depth + index))),
      ),
    ),
  }
  const removed = [...foreignIn(table.now, table.path, search)]
  return [...changes, ...removed.map((path) => ({ path, value: undefined, ...foreignSetting }))]
}

/** Whether `withoutForeignSettings` would remove anything. A run needs another ID then: it changes no file. */
export function hasForeignSettings(
  table: Omit<TakenTable, 'path'>,
  target: Pick<SetupTarget, 'baseUrl' | 'baseUrls'>,
): boolean {
  return withoutForeignSettings([], { ...table, path: [] }, target).length > 0
}

/** Reports the settings that a plan removes because they are foreign, unless the fix of a finding removes them too. */
export function* foreignSettingFindings(
  { id }: Pick<ClientName, 'id'>,
  edits: readonly FileEdit[],
  fixes: readonly FileFix[],
): Findings {
  const fixed = fixes.flatMap(({ changes }) => changes.map(({ path }) => path))
  for (const { path: file, changes } of edits) {
    const foreign = changes.filter(({ isForeign, path }) => isForeign && !includesPath(fixed, path))
    if (foreign.length === 0) continue

    const names = listWords(foreign.map(({ path }) => showPath(path)))
    yield {
      code: `${id}-foreign-settings`,
      severity: 'warning',
      message: `${names} may belong to another gateway, and would be used for this one`,
      location: file,
      hint: 'repoint rollback restores them.',
      needsConsentTo: `Remove ${names} from ${file}, because they may belong to another gateway. repoint rollback restores them.`,
    }
  }
}

interface Search {
  readonly table: TakenTable
  readonly target: Pick<SetupTarget, 'baseUrl' | 'baseUrls'>
  /** `harmless`, parsed. */
  readonly rules: readonly {
    readonly pattern: readonly string[]
    readonly wanted?: string
  }[]
  /** The paths that the plan changes below the table, as `pathKey` writes them. A picker may have thousands. */
  readonly changed: ReadonlySet<string>
  /** The paths of the tables around those, without the table itself. */
  readonly changedInside: ReadonlySet<string>
}

function* foreignIn(
  value: ConfigValue,
  path: SettingPath,
  search: Search,
  isBelowOther = false,
): Generator<SettingPath, void> {
  const { table, target } = search
  const isOther = isBelowOther || table.isOtherGateway || hasOtherAddress(value, target)

  for (const [step, inner] of membersOf(value)) {
    const at = [...path, step]
    const key = pathKey(at)
    if (isEmpty(inner) || search.changed.has(key)) continue

    const isParent = search.changedInside.has(key)
    const place = placeIn(search, at, inner)
    if (place === 'harmless') continue
    if ((isParent || place === 'parent') && isContainer(inner))
      yield* foreignIn(inner, at, search, isOther)
    else if (isOther) yield at
    else yield* replacingIn(inner, at, target)
  }
}

/** Whether a setting is harmless, or may contain settings that are. */
function placeIn(
  { table, rules }: Search,
  at: SettingPath,
  value: ConfigValue,
): 'harmless' | 'parent' | 'unknown' {
  const names = at.slice(table.path.length).map(plainKey)
  const fits = rules.filter(({ pattern }) =>
    names.every((name, index) => pattern[index] !== undefined && isLike(pattern[index], name)),
  )
  const isHarmless = fits.some(
    ({ pattern, wanted }) =>
      pattern.length === names.length && (wanted === undefined || wanted === JSON.stringify(value)),
  )
  if (isHarmless) return 'harmless'
  return fits.some(({ pattern }) => pattern.length > names.length) ? 'parent' : 'unknown'
}

function isLike(pattern: string, name: string): boolean {
  const star = pattern.indexOf('*')
  if (star === -1) return name === pattern
  return name.startsWith(pattern.slice(0, star)) && name.endsWith(pattern.slice(star + 1))
}

/** The settings below a path that replace the key or the address of the gateway. */
function* replacingIn(
  value: ConfigValue,
  path: SettingPath,
  target: Search['target'],
): Generator<SettingPath, void> {
  const name = plainKey(path.at(-1)!).toLowerCase().replace(/[-_]/g, '')
  if (replacesKey.test(name) || isOtherUrl(value, target)) yield path
  else if (isContainer(value))
    for (const [step, inner] of membersOf(value)) yield* replacingIn(inner, [...path, step], target)
}

/** The names, without `-` and `_`, under which the clients take a key or a login from such a table. */
const replacesKey =
  /^(?:authorization|x?apikey|apikeyhelper|auth|oauth|(?:access|bearer|auth)token)$/

function hasOtherAddress(value: ConfigValue, target: Search['target']): boolean {
  if (!isTable(value)) return false
  return ['baseUrl', 'baseURL', 'base_url', 'api'].some((name) => isOtherUrl(value[name], target))
}

function isOtherUrl(
  value: ConfigValue | undefined,
  { baseUrl, baseUrls }: Search['target'],
): boolean {
  if (typeof value !== 'string' || !/^https?:\/\//i.test(value)) return false
  const ours = [baseUrl, baseUrls.chat, baseUrls.messages]
  return ours.every((url) => !isSameButVersion(value, url))
}

/** The steps to the values of a table, or to the elements of a list that have an ID. */
function membersOf(value: ConfigValue): readonly (readonly [SettingPath[number], ConfigValue])[] {
  if (!Array.isArray(value)) return isTable(value) ? Object.entries(value) : []
  return (value as readonly ConfigValue[]).flatMap((element) => {
    const id = isTable(element) ? element['id'] : undefined
    return typeof id === 'string' ? [[{ element: { id } }, element] as const] : []
  })
}

function isContainer(value: ConfigValue): boolean {
  return typeof value === 'object' && value !== null
}

function isEmpty(value: ConfigValue): boolean {
  return value === null || (isContainer(value) && Object.keys(value as object).length === 0)
}
