import { asList, asString, isObject } from '../codecs/read.ts'

/** The smallest value that fits a JSON schema, as far as its plain parts say. */
export function sampleOf(schema: unknown, depth = 0): unknown {
  if (!isObject(schema) || depth > 16) return {}
  if ('const' in schema) return schema['const']
  const choices = asList(schema['enum'])
  if (choices.length > 0) return choices[0]
  const alternative = asList(schema['anyOf'])[0] ?? asList(schema['oneOf'])[0]
  if (alternative !== undefined) return sampleOf(alternative, depth + 1)
  const type = asString(schema['type']) ?? asString(asList(schema['type'])[0])
  switch (type) {
    case 'string':
      return ''
    case 'integer':
    case 'number':
      return typeof schema['minimum'] === 'number' ? schema['minimum'] : 0
    case 'boolean':
      return false
    case 'null':
      return null
    case 'array':
      return []
    default: {
      const properties = isObject(schema['properties']) ? schema['properties'] : {}
      const required = asList(schema['required']).filter((name) => typeof name === 'string')
      return Object.fromEntries(
        required.map((name) => [name, sampleOf(properties[name], depth + 1)]),
      )
    }
  }
}
