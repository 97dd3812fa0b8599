import type { Node } from 'jsonc-parser'
import type { Content, OldPlace } from './dialect.ts'
import { memberAt, nearestObject, tailOf } from './json-find.ts'
import type { JsonText } from './json-parse.ts'
import { type JsonLayout, nestJson, renderJson, renderMember } from './json-render.ts'
import type { KeyPath } from './plan.ts'
import { applySplices, eolAt, indentAt, lineStart, type Splice } from './text.ts'

export function setMember(
  parsed: JsonText,
  path: KeyPath,
  content: Content,
  old?: OldPlace,
): string {
  const { text, tree } = parsed
  if (tree === undefined) return newRoot(parsed, path, content)
  const found = memberAt(parsed, path)
  if (found) {
    const layout = memberLayout(parsed, found.object, found.node)
    const { offset, length } = found.value
    const splice = { start: offset, end: offset + length, text: render(content, layout) }
    return applySplices(text, [splice])
  }
  const { object, rest } = nearestObject(parsed, path)
  const [first] = object.children ?? []
  if (old !== undefined && old.after === undefined && first && rest.length === 1) {
    return applySplices(text, [insertBefore(parsed, object, first, rest, content, old)])
  }
  const neighbour = old?.after && rest.length === 1 ? memberAt(parsed, old.after) : undefined
  const isNear = neighbour?.object === object
  const sibling = isNear ? neighbour.node : (object.children ?? []).at(-1)
  return applySplices(
    text,
    sibling
      ? insertAfter(parsed, object, sibling, rest, content, {
          gap: isNear ? old?.gap : undefined,
          trail: old?.trail ?? '',
        })
      : [insertFirst(parsed, object, rest, content, old)],
  )
}

function render(content: Content, layout: JsonLayout): string {
  return 'source' in content
    ? content.source.replace(/\r?\n/g, layout.eol)
    : renderJson(content.value, layout)
}

function memberText(rest: KeyPath, content: Content, layout: JsonLayout): string {
  const value = nestJson(rest.slice(1), layout, (inner) => render(content, inner))
  return renderMember(rest[0] ?? '', value, layout)
}

function newRoot({ text }: JsonText, path: KeyPath, content: Content): string {
  const eol = eolAt(text, text.length)
  const layout = { isMultiLine: true, eol, unit: '  ', indent: '', colon: ': ' }
  const root = nestJson(path, layout, (inner) => render(content, inner))
  if (text === '') return root + eol
  return text.endsWith('\n') ? text + root + eol : text + eol + root
}

/** Behind `sibling`, in the way in which this object separates its members. */
function insertAfter(
  { text, tree }: JsonText,
  object: Node,
  sibling: Node,
  rest: KeyPath,
  content: Content,
  old: { readonly gap: string | undefined; readonly trail: string },
): Splice[] {
  const end = sibling.offset + sibling.length
  const tail = tailOf(text, end)
  const layout = { ...memberLayout({ text, tree }, object, sibling), eol: eolAt(text, tail.end) }
  const member = memberText(rest, content, layout)
  const hasComment = tail.end > (tail.comma === undefined ? end : tail.comma + 1)
  if (old.gap !== undefined && !layout.isMultiLine && !hasComment) {
    return [{ start: end, end, text: old.gap.replace(/\r?\n/g, layout.eol) + member }]
  }
  const separator = separatorBefore(text, object, sibling)
  if (separator.isCommaFirst && tail.comma === undefined) {
    const at = tail.end
    return [{ start: at, end: at, text: layout.eol + separator.text + member }]
  }
  // Behind a line comment only a new line will do.
  const isOnNewLine = layout.isMultiLine || (hasComment && tail.endsLine)
  const indent = layout.isMultiLine ? layout.indent : layout.indent + layout.unit
  const gap = isOnNewLine ? layout.eol + indent : separator.text
  const trail = layout.isMultiLine && tail.endsLine ? old.trail : ''
  const behind = { start: tail.end, end: tail.end }
  if (tail.comma !== undefined) return [{ ...behind, text: `${gap}${member},${trail}` }]
  if (tail.end === end) return [{ ...behind, text: `,${gap}${member}${trail}` }]
  return [
    { start: end, end, text: ',' },
    { ...behind, text: gap + member + trail },
  ]
}

/** In front of the first member, where a key that comes back was the first. */
function insertBefore(
  { text, tree }: JsonText,
  object: Node,
  first: Node,
  rest: KeyPath,
  content: Content,
  old: OldPlace,
): Splice {
  const layout = memberLayout({ text, tree }, object, first)
  const member = memberText(rest, content, layout)
  const start = first.offset
  if (!layout.isMultiLine) {
    const gap = old.nextGap?.replace(/\r?\n/g, layout.eol) ?? ', '
    return { start, end: start, text: member + gap }
  }
  return { start, end: start, text: `${member},${old.trail}${layout.eol}${layout.indent}` }
}

/** Into an object that has no members, only blanks or comments. */
function insertFirst(
  parsed: JsonText,
  object: Node,
  rest: KeyPath,
  content: Content,
  old?: OldPlace,
): Splice {
  const { text } = parsed
  const open = object.offset + 1
  const close = object.offset + object.length - 1
  const inner = text.slice(open, close)
  const holder = object.parent
  const outer = holder?.parent
    ? memberLayout(parsed, holder.parent, holder)
    : { isMultiLine: true, eol: eolAt(text, close), unit: '  ', indent: '', colon: ': ' }
  const isMultiLine = outer.isMultiLine || /[\r\n]/.test(inner)
  const closing = holder ? outer.indent : indentAt(text, object.offset)
  const blanks = /(\r\n|\r|\n)[ \t]*$/.exec(inner)
  const eol = blanks?.[1] ?? outer.eol
  const layout = { ...outer, isMultiLine, eol, indent: closing + outer.unit }
  const member = memberText(rest, content, layout)
  if (!isMultiLine) {
    const blank = inner === '' && !outer.colon.endsWith(' ') ? '' : ' '
    const oldPadding = rest.length === 1 ? old?.padding : undefined
    const padding = oldPadding ?? { before: blank, behind: blank }
    const at = open + inner.trimEnd().length
    return inner.trim() === ''
      ? { start: open, end: close, text: padding.before + member + padding.behind }
      : { start: at, end: at, text: ` ${member}` }
  }
  if (inner.trim() === '') {
    const lines = layout.eol + layout.indent + member + layout.eol + closing
    return { start: open, end: close, text: lines }
  }
  const at = blanks ? open + blanks.index : open + inner.trimEnd().length
  const gap = layout.eol + layout.indent
  return {
    start: at,
    end: at,
    text: blanks ? gap + member : gap + member + layout.eol + closing,
  }
}

/** The layout of `sibling`'s object, as its lines show it. */
function memberLayout(
  { text, tree }: { text: string; tree: Node | undefined },
  object: Node,
  sibling: Node,
): JsonLayout {
  const members = object.children ?? []
  const position = members.indexOf(sibling)
  const previous = members[position - 1]
  const from = previous ? previous.offset + previous.length : object.offset + 1
  const isMultiLine = /[\r\n]/.test(text.slice(from, sibling.offset))
  const [key, value] = sibling.children ?? []
  const colon = key && value ? text.slice(key.offset + key.length, value.offset) : ': '
  return {
    isMultiLine,
    eol: eolAt(text, sibling.offset),
    unit: indentUnit(text, tree),
    indent: indentAt(text, sibling.offset),
    colon: /^[ \t]*:[ \t]*$/.test(colon) ? colon : ': ',
  }
}

function indentUnit(text: string, tree: Node | undefined): string {
  for (const member of tree?.children ?? []) {
    const indent = text.slice(lineStart(text, member.offset), member.offset)
    if (/^[ \t]+$/.test(indent)) return indent
  }
  return '  '
}

/** What stands before a member: `, ` on one line, or comma and blanks at the start of a line. */
function separatorBefore(
  text: string,
  object: Node,
  sibling: Node,
): { isCommaFirst: boolean; text: string } {
  const members = object.children ?? []
  const position = Math.max(1, members.indexOf(sibling))
  const [previous, next] = [members[position - 1], members[position]]
  if (previous && next) {
    const gap = text.slice(previous.offset + previous.length, next.offset)
    const own = text.slice(lineStart(text, next.offset), next.offset)
    if (/^[ \t]*,[ \t]*$/.test(own) && /[\r\n]/.test(gap)) return { isCommaFirst: true, text: own }
    if (/^,[ \t]*$/.test(gap)) return { isCommaFirst: false, text: gap.slice(1) }
  }
  const open = text.slice(object.offset + 1, sibling.offset)
  return { isCommaFirst: false, text: open === '' && !text.includes('": ') ? '' : ' ' }
}
