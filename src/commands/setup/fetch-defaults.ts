import { UserError } from '../../errors.ts'
import { errorFor, judge } from '../../gateway/ask.ts'
import { request } from '../../gateway/http/request.ts'
import { usualRoots } from '../../gateway/roots.ts'
import type { GatewayAccess } from '../../gateway/types.ts'
import type { GatewayFlags } from '../command.ts'
import type { Session } from '../screen/session.ts'
import { maxDefaultsBytes, readDefaults, type TeamDefaults } from './defaults.ts'

/**
 * Reads a file of defaults from the disk or from the web: https alone, no other origin, and without any
 * key.
 *
 * @throws UserError
 */
export async function fetchDefaults(
  session: Session,
  source: string,
  flags: GatewayFlags,
): Promise<TeamDefaults> {
  const isAddress = /^[a-z][a-z0-9+.-]+:\/\//i.test(source)
  const bytes = isAddress ? await fetched(session, source, flags) : readLocal(session, source)
  const place = isAddress ? source : session.showPath(source)
  return readDefaults(bytes, place, { allowHttp: flags.allowHttp === true })
}

function readLocal(session: Session, path: string): Uint8Array {
  try {
    return session.platform.files.read(path, maxDefaultsBytes)
  } catch (error) {
    throw new UserError({
      code: 'usage',
      message:
        error instanceof RangeError
          ? `${session.showPath(path)} is larger than ${maxDefaultsBytes} bytes, which no file of defaults is`
          : `The file ${session.showPath(path)} (--from) cannot be read`,
      hint: 'Check the path and its permissions.',
      cause: error,
    })
  }
}

async function fetched(
  { platform }: Session,
  source: string,
  { timeout, caFile }: GatewayFlags,
): Promise<Uint8Array> {
  const url = URL.canParse(source) ? new URL(source) : undefined
  if (url?.protocol !== 'https:' || url.username !== '' || url.password !== '')
    throw new UserError({
      code: 'usage',
      message: '--from takes the path of a file or an https address without a login in it',
      hint: 'What it says decides where a key goes: fetch the file yourself, and look at it.',
    })

  const access: GatewayAccess = {
    baseUrl: url.href,
    // Nothing but the file is asked for.
    roots: usualRoots(url.origin),
    key: '',
    timeoutMs: timeout * 1000,
    caFile,
    env: platform.machine.env,
    signal: platform.interrupt,
  }
  const result = await request(access, {
    method: 'GET',
    url: access.baseUrl,
    headers: { accept: 'application/json', 'user-agent': 'repoint' },
    maxBytes: maxDefaultsBytes,
  })
  if (!('status' in result)) throw errorFor(judge(access, result, { asked: 'catalog' })!)

  const { status, body, cut } = result
  if (status !== 200 || cut !== undefined)
    throw new UserError({
      code: status >= 300 && status < 400 ? 'redirected' : 'not-an-api',
      message:
        cut === 'limit'
          ? `${url.host} answers with more than ${maxDefaultsBytes} bytes, which no file of defaults is`
          : status >= 300 && status < 400
            ? `${url.host} leads to another origin, which is not followed`
            : `${url.host} answers ${status} instead of the file of defaults`,
      hint: 'Check the address behind --from.',
    })
  return new TextEncoder().encode(body)
}
