/** Derives the formatting of new members from the members next to them. */
import type { Member, MemberLayout, ParsedText } from './dialects/dialect.ts'
import { eolAt, indentAt, lineStart } from './text.ts'

/** The layout of a member on one line, where the text gives no example. */
export const oneLine: MemberLayout = {
  isMultiLine: false,
  eol: '\n',
  unit: '  ',
  indent: '',
  colon: ': ',
  isUnquoted: false,
}

/** The layout of a member's container, derived from its text. */
export function layoutOf({ text, containers }: ParsedText, member: Member): MemberLayout {
  const { container, start } = member
  const previous = container.members[container.members.indexOf(member) - 1]
  const gap = text.slice(previous?.end ?? container.start + 1, start)

  // An element has no colon, but its members may have one.
  const sample = container.kind === 'list' ? (member.inside?.members[0] ?? member) : member
  const key = text.slice(sample.start, sample.valueStart)

  return {
    isMultiLine: /[\r\n]/.test(gap),
    eol: eolAt(text, start),
    unit: indentUnit(text, containers()[0]!.members),
    indent: indentAt(text, start),
    colon: /[ \t]*:[ \t]*$/.exec(key)?.[0] ?? ': ',
    isUnquoted: /^[^"']/.test(key),
  }
}

/** The indentation of the first member that is indented. Two spaces if there is none. */
function indentUnit(text: string, members: readonly Member[]): string {
  const indents = members.map(({ start }) => text.slice(lineStart(text, start), start))
  return indents.find((indent) => /^[ \t]+$/.test(indent)) ?? '  '
}

interface Separator {
  /** The comma is at the start of the next line, and not at the end of the previous one. */
  readonly isCommaFirst: boolean
  /** With `isCommaFirst`, the indentation, the comma and the blanks. Otherwise the blanks after the comma. */
  readonly text: string
}

export function separatorBefore(text: string, member: Member): Separator {
  const { kind, members, owner, start } = member.container
  const position = Math.max(1, members.indexOf(member))
  const previous = members[position - 1]
  const next = members[position]

  if (previous && next) {
    const gap = text.slice(previous.end, next.start)
    const beforeNext = text.slice(lineStart(text, next.start), next.start)
    const isCommaFirst = /^[ \t]*,[ \t]*$/.test(beforeNext) && /[\r\n]/.test(gap)
    if (isCommaFirst) return { isCommaFirst, text: beforeNext }
    if (/^,[ \t]*$/.test(gap)) return { isCommaFirst: false, text: gap.slice(1) }
  }

  // No example: a blank before the only member, or before a value, means blanks after commas too.
  const keyed = kind === 'list' && owner !== undefined ? owner : member
  const isBlankBeforeValue = /[ \t]$/.test(text.slice(keyed.start, keyed.valueStart))
  const hasBlank = member.start > start + 1 || isBlankBeforeValue
  return { isCommaFirst: false, text: hasBlank ? ' ' : '' }
}
