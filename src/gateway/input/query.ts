import { UserError } from '../../errors.ts'
import { looksLikeKey, maskSecret } from '../../text.ts'
import type { QueryParameter } from '../types.ts'
import { type HeaderChange, isCredentialHeader, looksSecret } from './header.ts'

/** Parameters of advertisements, and parameters that clients add to routes. No gateway needs them. */
const ignoredParameters = /^(?:utm_\w+|aff|ref|beta|limit|after_id|client_version)$/

/** Codex 0.105.0 and 0.169.0 send names and values unescaped (2026-11-23). */
const plainName = /^[\w-]{1,64}$/
const plainValue = /^[\w.~:,/-]{0,200}$/

/** Signatures and function keys, in addition to the names of credential headers. */
const credentialParameter = /^(?:sig|signature|code)$/i

/**
 * Reads the query of an address, which is sent with every request. A parameter without a value removes
 * it, as with headers. No message contains a value.
 *
 * @throws UserError `usage` if a parameter may be a secret, is repeated, or cannot be sent
 */
export function readQuery(url: URL): readonly HeaderChange[] {
  const parameters = [...url.searchParams].filter(([name]) => !ignoredParameters.test(name))
  const names = parameters.map(([name]) => name)

  return parameters.map(([name, value], index) => {
    if (!plainName.test(name) || looksLikeKey(name) || !plainValue.test(value))
      throw invalidQuery('contains characters that clients cannot send')
    if (isCredentialHeader(name) || credentialParameter.test(name) || looksSecret(value))
      throw invalidQuery(`contains ${name}, which may be a key`)
    if (names.indexOf(name) !== index) throw invalidQuery(`names ${name} twice`)
    return value === '' ? { name } : { name, value }
  })
}

function invalidQuery(what: string): UserError {
  return new UserError({
    code: 'usage',
    message: `The query of the address ${what}`,
    hint: 'Use the address without the query, and pass the key with --key-env NAME.',
    hintAtPrompt: 'Type the address without the query. The next question asks for the key.',
  })
}

/** Appends a query to an address. */
export function withQuery(url: string, query: readonly QueryParameter[] = []): string {
  let whole = url
  for (const { name, value } of query) {
    const separator = whole.includes('?') ? '&' : '?'
    whole += `${separator}${name}=${value}`
  }
  return whole
}

/** Formats a query for people: `?api-version=....`. Every value is masked. */
export function formatQuery(query: readonly QueryParameter[]): string {
  const masked = query.map(({ name, value }) => ({ name, value: maskSecret(value) }))
  return withQuery('', masked)
}
