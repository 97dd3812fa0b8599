import { jsonIn } from '../requests/read.ts'

/** Shortest key that a gateway takes. The log hides no shorter one: it would hide half of a text. */
export const shortestUsableKey = 8

/** Enough of a key to tell two apart, not enough to use one. */
export function maskKey(key: string): string {
  if (key === '') return ''
  if (key.length < 16) return '***'
  return `${key.slice(0, 3)}…${key.slice(-4)}`
}

/**
 * Masks keys in a text: as they are, as JSON holds them, also a JSON text within JSON, as an address
 * does, and within base64 of both alphabets. A text may end within a key, where it was cut: what is
 * there of it goes too.
 */
export function hideKeys(text: string, keys: readonly string[]): string {
  return withoutKeys(text, 0, findKeys(text, keys))
}

/** A key in a text. */
interface FoundKey {
  readonly key: string
  readonly start: number
  readonly end: number
}

/** In their order; none overlaps another. */
function findKeys(text: string, keys: readonly string[]): readonly FoundKey[] {
  const found: FoundKey[] = []
  for (const key of keys) {
    if (key.length < shortestUsableKey) continue
    for (const form of formsOf(key)) {
      for (let at = text.indexOf(form); at !== -1; at = text.indexOf(form, at + form.length))
        found.push({ key, start: at, end: at + form.length })
      const start = startOfCut(text, form)
      if (start !== -1) found.push({ key, start, end: text.length })
    }
  }

  found.sort((a, b) => a.start - b.start || b.end - a.end)
  let end = 0
  return found.flatMap((one) => {
    const start = Math.max(one.start, end)
    end = Math.max(one.end, end)
    return start < one.end ? [{ ...one, start }] : []
  })
}

function formsOf(key: string): ReadonlySet<string> {
  const json = inJson(key)
  // Go's encoder writes these three as HTML would want them.
  const goJson = json.replace(/[<>&]/g, (one) => `\\u00${one.charCodeAt(0).toString(16)}`)
  const inUrl = encodeURIComponent(key)
  const inSmallUrl = inUrl.replace(/%../g, (one) => one.toLowerCase())
  return new Set([key, json, inJson(json), goJson, inUrl, inSmallUrl, ...inBase64(key)])
}

/** What is the same in base64 whatever stands before and behind the key, as in `user:KEY`. */
function inBase64(key: string): readonly string[] {
  return [0, 1, 2].flatMap((before) => {
    const text = Buffer.from(' '.repeat(before) + key).toString('base64')
    const sure = text.slice(
      Math.ceil((before * 8) / 6),
      Math.floor(((before + key.length) * 8) / 6),
    )
    return [sure, sure.replaceAll('+', '-').replaceAll('/', '_')]
  })
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

/** Where a text begins with a key that it does not end; -1: nowhere. */
function startOfCut(text: string, key: string): number {
  const first = Math.max(0, text.length - key.length + 1)
  for (let at = first; at <= text.length - shortestUsableKey; at++)
    if (text[at] === key[0] && key.startsWith(text.slice(at))) return at
  return -1
}

/**
 * @param piece a part of the text in which keys were found
 * @param from where it begins in that text
 */
function withoutKeys(piece: string, from: number, found: readonly FoundKey[]): string {
  let shown = ''
  let at = 0
  for (const { key, start, end } of found) {
    if (end <= from || start >= from + piece.length) continue
    shown += piece.slice(at, Math.max(at, start - from))
    if (start >= from) shown += maskKey(key)
    at = Math.min(piece.length, end - from)
  }
  return shown + piece.slice(at)
}

/** A text in the data of an event: a member of an object. */
interface Piece {
  readonly line: number
  readonly holder: Record<string, unknown>
  readonly member: string
  readonly text: string
}

/**
 * Masks keys in server-sent events, also those that came in pieces: the texts that stand at the same
 * place of one event after the other are looked at as one.
 */
export function hideKeysInEvents(stream: string, keys: readonly string[]): string {
  const lines = stream.split('\n')
  const data = lines.map((line) => (line.startsWith('data:') ? jsonIn(line.slice(5)) : undefined))
  const places = new Map<string, Piece[]>()
  for (const [line, value] of data.entries())
    for (const { place, ...piece } of textsIn(value)) {
      const pieces = places.get(place) ?? []
      places.set(place, pieces)
      pieces.push({ line, ...piece })
    }

  for (const pieces of places.values()) {
    const found = findKeys(pieces.map(({ text }) => text).join(''), keys)
    if (found.length === 0) continue
    let from = 0
    for (const { line, holder, member, text } of pieces) {
      holder[member] = withoutKeys(text, from, found)
      from += text.length
      lines[line] = `data: ${JSON.stringify(data[line])}`
    }
  }
  return hideKeys(lines.join('\n'), keys)
}

/** What tells parts of an answer that are sent by turns. */
const partNames = ['index', 'output_index', 'content_index', 'item_id']

function* textsIn(value: unknown, place = ''): Generator<Omit<Piece, 'line'> & { place: string }> {
  if (typeof value !== 'object' || value === null) return
  const holder = value as Record<string, unknown>
  const part = partNames.map((name) => holder[name] ?? '').join(',')
  for (const [member, inner] of Object.entries(holder)) {
    const innerPlace = `${place}/${part}/${Array.isArray(value) ? '' : member}`
    if (typeof inner === 'string') yield { place: innerPlace, holder, member, text: inner }
    else yield* textsIn(inner, innerPlace)
  }
}
