import { X509Certificate } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import tls from 'node:tls'
import { ifPossible, UserError } from '../../errors.ts'
import type { CertificateStores, GatewayAccess } from '../types.ts'

/** The stores if no client is selected: the ones that most clients read. */
const defaultStores: CertificateStores = {
  system: true,
  files: ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE'],
  folders: ['SSL_CERT_DIR'],
}

/** Gateways that were trusted because of private authorities. */
const privatelyTrusted = new WeakSet<GatewayAccess>()

/** Whether the client's private authorities, in addition to the public ones, were used for a gateway. */
export function isPrivatelyTrusted(access: GatewayAccess): boolean {
  return privatelyTrusted.has(access)
}

/** Names the sources of private authorities for a message. */
export function privateSources(access: GatewayAccess): string {
  const { authorities = defaultStores, caFile, env } = access
  const { files, folders } = authorities
  const variables = [...files, ...folders].filter((name) => env[name])
  const system = readsSystemStore(access) ? ["the system's store"] : []
  return [...(caFile ? [caFile] : []), ...variables, ...system].join(' or ')
}

/** Whether a client may reject a certificate that was trusted for all clients, because it reads fewer stores. */
export function mayRejectCertificate(
  clientAccess: GatewayAccess,
  sharedAccess: GatewayAccess,
): boolean {
  if (!isPrivatelyTrusted(sharedAccess)) return false
  const clientSources = certificateSources(clientAccess)
  return certificateSources(sharedAccess).some((source) => !clientSources.includes(source))
}

function certificateSources(access: GatewayAccess): readonly unknown[] {
  const { authorities = defaultStores, caFile, env } = access
  const { files, folders } = authorities
  const namedSources = [...files, ...folders].map((name) => env[name])
  const system = readsSystemStore(access) ? 'system' : undefined
  return [caFile, ...namedSources, system].filter(Boolean)
}

function readsSystemStore({ authorities = defaultStores, env }: GatewayAccess): boolean {
  const { system, hidesSystem } = authorities
  const isHidden = hidesSystem !== undefined && readPemIfPossible(env[hidesSystem]).length > 0
  return system && !isHidden
}

/**
 * The authorities that a connection trusts: the public ones and those that the user names, but not those that
 * Node was configured to add. `with-system`: also the system's store, if the client reads it. All connections
 * of an access share one context, because reading hundreds of certificates is slow.
 *
 * @returns undefined if Node's default is right
 * @throws UserError `usage` if the file of `--ca-file` cannot be read or has no certificate
 */
export function trustedContext(
  access: GatewayAccess,
  trust: 'without-system' | 'with-system',
): tls.SecureContext | undefined {
  const cached = contexts[trust].get(access)
  if (cached !== undefined) return cached

  const { caFile, env } = access
  const namedCertificates = [
    ...(caFile === undefined ? [] : [readPem(caFile)]),
    ...readNamedAuthorities(access),
  ]
  const systemCertificates =
    trust === 'with-system' && readsSystemStore(access) ? readSystemAuthorities() : []
  if (namedCertificates.length + systemCertificates.length > 0) privatelyTrusted.add(access)
  else if (!nodeHasExtraAuthorities(env)) return undefined

  const context = tls.createSecureContext({
    ca: [...tls.rootCertificates, ...namedCertificates, ...systemCertificates],
  })
  contexts[trust].set(access, context)

  return context
}

const contexts = {
  'without-system': new WeakMap<GatewayAccess, tls.SecureContext>(),
  'with-system': new WeakMap<GatewayAccess, tls.SecureContext>(),
}

function readNamedAuthorities({
  authorities = defaultStores,
  env,
}: GatewayAccess): readonly string[] {
  const { files, folders } = authorities
  const inFolders = folders.flatMap((name) => (env[name] ?? '').split(delimiter)).flatMap(listFiles)
  return [...files.map((name) => env[name]), ...inFolders].flatMap(readPemIfPossible)
}

/** Whether Node trusts more than the public authorities by default. */
function nodeHasExtraAuthorities(env: GatewayAccess['env']): boolean {
  const variables = ['NODE_EXTRA_CA_CERTS', 'NODE_USE_SYSTEM_CA']
  return variables.some((name) => env[name]) || /-ca\b/.test(env['NODE_OPTIONS'] ?? '')
}

/** Ignores files that cannot be read. The client warns about them itself. */
function readPemIfPossible(path: string | undefined): string[] {
  return path ? (ifPossible(() => [readPem(path)]) ?? []) : []
}

function listFiles(folder: string): readonly string[] {
  if (folder === '') return []
  return ifPossible(() => readdirSync(folder).map((name) => join(folder, name))) ?? []
}

/** The system's store as one file: on Debian, Fedora, openSUSE, Alpine, the BSDs and others. */
const systemBundles = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/ca-bundle.pem',
  '/etc/ssl/cert.pem',
]

function readSystemAuthorities(): readonly string[] {
  // Exists since Node 22.15. It also reads the stores of macOS and Windows.
  const { getCACertificates } = tls as { getCACertificates?: (type: 'system') => string[] }
  const listed = getCACertificates?.('system') ?? []
  return [...listed, ...systemBundles.flatMap(readPemIfPossible).slice(0, 1)]
}

function readPem(path: string): string {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    throw new UserError({
      code: 'usage',
      message: `Cannot read the CA file ${path}: ${(error as NodeJS.ErrnoException).code ?? 'unknown error'}`,
      hint: 'Pass a readable PEM file: {--ca-file PATH}',
      cause: error,
    })
  }

  if (text.includes('-----BEGIN CERTIFICATE-----')) return text
  throw new UserError({
    code: 'usage',
    message: `The CA file ${path} contains no PEM certificate`,
    hint: 'Convert it and pass the new file: openssl x509 -inform der -in FILE -out FILE.pem',
  })
}

/** Whether a file begins with a server's certificate that is marked as an authority, as `openssl req -x509` makes it. */
export function isServerAndAuthority(path: string): boolean {
  const certificate = ifPossible(() => new X509Certificate(readPem(path)))
  return certificate?.ca === true && certificate.subjectAltName !== undefined
}
