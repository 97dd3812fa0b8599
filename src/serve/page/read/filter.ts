import type { Known } from './threads.ts'

/** Whether a request is to be shown. */
export type Filter = (known: Known) => boolean

/** What stands before a colon, and what is looked at then. */
const fields: Readonly<Record<string, (known: Known) => string>> = {
  status: ({ request }) => String(request.status ?? 'open'),
  model: ({ request }) => `${request.modelAsked ?? ''} ${request.modelServed ?? ''}`,
  client: ({ request }) => request.client,
  protocol: ({ request }) => request.protocol ?? '',
  path: ({ request }) => request.path,
  tool: ({ digest }) => digest?.called.join(' ') ?? '',
}

/**
 * Words that must all be found, in any case; `"several words"`; `-word` must not be; `status:4`,
 * `model:`, `tool:`, `client:`, `protocol:` and `path:` look there only; `is:error` and `is:open`.
 */
export function readFilter(text: string): Filter {
  const words = [...text.toLowerCase().matchAll(/(-?)(?:([a-z]+):)?(?:"([^"]*)"?|(\S+))/g)]
  const tests = words.map(([, not, field, quoted, bare]) => {
    const isFound = testOf(field, quoted ?? bare ?? '')
    return (known: Known) => isFound(known) === (not === '')
  })
  return (known) => tests.every((isMet) => isMet(known))
}

function testOf(field: string | undefined, word: string): Filter {
  if (field === 'is' && word === 'error') return isError
  if (field === 'is' && word === 'open') return ({ request }) => request.state === 'open'
  const read = field === undefined ? undefined : fields[field]
  if (field === 'status') return ({ request }) => String(request.status ?? '').startsWith(word)
  if (read !== undefined) return (known) => read(known).toLowerCase().includes(word)
  const sought = field === undefined ? word : `${field}:${word}`
  return ({ request, digest }) =>
    (digest?.sought ?? `${request.method} ${request.path}`.toLowerCase()).includes(sought)
}

export function isError({ request }: Known): boolean {
  return request.state === 'cut' || (request.status ?? 0) >= 400 || request.reason !== undefined
}
