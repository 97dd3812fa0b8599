/** What a client does with unusual responses, from the rows of `scripts/responses.js`. */

const statuses = [429, 500, 502, 503, 529]

/** An empty answer has no words to show. */
const wordless = ['no-text', 'empty-text', 'content-null', 'thinking-only']

/** The same flaw under the name of the case in one protocol. */
const otherNames = { 'finish-filter': 'finish-refusal', 'finish-tools': 'finish-tool' }

/** @param flaws the names in src/gateway/judge/flaws.ts */
export function acceptedFrom(rows, flaws) {
  const rowOf = (name) => rows.find((row) => row.case === name)
  const isRejected = (name) => {
    const row = rowOf(name) ?? rowOf(otherNames[name])
    return row !== undefined && !isAccepted(row)
  }
  const isRepeated = (name) => rowOf(name)?.answered && (rowOf(name).unstreamed ?? 0) > 0
  const isRetried = (name) => rowOf(name)?.requests > 1
  const retries = statuses.filter((status) => rowOf(`once-${status}`)?.answered)
  const retriesIfTold = statuses.filter(
    (status) => !retries.includes(status) && isRetried(`always-${status}`),
  )
  const repeats = ['whole', ...flaws].filter(isRepeated)
  return {
    rejects: flaws.filter((name) => isRejected(name) && !repeats.includes(name)),
    retries,
    ...(retriesIfTold.length > 0 && { retriesIfTold }),
    ...(repeats.length > 0 && { repeats }),
  }
}

/** An answer to the repeated request, which has no stream, says nothing about the stream. */
function isAccepted({ case: name, answered, unstreamed = 0, status, ended }) {
  if (wordless.includes(name)) return status === 0 && ended === 'itself'
  return answered && unstreamed === 0
}
