import { readFileSync } from 'node:fs'
import tls from 'node:tls'
import { UserError } from '../../errors.ts'
import type { GatewayAccess } from '../types.ts'

/**
 * The certificate authorities to trust, or undefined for Node's own choice.
 *
 * Node reads `NODE_EXTRA_CA_CERTS` itself, but a list given to it replaces all others, those too.
 *
 * @throws UserError `usage` if the file cannot be read or holds no certificate
 */
export function trustedAuthorities(access: GatewayAccess): readonly string[] | undefined {
  if (access.caFile === undefined) return undefined

  const added = [readPem(access.caFile)]
  const extra = access.env['NODE_EXTRA_CA_CERTS']
  // A broken file there is Node's to warn about, and no reason to fail.
  if (extra !== undefined && extra !== '') added.push(...tryReadPem(extra))
  return [...nodeAuthorities(), ...added]
}

/** From Node 22.15 the list holds the system's and the extra ones, where Node was told to use them. */
function nodeAuthorities(): readonly string[] {
  const { getCACertificates } = tls as { getCACertificates?: (type: 'default') => string[] }
  return getCACertificates?.('default') ?? tls.rootCertificates
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

function tryReadPem(path: string): readonly string[] {
  try {
    return [readPem(path)]
  } catch {
    return []
  }
}
