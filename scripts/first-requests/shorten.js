/**
 * Makes a recorded request small and free of this machine: its texts are cut, those in the schemas of its tools
 * left out, and its IDs are zeros.
 */

/** The members of a request that hold a text. A tool's grammar is none: half of one is not valid. */
const textNames = new Set(['text', 'content', 'instructions', 'description', 'title'])

/** The longest text, in characters. "You are Claude Code, Anthropic's official CLI for Claude." fits. */
const maxText = 60
/** The longest description of a tool. */
const maxDescription = 16

/** Headers of the connection, and those that repoint sets itself. */
const leftOut =
  /^(?:host|connection|content-(?:length|type)|accept(?:-.*)?|authorization|x-api-key|user-agent-hash|sec-fetch-mode|transfer-encoding)$/

/** Headers of Grok Build 1.0.41 whose names make the gateway's log mask their values (2026-11-29). */
const masked = {
  'x-xai-token-auth': 'xai-grok-cli',
  'x-authenticateresponse': 'authenticate-response',
}

export function shortenRequest({ query, headers, body }, { prompt, home }) {
  const { model, ...members } = body
  const shorten = shortenerFor(prompt, home, model)
  return {
    ...(query && { query }),
    headers: Object.fromEntries(
      Object.entries(headers)
        .filter(([name]) => !leftOut.test(name))
        .map(([name, value]) => [name, masked[name] ?? shorten(value, name)])
        .sort(),
    ),
    body: shorten(members),
  }
}

function shortenerFor(prompt, home, model) {
  const withoutIds = numberIds()
  return shorten

  function shorten(value, name = '', isInSchema = false) {
    if (typeof value === 'string') return shortenText(value, name)
    if (Array.isArray(value)) return value.map((item) => shorten(item, name, isInSchema))
    if (value === null || typeof value !== 'object') return value
    const members = Object.entries(value)
    // Codex sends these in another order each time.
    if (name === 'client_metadata') members.sort()
    return Object.fromEntries(
      members.flatMap(([member, inner]) => {
        if (isInSchema && textNames.has(member) && typeof inner === 'string') return []
        const isSchema = isInSchema || /^(?:parameters|input_schema|output_schema)$/.test(member)
        return [[member, shorten(inner, member, isSchema)]]
      }),
    )
  }

  function shortenText(text, name) {
    // Codex describes its session and itself there.
    if (name === 'x-codex-turn-metadata') return '{}'
    // Some clients describe the time and the machine around it.
    if (text.includes(prompt)) return prompt
    const anonymous = withoutIds(text.replaceAll(home, '/home/user').replaceAll(model, 'MODEL'))
    if (!textNames.has(name)) return anonymous
    return cut(anonymous, name === 'description' ? maxDescription : maxText)
  }
}

function cut(text, most) {
  return text.length <= most
    ? text
    : text
        .trimStart()
        .slice(0, most)
        .replace(/\s+\S*$/, '')
}

/** Gives each ID of a request a number: IDs that are equal, or differ, still do. */
function numberIds() {
  const numbers = new Map()
  const numberOf = (id) => {
    if (!numbers.has(id)) numbers.set(id, `${numbers.size + 1}`)
    return numbers.get(id)
  }
  return (text) =>
    text
      .replace(
        /(?<![\da-f])[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}(?![\da-f])/gi,
        (id) => `00000000-0000-4000-8000-${numberOf(id).padStart(12, '0')}`,
      )
      .replace(/(?<![\da-f])(?:[\da-f]{64}|[\da-f]{32})(?![\da-f])/g, (id) =>
        numberOf(id).padStart(id.length, '0'),
      )
      // The second ID in the header `traceparent`.
      .replace(/(?<=-)[\da-f]{16}(?=-)/g, (id) => numberOf(id).padStart(16, '0'))
      .replace(/\b(ses_)[\da-z]{20,}/gi, (id, start) => start + numberOf(id))
      // A time, in ms.
      .replace(/\b1[6-9]\d{11}\b/g, '1767225600000')
}
