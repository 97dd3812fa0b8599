/** For scripts/write-schemas.js: the limits of a request body that no type says. */

/** What limits a kind of value, as an API description and as our rules name it. */
const keywords = {
  string: { maxLength: 'maxLength', minLength: 'minLength', pattern: 'pattern' },
  array: { maxItems: 'maxEntries', minItems: 'minEntries' },
  object: { maxProperties: 'maxEntries' },
  number: { minimum: 'minimum', maximum: 'maximum' },
  integer: { minimum: 'minimum', maximum: 'maximum' },
}

const number = '(-?[\\d.,]*\\d)'
/** How the comments of the SDKs state limits, and what they limit. `.*` means every entry of a map. */
const wordings = [
  [`(?<!Keys are strings )with a maximum length of ${number}`, '', ['maxLength']],
  [`Set of ${number} key-value pairs`, '', ['maxEntries']],
  [`Keys are strings with a maximum length of ${number}`, '.*', ['maxNameLength']],
  [`Values are strings with a maximum length of ${number}`, '.*', ['maxLength']],
  [
    `(?:[Nn]umber|integer|temperature to use,) between ${number} and ${number}`,
    '',
    ['minimum', 'maximum'],
  ],
  [`Up to ${number} sequences`, '', ['maxEntries']],
  [`bias value from ${number} to ${number}`, '.*', ['minimum', 'maximum']],
  [`limit of ${number} messages`, '', ['maxEntries']],
].map(([wording, within, names]) => [new RegExp(wording), within, names])

/**
 * The limits by their places, out of comments and of an API description; what a comment says is newer.
 * An API description without a root says nothing.
 */
export function limitsOf({ commented, described }) {
  const found = described.root === undefined ? {} : openapiLimits(described)
  for (const [at, limit] of Object.entries(commentLimits(commented)))
    found[at] = { ...found[at], ...limit }
  const places = Object.keys(found).filter((at) => Object.keys(found[at]).length > 0)
  return places.sort().map((at) => ({ paths: at, ...found[at] }))
}

/** Visits a schema and all schemas in it, each with its place; the entries of a list are at its place. */
function visit({ schema, definitions: all, note, at = '', isEntry = false, seen = [] }) {
  const inner = (one, more) => visit({ schema: one, definitions: all, note, at, seen, ...more })
  note(schema, at, isEntry)
  const reference = schema.$ref && decodeURIComponent(schema.$ref.split('/').at(-1))
  if (reference !== undefined && !seen.includes(reference))
    inner(all[reference], { isEntry, seen: [...seen, reference] })
  for (const word of ['allOf', 'anyOf', 'oneOf'])
    for (const one of schema[word] ?? []) inner(one, { isEntry })
  for (const [member, one] of Object.entries(schema.properties ?? {}))
    inner(one, { at: at === '' ? member : `${at}.${member}` })
  if (schema.items) inner(schema.items, { isEntry: true })
  if (typeof schema.additionalProperties === 'object')
    inner(schema.additionalProperties, { at: `${at}.*` })
}

/** Where several values may be at one place, a limit holds only if all of that kind have it. */
function openapiLimits({ root, schemas }) {
  const places = {}
  visit({
    schema: schemas[root],
    definitions: schemas,
    note(schema, at, isEntry) {
      const kind = keywords[schema.type]
      if (kind === undefined || isEntry || schema.enum || schema.const) return
      places[at] ??= {}
      for (const [word, limit] of Object.entries(kind)) {
        places[at][limit] ??= []
        places[at][limit].push(schema[word])
      }
    },
  })

  const loosest = { maxLength: Math.max, maxEntries: Math.max, maximum: Math.max }
  return mapValues(places, (limits) =>
    Object.fromEntries(
      Object.entries(limits)
        .filter(([, values]) => values.every((value) => isLimit(value)))
        .filter(([limit, values]) => limit !== 'pattern' || new Set(values).size === 1)
        .map(([limit, values]) => [
          limit,
          limit === 'pattern' ? values[0] : (loosest[limit] ?? Math.min)(...values),
        ]),
    ),
  )
}

/** JSON cannot write the least and the largest integer of 64 bits. */
function isLimit(value) {
  return typeof value === 'string' || (typeof value === 'number' && Math.abs(value) < 2 ** 53)
}

function mapValues(object, change) {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]))
}

function commentLimits({ root, schemas }) {
  const places = {}
  const add = (at, limit) => {
    places[at] = { ...places[at], ...limit }
  }
  visit({
    schema: schemas[root],
    definitions: schemas,
    note({ description = '' }, at) {
      const text = description.replace(/\s+/g, ' ')
      for (const [wording, within, names] of wordings) {
        const [, ...values] = wording.exec(text) ?? []
        const numbers = values.map((value) => Number(value.replaceAll(',', '')))
        if (within === '' && /key-value pairs/.test(text) && names[0] === 'maxLength') continue
        for (const [index, value] of numbers.entries()) add(at + within, { [names[index]]: value })
      }
      if (text.includes('Must be a-z, A-Z, 0-9, or contain underscores and dashes'))
        add(at, { pattern: '^[a-zA-Z0-9_-]+$' })
    },
  })
  return places
}
