/** Reads the limits that SDKs write into the descriptions of a schema. */
import { type JsonObject, readJson } from '../requests/json.ts'
import formats from './formats.json' with { type: 'json' }

/**
 * Adds the limits in descriptions to the schema. SDKs write limits that the vendor of messages rejects
 * into the description, for the model to read: "min length: 3; max length: 5." (@ai-sdk/anthropic
 * 4.0.105), `{minLength: 3}` (@anthropic-ai/sdk 1.12.0) or "minimum length 3, greater than 2"
 * (@mastra/core 1.71.0, 2026-11-23).
 */
export function addDescribedLimits(schema: unknown): unknown {
  if (typeof schema !== 'object' || schema === null) return schema
  for (const inner of Object.values(schema)) addDescribedLimits(inner)
  const { description } = schema as JsonObject
  if (typeof description === 'string' && 'type' in schema)
    Object.assign(schema, { ...parseLimits(description.split('\n').at(-1)!), ...schema })
  return schema
}

const keywordPattern =
  /(?:^|; |, |\{)(minimum|maximum|exclusive ?minimum|exclusive ?maximum|multiple ?of|min ?length|max ?length|pattern|min ?items|max ?items|unique ?items|min ?properties|max ?properties|format): /gi

/** Phrases for limits, with their schema keywords. A length applies to texts and to lists. */
const limitPhrases: readonly (readonly [pattern: RegExp, ...keywords: string[]])[] = [
  [/minimum length (\d+)/, 'minLength', 'minItems'],
  [/maximum length (\d+)/, 'maxLength', 'maxItems'],
  [/exact length (\d+)/, 'minLength', 'maxLength', 'minItems', 'maxItems'],
  [/greater than (-?[\d.]+)/, 'exclusiveMinimum'],
  [/lower than (-?[\d.]+)/, 'exclusiveMaximum'],
  [/greater than or equal to (-?[\d.]+)/, 'minimum'],
  [/lower than or equal to (-?[\d.]+)/, 'maximum'],
  [/multiple of ([\d.]+)/, 'multipleOf'],
  [/input must match this regex (.+)$/, 'pattern'],
]

function parseLimitPhrases(line: string): readonly (readonly [string, unknown])[] {
  const format = /a valid ([a-z-]+)/.exec(line)?.[1] ?? ''
  const limits = limitPhrases.flatMap(([pattern, ...keywords]) => {
    const limit = pattern.exec(line)?.[1]
    if (limit === undefined) return []
    const value = keywords[0] === 'pattern' ? limit : Number(limit)
    return keywords.map((keyword) => [keyword, value] as const)
  })
  return Object.hasOwn(formats, format) ? [...limits, ['format', format]] : limits
}

function parseLimits(line: string): JsonObject {
  const matches = [...line.matchAll(keywordPattern)]
  if (matches.length === 0) return Object.fromEntries(parseLimitPhrases(line))

  return Object.fromEntries(
    matches.map((match, index) => {
      const keyword = match[1]!.replace(/ (.)/g, (_, letter: string) => letter.toUpperCase())
      const end = matches[index + 1]?.index ?? line.length - 1
      const valueText = line.slice(match.index + match[0].length, end)
      const value = readJson(valueText)
      return [keyword, value === undefined ? valueText : value]
    }),
  )
}
