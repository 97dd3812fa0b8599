/**
 * Finds the place for a new key in a text.
 *
 * The search goes from the innermost table of the key outwards. For example, `[a.b]` is a header and
 * `x.y = 1` a dotted key in this TOML text:
 *
 *     x.y = 1       x.z is inserted after this line, as a dotted key
 *
 *     [a.b]
 *     c = 1         a.b.d is inserted after this line, because its table has a header
 *
 * A key for which there is no such place gets a new table at the end of the text.
 */
import type {
  Container,
  Content,
  IndexedPath,
  Member,
  ParsedText,
  Setting,
} from './dialects/dialect.ts'
import { memberAt, toIndexedPath } from './find.ts'
import type { SettingPath } from './types.ts'
import { PathMap, pathKey, plainKey } from './values/paths.ts'

/** The place at which new keys are inserted. */
export interface InsertionPoint {
  readonly container: Container
  /** The member before the new keys. Undefined if the container is empty. */
  readonly after: Member | undefined
  /** Inserts before all members of a list. */
  readonly isFirst: boolean
  /**
   * Inserts next to dotted keys with the same prefix, and spells the new keys with dots too. Otherwise
   * keys are appended to the container, and a key with several parts becomes nested braces.
   */
  readonly isNextToSiblings: boolean
}

export interface PlacedSetting {
  readonly point: InsertionPoint
  /** Relative to the container. */
  readonly path: readonly string[]
  readonly content: Content
}

export function isSamePoint(a: InsertionPoint, b: InsertionPoint): boolean {
  return (
    a.container === b.container &&
    a.after === b.after &&
    a.isNextToSiblings === b.isNextToSiblings &&
    a.isFirst === b.isFirst
  )
}

/** @returns undefined if the setting needs a new table */
export function placeSetting(
  parsed: ParsedText,
  { path, content }: Setting,
  index: TextIndex,
): PlacedSetting | undefined {
  const element = path.at(-1)
  if (typeof element === 'object') {
    const list = memberAt(parsed, path.slice(0, -1))!.inside!
    const point = { ...endOf(list, index), isFirst: element.isFirst === true }
    return { point, path: [], content }
  }

  const keys = toIndexedPath(parsed, path)
  for (let length = keys.length - 1; length >= 0; length--) {
    const table = keys.slice(0, length)
    const pathInTable = path.slice(length).map(plainKey)
    const container = index.containerAt(table)

    const isInBraces = container !== undefined && container.kind !== 'lines'
    if (isInBraces) return { point: endOf(container, index), path: pathInTable, content }

    const sibling = index.lastDottedMember(table)
    if (sibling !== undefined) {
      const dottedPath = path.slice(sibling.container.path.length).map(plainKey)
      return { point: nextTo(sibling), path: dottedPath, content }
    }

    const isUnderHeader = container !== undefined && pathInTable.length === 1
    if (isUnderHeader) return { point: endOf(container, index), path: pathInTable, content }
  }

  return undefined
}

function endOf(container: Container, index: TextIndex): InsertionPoint {
  const after = index.lastRemaining(container)
  return { container, after, isFirst: false, isNextToSiblings: false }
}

function nextTo(sibling: Member): InsertionPoint {
  return { container: sibling.container, after: sibling, isFirst: false, isNextToSiblings: true }
}

/** An index of a text, built once for all settings, because a picker may have thousands. */
export class TextIndex {
  readonly #containers = new PathMap<Container>()
  /** For each table with keys that are dotted keys of an outer table: the last such key. */
  readonly #lastDottedMembers = new PathMap<Member>()
  readonly #lastRemaining = new Map<Container, Member | undefined>()
  readonly #removed: ReadonlySet<string>

  /** @param removed the paths that will be removed next; new keys avoid them if possible */
  constructor(parsed: ParsedText, removed: readonly SettingPath[]) {
    this.#removed = new Set(removed.map((path) => pathKey(toIndexedPath(parsed, path))))

    for (const container of parsed.containers()) {
      const { path } = container
      if (this.#containers.get(path) === undefined) this.#containers.set(path, container)

      for (const member of container.members)
        for (let length = container.path.length + 1; length <= member.path.length; length++)
          this.#lastDottedMembers.set(member.path.slice(0, length), member)
    }
  }

  containerAt(path: IndexedPath): Container | undefined {
    return this.#containers.get(path)
  }

  lastDottedMember(table: IndexedPath): Member | undefined {
    return this.#lastDottedMembers.get(table)
  }

  /** The last member of a container that is not removed. If all are removed: the last member. */
  lastRemaining(container: Container): Member | undefined {
    if (!this.#lastRemaining.has(container)) {
      const { members } = container
      const last = members.findLast((member) => !this.#isRemoved(member)) ?? members.at(-1)
      this.#lastRemaining.set(container, last)
    }
    return this.#lastRemaining.get(container)
  }

  #isRemoved({ path }: Member): boolean {
    return path.some((_, index) => this.#removed.has(pathKey(path.slice(0, index + 1))))
  }
}
