import { createScanner } from 'jsonc-parser'
import { commaToken, type Member, memberAt, tailOf } from './json-find.ts'
import type { JsonText } from './json-parse.ts'
import type { KeyPath } from './plan.ts'
import { applySplices, lineRemoval, lineStart, type Splice } from './text.ts'

export function removeMember(parsed: JsonText, path: KeyPath): string {
  const found = memberAt(parsed, path)
  if (found === undefined) return parsed.text
  return applySplices(parsed.text, memberRemoval(parsed.text, found))
}

export function removeEmptyObject(parsed: JsonText, path: KeyPath): string {
  const found = memberAt(parsed, path)
  if (found?.value.type !== 'object') return parsed.text
  const { offset, length } = found.value
  const inner = parsed.text.slice(offset + 1, offset + length - 1)
  return inner.trim() === '' ? removeMember(parsed, path) : parsed.text
}

function memberRemoval(text: string, { object, node }: Member): Splice[] {
  const members = object.children ?? []
  const position = members.indexOf(node)
  const previous = members[position - 1]
  const next = members[position + 1]
  const start = node.offset
  const end = node.offset + node.length
  const tail = tailOf(text, end)
  const before = text.slice(lineStart(text, start), start)
  const commaBefore = previous && commaBetween(text, previous.offset + previous.length, start)

  if (tail.endsLine && before.trim() === '') {
    const line = lineRemoval(text, start, tail.end)
    const needsComma = next !== undefined || tail.comma !== undefined
    const isOwnComma = tail.comma !== undefined || !next
    if (isOwnComma) return needsComma || !commaBefore ? [line] : [line, commaBefore]
  }
  if (tail.endsLine && commaBefore && /^[ \t]*,[ \t]*$/.test(before)) {
    return [lineRemoval(text, start, tail.end)]
  }
  if (next && /^\s*,\s*$/.test(text.slice(end, next.offset))) {
    return [{ start, end: next.offset, text: '' }]
  }
  if (previous && /^\s*,\s*$/.test(text.slice(previous.offset + previous.length, start))) {
    return [{ start: previous.offset + previous.length, end, text: '' }]
  }
  const own = { start, end, text: '' }
  const commaAfter = commaBetween(text, end, next?.offset ?? object.offset + object.length)
  const comma = commaAfter ?? commaBefore
  return comma ? [own, comma] : [own]
}

/** The comma between two offsets, outside of comments. */
function commaBetween(text: string, from: number, to: number): Splice | undefined {
  const scanner = createScanner(text, true)
  scanner.setPosition(from)
  const isComma = (scanner.scan() as number) === commaToken
  const start = scanner.getTokenOffset()
  return isComma && start < to ? { start, end: start + 1, text: '' } : undefined
}
