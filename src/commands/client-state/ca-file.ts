import type { Client } from '../../clients/contract/client.ts'
import type { Endpoint } from '../../clients/contract/state.ts'
import type { Finding } from '../../finding.ts'
import type { Session } from '../screen/session.ts'

/**
 * Reports what a client still needs in order to trust the authorities of `caFile`. repoint's own trust
 * makes no difference to the client.
 */
export function* certificateFindings(
  { platform }: Session,
  { label, program }: Client,
  endpoint: Pick<Endpoint, 'caFile'>,
  caFile: string | undefined,
): Generator<Finding> {
  const { os, env } = platform.machine
  const setVariable = program.caFileVariables.find((name) => env[name])
  const [variable, ...others] = program.caFileVariables
  const currentFile = endpoint.caFile ?? (setVariable && env[setVariable])
  if (caFile === undefined || currentFile === caFile) return

  const code = 'authority-unknown'
  if (currentFile !== undefined) {
    yield {
      code,
      message: `${label} reads its certificate authorities from ${currentFile} (${setVariable ?? variable}), which may not contain those of ${caFile}`,
      hint: `Add the authority to that file, or set the variable to ${caFile}.`,
    }
    return
  }

  const older = others.length === 0 ? '' : ` (older versions: ${others.join(', ')})`
  const command = os === 'win32' ? `setx ${variable} "${caFile}"` : `export ${variable}='${caFile}'`
  yield {
    code,
    message: `${label} does not trust the authorities in ${caFile} until you set ${variable}${older}`,
    hint: `Before you start ${label}: ${command}`,
  }
}
