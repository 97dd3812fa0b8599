/** The certificate authorities that a client trusts. */
import type { Client } from '../../clients/contract/client.ts'
import type { Endpoint } from '../../clients/contract/state.ts'
import type { Finding } from '../../finding.ts'
import { requestCatalog } from '../../gateway/catalog.ts'
import { isServerAndAuthority, mayRejectCertificate } from '../../gateway/http/authorities.ts'
import { closeIdleConnections } from '../../gateway/http/request.ts'
import type { CertificateStores, GatewayAccess } from '../../gateway/types.ts'
import type { Machine } from '../../platform/platform.ts'
import type { Session } from '../screen/session.ts'

/** The certificate stores of one client, or those of several clients merged. */
export function authoritiesOf(
  env: Machine['env'],
  clients: readonly Pick<Client, 'label' | 'program'>[],
): CertificateStores {
  const all = clients.map(({ program }) => program.certificateStores(env))
  const [alone] = all

  const of = clients.map(({ label }) => label).join(', ')
  if (alone !== undefined && all.length === 1) return { ...alone, of }
  return {
    of,
    system: all.some(({ system }) => system),
    files: [...new Set(all.flatMap(({ files }) => files))],
    folders: [...new Set(all.flatMap(({ folders }) => folders))],
  }
}

/**
 * Checks that this client trusts the gateway. Several clients together can trust more certificates than
 * one of them does, so if no public authority vouches for the gateway, this requests its catalog again
 * with the client's own certificate stores.
 *
 * @param sharedAccess the access with the stores of all clients, which the requests so far used
 * @throws UserError `tls`
 */
export async function expectTrustedBy(
  client: Client,
  access: GatewayAccess,
  sharedAccess = access,
): Promise<void> {
  const clientAccess = { ...access, authorities: authoritiesOf(access.env, [client]) }
  if (!mayRejectCertificate(clientAccess, sharedAccess)) return

  const answer = await requestCatalog(clientAccess)
  await closeIdleConnections(clientAccess)
  if (answer.kind === 'failed' && answer.error.code === 'tls') throw answer.error
}

/**
 * The variable that makes a client trust the authorities of `caFile`. repoint's own trust makes no difference to the
 * client. Undefined: it trusts them, or reads others.
 */
export function missingTrust(
  { platform }: Session,
  { program }: Client,
  { caFile: configured }: Pick<Endpoint, 'caFile'>,
  caFile: string | undefined,
): { readonly name: string; readonly caFile: string } | undefined {
  const { env } = platform.machine
  const isSet = configured !== undefined || program.caFileVariables.some((name) => env[name])
  return caFile === undefined || isSet ? undefined : { name: program.caFileVariables[0], caFile }
}

/** What to type before a client starts that does not trust these authorities yet. */
export function trustAdvice(
  { platform }: Session,
  { label }: Client,
  { name, caFile }: NonNullable<ReturnType<typeof missingTrust>>,
): string {
  const isWindows = platform.machine.os === 'win32'
  const command = isWindows ? `setx ${name} "${caFile}"` : `export ${name}='${caFile}'`
  return `Before you start ${label}: ${command}`
}

/** Reports what a client still needs in order to trust the authorities of `caFile`. */
export function* certificateFindings(
  session: Session,
  client: Client,
  endpoint: Pick<Endpoint, 'caFile'>,
  caFile: string | undefined,
): Generator<Finding> {
  const { label, program } = client
  const { env } = session.platform.machine
  const code = 'authority-unknown'
  const severity = 'note'

  if (program.rejectsAuthorityAsServer && caFile !== undefined && isServerAndAuthority(caFile))
    yield {
      code,
      severity: 'warning',
      message: `${label} rejects the certificate in ${caFile}: it is marked as an authority (CA:TRUE) and belongs to a server`,
      hint: 'Make it again with: openssl req -x509 -addext basicConstraints=critical,CA:FALSE. Or let an authority sign it.',
    }

  const missing = missingTrust(session, client, endpoint, caFile)
  if (missing !== undefined) {
    const [, ...others] = program.caFileVariables
    const older = others.length === 0 ? '' : ` (older versions: ${others.join(', ')})`
    const message = `${label} does not trust the authorities in ${caFile} until you set ${missing.name}${older}`
    yield { code, severity, message, hint: trustAdvice(session, client, missing) }
    return
  }

  const setVariable = program.caFileVariables.find((name) => env[name])
  const currentFile = endpoint.caFile ?? (setVariable && env[setVariable])
  if (caFile === undefined || currentFile === caFile) return
  yield {
    code,
    severity,
    message: `${label} reads its certificate authorities from ${currentFile} (${setVariable ?? program.caFileVariables[0]}), which may not contain those of ${caFile}`,
    hint: `Add the authority to that file, or set the variable to ${caFile}.`,
  }
}
