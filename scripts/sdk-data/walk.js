/**
 * Visits a schema and all schemas in it, each with its place: the names of the members, with dots between them.
 * The entries of a list are at its place, and those of a map at `*`.
 */
export function visit({ root, definitions }, note) {
  visitSchema({ $ref: `#/definitions/${root}` }, { place: '', isEntry: false, seen: [] })

  function visitSchema(schema, at) {
    const { place, seen } = at
    note(schema, at)
    const reference = schema.$ref && decodeURIComponent(schema.$ref.split('/').at(-1))
    if (reference !== undefined && !seen.includes(reference))
      visitSchema(definitions[reference], { ...at, seen: [...seen, reference] })
    for (const word of ['allOf', 'anyOf', 'oneOf'])
      for (const one of schema[word] ?? []) visitSchema(one, at)
    for (const [member, one] of Object.entries(schema.properties ?? {}))
      visitSchema(one, {
        place: place === '' ? member : `${place}.${member}`,
        isEntry: false,
        seen,
      })
    if (schema.items) visitSchema(schema.items, { ...at, isEntry: true })
    if (typeof schema.additionalProperties === 'object')
      visitSchema(schema.additionalProperties, { ...at, place: `${place}.*` })
  }
}

/** The texts of a type that is one of several texts. */
export function textsOf({ root, definitions }) {
  const texts = new Set()
  visit({ root, definitions }, (schema) => {
    for (const text of schema.enum ?? ('const' in schema ? [schema.const] : [])) texts.add(text)
  })
  return [...texts]
}
