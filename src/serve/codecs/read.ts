import type { JsonObject } from './codec.ts'
import type { Part } from './events.ts'

/** Reads members of a body without trusting their types: what does not fit is absent. */

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function asString(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** A positive whole number, or undefined. */
export function asLimit(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 1 ? Math.floor(value) : undefined
}

export function asStrings(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  return asList(value).filter((item) => typeof item === 'string')
}

/** The text of content that is a string or a list of blocks with `text`. */
export function contentText(content: unknown): string {
  if (typeof content === 'string') return content
  return asList(content)
    .map((block) => (isObject(block) ? (asString(block['text']) ?? '') : ''))
    .filter((text) => text !== '')
    .join('\n')
}

/** The parts of content that is a string or a list of blocks: what has no text is a picture or a file. */
export function readContent(content: unknown): readonly Part[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return asList(content)
    .filter(isObject)
    .map((block) => {
      const text = asString(block['text'])
      return text === undefined ? { type: 'media' } : { type: 'text', text }
    })
}

/**
 * Deeper than this no client nests, and writing it again would run out of stack. Go's decoder, which
 * the service uses, stops at 10,000.
 */
const maxJsonDepth = 1000

/** Whether data that was parsed nests so deeply that it must be left alone. */
export function isTooDeep(value: unknown, depth = 0): boolean {
  if (typeof value !== 'object' || value === null) return false
  return depth >= maxJsonDepth || Object.values(value).some((inner) => isTooDeep(inner, depth + 1))
}
