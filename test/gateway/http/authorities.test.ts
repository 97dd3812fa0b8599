import { expect, test } from 'vitest'
import { mayRejectCertificate, trustedContext } from '../../../src/gateway/http/authorities.ts'
import { accessTo, tlsFile } from '../forged.ts'

test.each([
  ['a PEM file', tlsFile('ca.pem'), true],
  ['no file', tlsFile('missing.pem'), false],
  ['a file without certificates', tlsFile('server.key'), false],
])(
  "a variable that names %s: whether the client may lack the system's store",
  (_name, path, expected) => {
    const env = { SSL_CERT_FILE: path, NODE_EXTRA_CA_CERTS: tlsFile('ca.pem') }
    const stores = {
      system: true,
      files: ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE'],
      folders: [],
    }
    const shared = accessTo({ port: 1 }, { env, authorities: stores })
    trustedContext(shared, 'without-system')

    const client = { ...shared, authorities: { ...stores, hidesSystem: 'SSL_CERT_FILE' } }
    expect(mayRejectCertificate(client, shared)).toBe(expected)
  },
)
