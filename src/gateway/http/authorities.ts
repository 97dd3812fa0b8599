import { readdirSync, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import tls from 'node:tls'
import { ifPossible, UserError } from '../../errors.ts'
import type { CertificateStores, GatewayAccess } from '../types.ts'

/** Where no client is asked for: what most of them read. */
const usual: CertificateStores = {
  system: true,
  files: ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE'],
  folders: ['SSL_CERT_DIR'],
}

/** Gateways for which no public authority vouches. */
const privateGateways = new WeakSet<GatewayAccess>()

/** Whether it was what the client believes beside the public authorities that vouched for a gateway. */
export function isVouchedPrivately(access: GatewayAccess): boolean {
  return privateGateways.has(access)
}

/** Where the authorities come from that may have vouched, for people. */
export function privateSources({ authorities = usual, caFile, env }: GatewayAccess): string {
  const { system, files, folders } = authorities
  const set = [...files, ...folders].filter((name) => env[name])
  return [...(caFile ? [caFile] : []), ...set, ...(system ? ["the system's store"] : [])].join(
    ' or ',
  )
}

/** Whether a client may refuse a certificate that was believed for several: it reads less than they do. */
export function mayRefuse(asClient: GatewayAccess, asAll: GatewayAccess): boolean {
  const own = sourcesOf(asClient)
  return isVouchedPrivately(asAll) && sourcesOf(asAll).some((source) => !own.includes(source))
}

function sourcesOf({ authorities = usual, caFile, env }: GatewayAccess): readonly unknown[] {
  const { system, hidesSystem, files, folders } = authorities
  const isSystem = system && !(hidesSystem !== undefined && env[hidesSystem])
  const named = [...files, ...folders].map((name) => env[name])
  return [caFile, ...named, isSystem ? 'system' : undefined].filter(Boolean)
}

/**
 * Who may vouch for a gateway, `public`: the public authorities, without what Node was told to add, and
 * what a person names for the client; `client`: the system's store too, where the client reads it. One
 * for all connections of an access, since reading hundreds of certificates takes a while. Undefined:
 * Node's own.
 *
 * @throws UserError `usage` if the file of `--ca-file` cannot be read or holds no certificate
 */
export function trustOf(
  access: GatewayAccess,
  believes: 'public' | 'client',
): tls.SecureContext | undefined {
  const known = contexts[believes].get(access)
  if (known !== undefined) return known

  const { authorities = usual, caFile, env } = access
  const named = [...(caFile === undefined ? [] : [readPem(caFile)]), ...namedAuthorities(access)]
  const { system, hidesSystem } = authorities
  const isHidden = hidesSystem !== undefined && readable(env[hidesSystem]).length > 0
  const stored = believes === 'client' && system && !isHidden ? systemAuthorities() : []
  if (named.length + stored.length > 0) privateGateways.add(access)
  else if (!isNodeToldMore(env)) return undefined

  const context = tls.createSecureContext({ ca: [...tls.rootCertificates, ...named, ...stored] })
  contexts[believes].set(access, context)
  return context
}

const contexts = {
  public: new WeakMap<GatewayAccess, tls.SecureContext>(),
  client: new WeakMap<GatewayAccess, tls.SecureContext>(),
}

function namedAuthorities({ authorities = usual, env }: GatewayAccess): readonly string[] {
  const { files, folders } = authorities
  const inFolders = folders.flatMap((name) => (env[name] ?? '').split(delimiter)).flatMap(filesIn)
  return [...files.map((name) => env[name]), ...inFolders].flatMap(readable)
}

/** Whether Node believes more by itself than the public authorities. */
function isNodeToldMore(env: GatewayAccess['env']): boolean {
  const variables = ['NODE_EXTRA_CA_CERTS', 'NODE_USE_SYSTEM_CA']
  return variables.some((name) => env[name]) || /-ca\b/.test(env['NODE_OPTIONS'] ?? '')
}

/** A broken file there is the client's to warn about, and no reason to fail. */
function readable(path: string | undefined): string[] {
  return path ? (ifPossible(() => [readPem(path)]) ?? []) : []
}

function filesIn(folder: string): readonly string[] {
  if (folder === '') return []
  return ifPossible(() => readdirSync(folder).map((name) => join(folder, name))) ?? []
}

/** Where Linux and the BSDs keep it as one file: Debian, Fedora, openSUSE, Alpine and others. */
const bundles = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/ca-bundle.pem',
  '/etc/ssl/cert.pem',
]

function systemAuthorities(): readonly string[] {
  // From Node 22.15 on; it reads the stores of macOS and Windows too.
  const { getCACertificates } = tls as { getCACertificates?: (type: 'system') => string[] }
  const listed = getCACertificates?.('system') ?? []
  return [...listed, ...bundles.flatMap(readable).slice(0, 1)]
}

function readPem(path: string): string {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (cause) {
    throw new UserError({
      code: 'usage',
      message: `Cannot read the CA file ${path}: ${(cause as NodeJS.ErrnoException).code ?? 'unknown error'}`,
      hint: 'Give a readable PEM file with --ca-file PATH.',
      cause,
    })
  }

  if (text.includes('-----BEGIN CERTIFICATE-----')) return text
  throw new UserError({
    code: 'usage',
    message: `The CA file ${path} holds no PEM certificate`,
    hint: 'Convert it: openssl x509 -inform der -in FILE -out FILE.pem, then give that with --ca-file.',
  })
}
