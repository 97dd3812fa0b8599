import { UserError } from '../../errors.ts'
import { looksLikeKey, maskSecret, maskSecretsIn } from '../../text.ts'
import { type ExtraHeader, keyHeaders, type QueryParameter } from '../types.ts'

/** A header that is to be sent from now on, or no longer: then it has no value. */
export type AskedHeader = ExtraHeader | { readonly name: string; readonly value?: undefined }

/** Where values come from that do not belong on a command line. */
export interface HeaderSources {
  /** Undefined: not set. */
  readonly variable: (name: string) => string | undefined
  /** @throws UserError where the file cannot be read */
  readonly file: (path: string) => string
}

const variable = /\$(?:\{(\w+)\}|(\w+))/

const longestName = 100
const longestValue = 4_096

/** A token of RFC 9110, 5.6.2. */
const token = /^[!#$%&'*+.^_`|~\w-]+$/

/** What HTTP, the clients or repoint itself send. */
const taken =
  /^(?:accept|accept-(?:charset|encoding|language)|anthropic-.*|connection|content-.*|expect|host|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|user-agent)$/

/** Names of headers by which somebody proves who they are. */
const credential =
  /(?:^|[-_.])(?:apikey|auth|authorization|authentication|cookies?|credentials?|jwt|keys?|tokens?)$|secret|passw/

/** Whether a header is called like one that proves who sends it. */
export function isCredentialHeader(name: string): boolean {
  return credential.test(name.toLowerCase())
}

/**
 * What one `--header` says: `name: value`, where the value is text with variables of the environment
 * in it (`$NAME`, `${NAME}`), the line in a file (`@path`), plain text that is no secret, or nothing,
 * which takes the header out. No message holds a value.
 *
 * @throws UserError `usage`; `key-missing` for a variable that is not set
 */
export function readHeader(text: string, sources: HeaderSources): AskedHeader {
  const colon = text.indexOf(':')
  const name = text.slice(0, colon).trim().toLowerCase()
  const given = text.slice(colon + 1).trim()
  if (colon === -1 || !token.test(name) || name.length > longestName || looksLikeKey(name))
    throw refused("--header takes 'name: value', and this is none", howToGive('x-example'))
  refuseTaken(name)
  if (given === '') return { name }

  const isSecret = given.startsWith('@') || variable.test(given)
  if (!isSecret && (isCredentialHeader(name) || looksSecret(given)))
    throw refused(
      `The value of the header ${name} may be a secret, and stands on the command line: other users see it in the process list, and it stays in the shell history`,
      howToGive(name),
    )
  const value = fill(name, given, sources).trim()
  refuseValue(name, value)
  return { name, value, ...(isSecret ? { isSecret } : {}) }
}

/** @throws UserError `usage` */
function refuseTaken(name: string): void {
  if (name === 'authorization' || keyHeaders.some((one) => one === name))
    throw refused(
      `${name} holds the key, which has flags of its own`,
      'Give the key with --key-env NAME, --key-file PATH or --key-stdin. A gateway that refuses it as `authorization: Bearer` is asked with x-api-key and api-key by itself.',
    )
  if (taken.test(name))
    throw refused(`${name} is set by every client itself, and cannot be given`, 'Leave it out.')
}

function fill(name: string, given: string, sources: HeaderSources): string {
  if (given.startsWith('@')) return sources.file(given.slice(1).trim())
  return given.replaceAll(new RegExp(variable, 'g'), (_, braced?: string, bare?: string) => {
    const named = braced ?? bare ?? ''
    const value = sources.variable(named)
    if (value) return value
    throw new UserError({
      code: 'key-missing',
      message: `The environment variable ${named}, for the header ${name}, is ${value === '' ? 'empty' : 'not set'}`,
      hint: 'Set it, then run the command again.',
    })
  })
}

/** Whether plain text could be a secret, be it in a part. */
export function looksSecret(text: string): boolean {
  return maskSecretsIn(text) !== text || text.split(/[\s,;=:"'{}]+/).some(looksLikeKey)
}

/** @throws UserError `usage` */
function refuseValue(name: string, value: string): void {
  const copyAgain = 'Look at what the variable or the file holds; it must be one line.'
  if (value === '') throw refused(`The value of the header ${name} is empty`, copyAgain)
  if (/[\r\n]/.test(value))
    throw refused(`The value of the header ${name} has more than one line`, copyAgain)
  if (!/^[ -~]+$/.test(value) || value.length > longestValue)
    throw refused(
      `The value of the header ${name} ${value.length > longestValue ? `is longer than ${longestValue} characters` : 'holds characters outside of ASCII, or control characters'}`,
      copyAgain,
    )
}

function refused(message: string, hint: string): UserError {
  return new UserError({ code: 'usage', message, hint })
}

function howToGive(name: string): string {
  return `In single quotes: --header '${name}: $VARIABLE', or from a file: --header '${name}: @path'.`
}

/**
 * What is sent from now on: what is asked for now, over what was sent before.
 *
 * @throws UserError `usage` for a header that is asked for twice
 */
export function withAsked(
  before: readonly ExtraHeader[],
  asked: readonly AskedHeader[],
): readonly ExtraHeader[] {
  const names = asked.map(({ name }) => name)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw refused(`The header ${twice} is given twice`, 'Keep one of them.')
  return [
    ...before.filter(({ name }) => !names.includes(name)),
    ...asked.filter((header) => header.value !== undefined),
  ]
}

/** A header of which it is not known where its value comes from: secret, where it looks so. */
export function judgedHeader(name: string, value: string): ExtraHeader {
  const isSecret = isCredentialHeader(name) || looksSecret(value)
  return { name: name.toLowerCase(), value, ...(isSecret ? { isSecret } : {}) }
}

/** For people: `x-portkey-provider: openai`, a secret's last characters alone. */
export function shownHeader(header: ExtraHeader): string {
  return `${header.name}: ${shownValue(header)}`
}

function shownValue({ value, isSecret }: ExtraHeader): string {
  return isSecret ? maskSecret(value) : value
}

/** As a document tells them: the shown values by name. */
export function headerDocument(
  headers: readonly ExtraHeader[],
): Readonly<Record<string, string>> | undefined {
  if (headers.length === 0) return undefined
  return Object.fromEntries(headers.map((header) => [header.name, shownValue(header)]))
}

/** Whether a header, or a part of a query, is among those that go along. */
export function isAmong(
  { name, value }: QueryParameter,
  sent: readonly QueryParameter[] = [],
): boolean {
  return sent.some((one) => one.name === name && one.value === value)
}
