/**
 * Makes the schemas of tools small. A gateway that rejects a schema rejects a keyword in it, so that each request
 * keeps one property for each keyword and kind of value, and the others go.
 *
 * @param tools by their names, and changed in place
 * @param requests the names of each request's tools
 */
export function pruneSchemas(tools, requests) {
  const kept = new Map([...tools.keys()].map((name) => [name, new Set()]))
  for (const names of requests) {
    const seen = new Set()
    const list = names.flatMap((name) =>
      Object.entries(schemaOf(tools.get(name))?.properties ?? {}).map(([property, value]) => ({
        constructs: constructsIn(value),
        isKept: kept.get(name).has(property),
        keep: () => kept.get(name).add(property),
      })),
    )
    for (const { constructs, isKept } of list)
      if (isKept) for (const construct of constructs) seen.add(construct)
    for (const { constructs, keep } of list) {
      if (constructs.every((construct) => seen.has(construct))) continue
      keep()
      for (const construct of constructs) seen.add(construct)
    }
  }
  for (const [name, tool] of tools) prune(schemaOf(tool), kept.get(name))
}

function schemaOf({ function: called, parameters, input_schema: schema }) {
  return called?.parameters ?? parameters ?? schema
}

function prune(schema, kept) {
  if (schema?.properties === undefined) return
  const isKept = ([name]) => kept.has(name)
  schema.properties = Object.fromEntries(Object.entries(schema.properties).filter(isKept))
  if (schema.required) schema.required = schema.required.filter((name) => kept.has(name))
}

/** The keywords of a schema, each with its kind of value: `additionalProperties false`. */
function constructsIn(schema) {
  if (Array.isArray(schema)) return schema.flatMap(constructsIn)
  if (schema === null || typeof schema !== 'object') return []
  return Object.entries(schema).flatMap(([keyword, value]) => {
    if (keyword === 'properties') return Object.values(value).flatMap(constructsIn)
    const isExact = ['type', 'format', '$schema', '$ref'].includes(keyword)
    const kind = isExact || typeof value === 'boolean' ? JSON.stringify(value) : typeof value
    return [`${keyword} ${kind}`, ...constructsIn(value)]
  })
}
