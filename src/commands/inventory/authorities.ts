import { resolve } from 'node:path'
import type { Client, Settings } from '../../clients/client.ts'
import type { Notice } from '../../notice.ts'
import { readGateways } from '../../transaction/gateways.ts'
import type { Session } from '../screen/session.ts'

/** Absolute path of a file with further authorities: the given one, else the one that the gateway was used with before. */
export function caFileFor(
  { platform }: Session,
  baseUrl: string,
  given: string | undefined,
): string | undefined {
  if (given) return resolve(platform.machine.cwd, given)
  try {
    return readGateways(platform).find((one) => one.baseUrl === baseUrl)?.caFile
  } catch {
    // Whoever needs the list itself says that it cannot be read.
    return undefined
  }
}

/**
 * What a client still needs to trust the authorities of `caFile`: what our own check trusts is no
 * matter to it.
 */
export function authorityNotices(
  { platform }: Session,
  { label, binary }: Client,
  settings: Pick<Settings, 'caFile'>,
  caFile: string | undefined,
): readonly Notice[] {
  const { os, env } = platform.machine
  const set = binary.authorityVariables.find((name) => env[name])
  const [variable, ...others] = binary.authorityVariables
  const named = settings.caFile ?? (set && env[set])
  if (caFile === undefined || named === caFile) return []

  const code = 'authority-unknown'
  if (named !== undefined)
    return [
      {
        code,
        message: `${label} takes further authorities from ${named} (${set ?? variable}), and the gateway's from ${caFile} may not be there`,
        hint: `Add it to that file, or name ${caFile} in its place.`,
      },
    ]
  return [
    {
      code,
      message: `${label} does not know the authorities in ${caFile}, unless this machine does: it looks for such a file in ${variable}, which is not set${others.length === 0 ? '' : ` (older versions: ${others.join(', ')})`}`,
      hint: `Before it starts: ${os === 'win32' ? `setx ${variable} "${caFile}"` : `export ${variable}='${caFile}'`} (in the shell's profile, to keep it).`,
    },
  ]
}
