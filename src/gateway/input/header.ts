import { UserError } from '../../errors.ts'
import { looksLikeKey, maskSecret, maskSecretsIn } from '../../text.ts'
import {
  type ExtraHeader,
  type KeyHeader,
  type OtherKeyHeader,
  otherKeyHeaders,
  type QueryParameter,
} from '../types.ts'

/** A header to send from now on. Without a value, the header is removed. */
export type HeaderChange = ExtraHeader | { readonly name: string; readonly value?: undefined }

/** Reads values that do not belong on a command line. */
export interface HeaderSources {
  /** Returns undefined if the variable is not set. */
  readonly variable: (name: string) => string | undefined
  /** @throws UserError if the file cannot be read */
  readonly file: (path: string) => string
}

const variable = /\$(?:\{(\w+)\}|(\w+))/

const maxNameLength = 100
const maxValueLength = 4_096

/** A token of RFC 9110, 5.6.2. */
const token = /^[!#$%&'*+.^_`|~\w-]+$/

/** Headers that HTTP, the clients or repoint send themselves. */
const reservedNames =
  /^(?:accept|accept-(?:charset|encoding|language)|anthropic-.*|connection|content-.*|expect|host|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|user-agent)$/

const credentialName =
  /(?:^|[-_.])(?:apikey|auth|authorization|authentication|cookies?|credentials?|jwt|keys?|tokens?)$|secret|passw/

export function isCredentialHeader(name: string): boolean {
  return credentialName.test(name.toLowerCase())
}

/**
 * Parses one `--header`: `name: value`. The value is text with environment variables (`$NAME`,
 * `${NAME}`), the line in a file (`@path`), or plain text that is not a secret. An empty value removes
 * the header. No message contains a value.
 *
 * @throws UserError `usage`; `key-missing` for a variable that is not set
 */
export function readHeader(text: string, sources: HeaderSources): HeaderChange {
  const colon = text.indexOf(':')
  const name = text.slice(0, colon).trim().toLowerCase()
  const template = text.slice(colon + 1).trim()
  if (colon === -1 || !token.test(name) || name.length > maxNameLength || looksLikeKey(name))
    throw invalidHeader("--header needs the form 'name: value'", headerUsage('x-example'))
  rejectReserved(name)
  if (template === '') return { name }

  const isSecret = template.startsWith('@') || variable.test(template)

  if (!isSecret && (isCredentialHeader(name) || looksSecret(template)))
    throw invalidHeader(
      `The value of the header ${name} may be a secret. On a command line, other users can see it, and it stays in the shell history`,
      headerUsage(name),
    )
  const value = readValue(name, template, sources).trim()
  rejectValue(name, value)

  return { name, value, ...(isSecret ? { isSecret } : {}) }
}

/** @throws UserError `usage` */
function rejectReserved(name: string): void {
  if (name === 'authorization' || otherKeyHeaders.some((keyHeader) => keyHeader === name))
    throw invalidHeader(
      `${name} contains the key, and the key has separate flags`,
      'Pass the key with --key-env NAME, --key-file PATH or --key-stdin. repoint finds out which header the gateway needs.',
    )
  if (reservedNames.test(name))
    throw invalidHeader(`You cannot change ${name}: every client sets it`, 'Remove it.')
}

function readValue(name: string, template: string, sources: HeaderSources): string {
  if (template.startsWith('@')) return sources.file(template.slice(1).trim())
  return template.replaceAll(new RegExp(variable, 'g'), (_, braced?: string, bare?: string) => {
    const variableName = braced ?? bare ?? ''
    const value = sources.variable(variableName)
    if (value) return value
    throw new UserError({
      code: 'key-missing',
      message: `The environment variable ${variableName} (header ${name}) is ${value === '' ? 'empty' : 'not set'}`,
      hint: 'Set it, then run the command again.',
    })
  })
}

/** Whether a text, or a part of it, could be a secret. */
export function looksSecret(text: string): boolean {
  return maskSecretsIn(text) !== text || text.split(/[\s,;=:"'{}]+/).some(looksLikeKey)
}

/** @throws UserError `usage` */
function rejectValue(name: string, value: string): void {
  const hint = 'Check the variable or the file: the value must be one line.'
  if (value === '') throw invalidHeader(`The value of the header ${name} is empty`, hint)
  if (/[\r\n]/.test(value))
    throw invalidHeader(`The value of the header ${name} has more than one line`, hint)
  if (value.length > maxValueLength)
    throw invalidHeader(
      `The value of the header ${name} is longer than ${maxValueLength} characters`,
      hint,
    )
  if (!/^[ -~]+$/.test(value))
    throw invalidHeader(
      `The value of the header ${name} contains non-ASCII or control characters`,
      hint,
    )
}

function invalidHeader(message: string, hint: string): UserError {
  return new UserError({ code: 'usage', message, hint })
}

function headerUsage(name: string): string {
  return `Use a variable, in single quotes: --header '${name}: $VARIABLE'. Or a file: --header '${name}: @path'`
}

/**
 * Applies header changes to the headers that were sent before.
 *
 * @throws UserError `usage` if two changes have the same header
 */
export function applyHeaderChanges(
  before: readonly ExtraHeader[],
  changes: readonly HeaderChange[],
): readonly ExtraHeader[] {
  const names = changes.map(({ name }) => name)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined)
    throw invalidHeader(`The command sets the header ${twice} twice`, 'Use one of them.')
  return [
    ...before.filter(({ name }) => !names.includes(name)),
    ...changes.filter((header) => header.value !== undefined),
  ]
}

/**
 * Whether a header can be part of a probe: it does not hold the key, and neither HTTP nor the client itself sets it.
 */
export function isAdditional({ name, value }: QueryParameter): boolean {
  const holdsKey = ['authorization', ...otherKeyHeaders].includes(name)
  const isText = token.test(name) && value.length <= maxValueLength && /^[ -~]+$/.test(value)
  return isText && !holdsKey && !reservedNames.test(name)
}

/** A header from an unknown source. It counts as secret if it looks like a secret. */
export function classifyHeader(name: string, value: string): ExtraHeader {
  const isSecret = isCredentialHeader(name) || looksSecret(value)
  return { name: name.toLowerCase(), value, ...(isSecret ? { isSecret } : {}) }
}

/** Formats a header for people: `x-portkey-provider: openai`. Secret values are masked. */
export function formatHeader(header: ExtraHeader): string {
  return `${header.name}: ${formatValue(header)}`
}

function formatValue({ value, isSecret }: ExtraHeader): string {
  return isSecret ? maskSecret(value) : value
}

/** The headers for a JSON document: names with masked values. */
export function headerDocument(
  headers: readonly ExtraHeader[],
): Readonly<Record<string, string>> | undefined {
  if (headers.length === 0) return undefined
  return Object.fromEntries(headers.map((header) => [header.name, formatValue(header)]))
}

/** Whether a list contains this header or query parameter. */
export function includesHeader(
  { name, value }: QueryParameter,
  headers: readonly QueryParameter[] = [],
): boolean {
  return headers.some((header) => header.name === name && header.value === value)
}

/** The header of a key for files and JSON, which leave out the usual one. */
export function unusualKeyHeader(keyHeader: KeyHeader): OtherKeyHeader | undefined {
  return keyHeader === 'authorization' ? undefined : keyHeader
}
