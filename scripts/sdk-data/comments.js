import { visit } from './walk.js'

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

/** The limits of a request body that its comments state. */
export function limitsOf(schema) {
  const places = {}
  const add = (place, limit) => {
    places[place] = { ...places[place], ...limit }
  }
  visit(schema, ({ fullDescription = '' }, { place }) => {
    const text = fullDescription.replace(/\s+/g, ' ')
    for (const [wording, within, names] of wordings) {
      const [, ...values] = wording.exec(text) ?? []
      const numbers = values.map((value) => Number(value.replaceAll(',', '')))
      if (within === '' && /key-value pairs/.test(text) && names[0] === 'maxLength') continue
      for (const [index, value] of numbers.entries()) add(place + within, { [names[index]]: value })
    }
    if (text.includes('Must be a-z, A-Z, 0-9, or contain underscores and dashes'))
      add(place, { pattern: '^[a-zA-Z0-9_-]+$' })
  })
  return Object.keys(places)
    .sort()
    .map((place) => ({ paths: place, ...places[place] }))
}

/** How the comments state which generations accept a member. */
const generations = [
  [
    /Supported for `(\w+)-([\d.]+)` and later models/,
    (family, from) => ({ models: `${family}<${from}` }),
  ],
  [
    /For `(\w+)-([\d.]+)`,.*and future models, only `(\w+)` is supported/,
    (family, from, value) => ({ models: `${family}>=${from}`, accepted: [value] }),
  ],
  [/not compatible with \[o-series models\]/, () => ({ models: 'o' })],
  [/Not supported with latest reasoning models `o(\d)`/, (from) => ({ models: `o>=${from}` })],
]

/** The members of the body itself that only some generations accept, by its comments. */
export function familiesOf(schema, protocol) {
  const rows = new Map()
  visit(schema, ({ fullDescription = '' }, { place }) => {
    if (place === '' || place.includes('.')) return
    const text = fullDescription.replace(/\s+/g, ' ')
    for (const [wording, rowOf] of generations) {
      const found = wording.exec(text)
      if (found === null) continue
      const row = { ...rowOf(...found.slice(1)), protocols: [protocol], paths: place }
      rows.set(JSON.stringify(row), row)
    }
  })
  return [...rows.values()]
}
