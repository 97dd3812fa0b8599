/** Makes a file of recorded first requests small, because it is part of the published package. */
import { pruneSchemas } from './schemas.js'

/**
 * The text of a file of recordings. Each tool is written once, as the newest version sends it, and a request
 * only names its tools. A request that equals the one of an earlier version is left out.
 *
 * @param requests of each kind and protocol the oldest version first
 * @param newest the newest version that was run
 */
export function compactRecordings(requests, { date, newest }) {
  const tools = new Map()
  const named = requests.toReversed().map((request) => withNames(request, tools))
  pruneSchemas(
    tools,
    named.map(({ body }) => namesIn(body, tools)),
  )
  const rows = []
  for (const row of named.reverse()) {
    const before = rows.findLast((one) => one.kind === row.kind && one.protocol === row.protocol)
    if (before === undefined || !isSameBut(before, row)) rows.push(row)
  }

  const lines = (values) => values.map((value) => `\n    ${value}`).join(',')
  const toolLines = [...tools].map(([name, tool]) => JSON.stringify({ [name]: tool }).slice(1, -1))
  return `{
  "date": "${date}",
  "newest": "${newest}",
  "tools": {${lines(toolLines)}
  },
  "requests": [${lines(rows.map((row) => JSON.stringify(row)))}
  ]
}
`
}

/** The names of all tools below a value, those in namespaces too. */
function namesIn(value, tools, isTool = false) {
  if (typeof value === 'string' && isTool) return [value, ...namesIn(tools.get(value), tools)]
  if (value === null || typeof value !== 'object') return []
  return Object.entries(value).flatMap(([name, inner]) =>
    namesIn(inner, tools, name === 'tools' || (isTool && Array.isArray(value))),
  )
}

/** Whether an earlier version sends the same, except that it names itself. */
function isSameBut(before, row) {
  return JSON.stringify(before).replaceAll(before.version, row.version) === JSON.stringify(row)
}

/** The same value, with the name of each tool in place of the tool. */
function withNames(value, tools, isTool = false) {
  if (Array.isArray(value)) return value.map((item) => withNames(item, tools, isTool))
  if (value === null || typeof value !== 'object') return value

  const named = Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, withNames(inner, tools, name === 'tools')]),
  )
  if (!isTool) return named
  for (let count = 1; ; count++) {
    const name = count === 1 ? nameOf(named) : `${nameOf(named)} ${count}`
    if (!tools.has(name)) tools.set(name, named)
    if (hasMembersOf(named, tools.get(name))) return name
  }
}

function hasMembersOf(...tools) {
  const [one, other] = tools.map((tool) => Object.keys(tool).sort().join(' '))
  return one === other
}

/** The name of a tool. Tools of the same name differ by their type, and by the protocol. */
function nameOf(tool) {
  const { type = '', name = '' } = tool
  if (tool.function) return `chat ${tool.function.name}`
  return tool.input_schema ? `messages ${name}` : `${type} ${name}`.trim()
}
