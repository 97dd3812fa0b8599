/** Summarizes how a client handles unusual responses, from the rows of `scripts/try-responses.js`. */

const statuses = [429, 500, 502, 503, 529]

/** Cases whose response has no text, so that the client's output cannot show whether it accepted the response. */
const casesWithoutText = ['no-text', 'empty-text', 'content-null', 'thinking-only']

/** Flaws whose case has another name in one protocol. */
const caseNames = {
  'finish-filter': 'finish-refusal',
  'finish-tools': 'finish-tool',
  'thinking-only': 'content-null',
}

/** @param flaws the names in src/gateway/judge/flaws.ts */
export function acceptedFrom(rows, flaws) {
  const rowOf = (name) => rows.find((row) => row.case === name)
  const isRejected = (name) => {
    const row = rowOf(name) ?? rowOf(caseNames[name])
    return row !== undefined && !isAccepted(row)
  }
  const isRepeated = (name) => rowOf(name)?.answered && (rowOf(name).unstreamed ?? 0) > 0
  const isRetried = (name) => rowOf(name)?.requests > 1
  const retries = statuses.filter((status) => rowOf(`once-${status}`)?.answered)
  const retriesIfTold = statuses.filter(
    (status) => !retries.includes(status) && isRetried(`always-${status}`),
  )
  const repeats = flaws.filter(isRepeated)
  return {
    rejects: flaws.filter((name) => isRejected(name) && !repeats.includes(name)),
    retries,
    ...(retriesIfTold.length > 0 && { retriesIfTold }),
    ...(repeats.length > 0 && { repeats }),
  }
}

/**
 * Whether the client accepted the response. If the response has no text, it did so if it ended by itself with status 0.
 * Otherwise it must have shown the text without a second request that asks for no stream.
 */
function isAccepted({ case: name, answered, unstreamed = 0, status, ended }) {
  if (casesWithoutText.includes(name)) return status === 0 && ended === 'itself'
  return answered && unstreamed === 0
}
