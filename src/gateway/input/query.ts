import { UserError } from '../../errors.ts'
import { looksLikeKey, maskSecret } from '../../text.ts'
import type { QueryParameter } from '../types.ts'
import { type AskedHeader, isCredentialHeader, looksSecret } from './header.ts'

/** Of advertisements, and what clients put behind routes by themselves: no gateway goes by it. */
const ofNoGateway = /^(?:utm_\w+|aff|ref|beta|limit|after_id|client_version)$/

/** Codex 0.105.0 and 0.169.0 send both as they stand, unescaped (2026-11-23). */
const plainName = /^[\w-]{1,64}$/
const plainValue = /^[\w.~:,/-]{0,200}$/

/** Signatures and the keys of functions, beside what names a credential in a header. */
const credential = /^(?:sig|signature|code)$/i

/**
 * What the query of an address says that goes with every request. One without a value is taken out, as a
 * header is. No message holds a value.
 *
 * @throws UserError `usage` for what may be a secret, stands there twice, or cannot be sent
 */
export function readQuery(url: URL): readonly AskedHeader[] {
  const all = [...url.searchParams].filter(([name]) => !ofNoGateway.test(name))

  return all.map(([name, value], index) => {
    if (!plainName.test(name) || looksLikeKey(name) || !plainValue.test(value))
      throw refused('holds what no client can send as it stands')
    if (isCredentialHeader(name) || credential.test(name) || looksSecret(value))
      throw refused(`holds ${name}, which may be a key`)
    if (all.findIndex((one) => one[0] === name) !== index) throw refused(`names ${name} twice`)
    return value === '' ? { name } : { name, value }
  })
}

function refused(what: string): UserError {
  return new UserError({
    code: 'usage',
    message: `The query of the address ${what}`,
    hint: 'Give the address without it, and a key apart: --key-stdin, --key-file or --key-env.',
    hintAtPrompt: 'Type the address without it; the key is asked for apart.',
  })
}

/** An address with a query behind it, or behind that which it has. */
export function withQuery(url: string, query: readonly QueryParameter[] = []): string {
  return query.reduce(
    (whole, { name, value }) => `${whole}${whole.includes('?') ? '&' : '?'}${name}=${value}`,
    url,
  )
}

/** For people: `?api-version=....`, since every value in a query is masked. */
export function shownQuery(query: readonly QueryParameter[]): string {
  const masked = query.map(({ name, value }) => ({ name, value: maskSecret(value) }))
  return withQuery('', masked)
}
