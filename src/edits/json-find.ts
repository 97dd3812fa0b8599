import { createScanner, type Node } from 'jsonc-parser'
import { Conflict, type OldPlace } from './dialect.ts'
import type { JsonText } from './json-parse.ts'
import type { KeyPath } from './plan.ts'
import { showPath } from './values.ts'

/** `"key": value`, with the object that holds it. */
export interface Member {
  readonly object: Node
  readonly node: Node
  readonly value: Node
}

/** @throws Conflict where a key on the way stands twice, or holds no object */
export function memberAt(parsed: JsonText, path: KeyPath): Member | undefined {
  if (parsed.tree === undefined) return undefined
  const { object, rest } = nearestObject(parsed, path)
  return oneMember(object, rest, path)
}

export function memberSource(parsed: JsonText, path: KeyPath): string | undefined {
  const value = memberAt(parsed, path)?.value
  return value && parsed.text.slice(value.offset, value.offset + value.length)
}

export function memberStart(parsed: JsonText, path: KeyPath): number | undefined {
  return memberAt(parsed, path)?.node.offset
}

export function memberPlace(parsed: JsonText, path: KeyPath): OldPlace | undefined {
  const { text } = parsed
  const found = memberAt(parsed, path)
  if (found === undefined) return undefined
  const end = found.node.offset + found.node.length
  const tail = tailOf(text, end)
  const trail = tail.endsLine ? text.slice((tail.comma ?? end - 1) + 1, tail.end) : ''
  const siblings = found.object.children ?? []
  const position = siblings.indexOf(found.node)
  const gap = plainGap(text, siblings[position - 1], found.node)
  const nextGap = plainGap(text, found.node, siblings[position + 1])
  const previous = siblings[position - 1]
  const after = previous && [...path.slice(0, -1), keyOf(previous)]
  const padding = plainPadding(text, found.object)
  return {
    trail,
    ...(after ? { after } : {}),
    ...(gap === undefined ? {} : { gap }),
    ...(nextGap === undefined ? {} : { nextGap }),
    ...(padding ? { padding } : {}),
  }
}

/** What stands inside the braces around the members, if it is but blanks and a trailing comma. */
function plainPadding(text: string, object: Node): OldPlace['padding'] {
  const [first, last] = [object.children?.[0], object.children?.at(-1)]
  if (first === undefined || last === undefined) return undefined
  const before = text.slice(object.offset + 1, first.offset)
  const behind = text.slice(last.offset + last.length, object.offset + object.length - 1)
  return /^[ \t]*,?[ \t]*$/.test(before + behind) ? { before, behind } : undefined
}

/** What stands between two members, if it is but a comma and blanks. */
function plainGap(text: string, first: Node | undefined, second: Node | undefined) {
  const gap = first && second && text.slice(first.offset + first.length, second.offset)
  return gap !== undefined && /^\s*,\s*$/.test(gap) ? gap : undefined
}

function oneMember(object: Node, rest: KeyPath, path: KeyPath): Member | undefined {
  if (rest.length !== 1) return undefined
  const same = (object.children ?? []).filter((child) => keyOf(child) === rest[0])
  const second = same[1]
  if (second) throw new Conflict(`${showPath(path)} is set twice`, second.offset)
  const [node] = same
  const value = node?.children?.[1]
  return node && value && { object, node, value }
}

/** The innermost object on the way to `path`, and the keys that are left from there. */
export function nearestObject(parsed: JsonText, path: KeyPath): { object: Node; rest: KeyPath } {
  let object = parsed.tree as Node
  for (let length = 1; length < path.length; length++) {
    const table = path.slice(0, length)
    const member = oneMember(object, table.slice(-1), table)
    if (member === undefined) return { object, rest: path.slice(length - 1) }
    if (member.value.type !== 'object') {
      const what = member.value.type === 'array' ? 'a list' : article(member.value.type)
      throw new Conflict(`${showPath(table)} is ${what}, not an object`, member.value.offset)
    }
    object = member.value
  }
  return { object, rest: path.slice(-1) }
}

function article(type: string): string {
  return type === 'null' ? 'null' : `a ${type}`
}

function keyOf(member: Node): string {
  return String(member.children?.[0]?.value)
}

// jsonc-parser's SyntaxKind (3.3.1), a const enum that isolated modules cannot read.
export const commaToken = 5
const lineCommentToken = 12
const blockCommentToken = 13
const lineBreakToken = 14
const blankToken = 15
const trailTokens = [lineCommentToken, blockCommentToken, blankToken]

/** The comma and the comments that belong to a member, up to the end of its line. */
export function tailOf(
  text: string,
  offset: number,
): { end: number; comma?: number; endsLine: boolean } {
  const scanner = createScanner(text, false)
  scanner.setPosition(offset)
  let comma: number | undefined
  let end = offset
  for (;;) {
    const kind: number = scanner.scan()
    const start = scanner.getTokenOffset()
    const isComma = kind === commaToken && comma === undefined
    if (isComma) comma = start
    if (!isComma && !trailTokens.includes(kind)) {
      const endsLine = kind === lineBreakToken
      return { end: endsLine ? start : end, endsLine, ...(comma === undefined ? {} : { comma }) }
    }
    if (kind !== blankToken) end = start + scanner.getTokenLength()
  }
}
