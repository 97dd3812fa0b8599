/** A parsed JSON object whose members are not checked yet. */
export type JsonObject = Readonly<Record<string, unknown>>

// Functions that read members of a body. A member of a different type counts as absent: they return
// undefined, or an empty list or object.

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Null counts as absent. */
export function isMissing(value: unknown): boolean {
  return value === undefined || value === null
}

export function asString(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

export function asNumber(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}

export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

export function listObjects(value: unknown): readonly JsonObject[] {
  return asList(value).filter(isObject)
}

export function toObject(value: unknown): JsonObject {
  return isObject(value) ? value : {}
}

/** The text of content that is a string or a list of blocks with `text`. */
export function contentText(content: unknown): string {
  if (typeof content === 'string') return content
  return asList(content)
    .map((block) => (isObject(block) ? (asString(block['text']) ?? '') : ''))
    .filter((text) => text !== '')
    .join('\n')
}

/**
 * The deepest JSON that is read. No client nests deeper, and writing it again would run out of stack. The
 * imitated gateway uses Go's decoder, which stops at 10,000.
 */
const maxJsonDepth = 1000

/** Whether parsed data is nested too deeply to be used. */
function isTooDeep(value: unknown, depth = 0): boolean {
  if (typeof value !== 'object' || value === null) return false
  return depth >= maxJsonDepth || Object.values(value).some((inner) => isTooDeep(inner, depth + 1))
}

/** Parses a JSON text. Undefined: it is not JSON, or nested too deeply. */
export function readJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    // Each level takes two characters.
    const mayBeTooDeep = text.length > 2 * maxJsonDepth
    return mayBeTooDeep && isTooDeep(value) ? undefined : value
  } catch {
    return undefined
  }
}

export function parseJsonObject(text: string): JsonObject | undefined {
  const value = readJson(text)
  return isObject(value) ? value : undefined
}
