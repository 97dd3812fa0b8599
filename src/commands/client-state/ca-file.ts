import type { Client, Endpoint } from '../../clients/client.ts'
import type { Finding } from '../../finding.ts'
import type { Session } from '../screen/session.ts'

/**
 * What a client still needs in order to trust the authorities of `caFile`. What repoint's own check
 * trusts makes no difference to the client.
 */
export function* certificateFindings(
  { platform }: Session,
  { label, program }: Client,
  endpoint: Pick<Endpoint, 'caFile'>,
  caFile: string | undefined,
): Generator<Finding> {
  const { os, env } = platform.machine
  const set = program.caFileVariables.find((name) => env[name])
  const [variable, ...others] = program.caFileVariables
  const named = endpoint.caFile ?? (set && env[set])
  if (caFile === undefined || named === caFile) return

  const code = 'authority-unknown'
  const older = others.length === 0 ? '' : ` (older versions: ${others.join(', ')})`
  const setting = os === 'win32' ? `setx ${variable} "${caFile}"` : `export ${variable}='${caFile}'`
  if (named !== undefined)
    yield {
      code,
      message: `${label} reads its certificate authorities from ${named} (${set ?? variable}), which may not contain those of ${caFile}`,
      hint: `Add the authority to that file, or set the variable to ${caFile}.`,
    }
  else
    yield {
      code,
      message: `${label} does not trust the authorities in ${caFile} until you set ${variable}${older}`,
      hint: `Before you start ${label}: ${setting}`,
    }
}
