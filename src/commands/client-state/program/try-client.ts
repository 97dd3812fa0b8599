import type { Client } from '../../../clients/contract/client.ts'
import { isLoopbackUrl } from '../../../clients/files/addresses.ts'
import { UserError } from '../../../errors.ts'
import { asObject, jsonIn } from '../../../gateway/foreign-text.ts'
import { closeIdleConnections } from '../../../gateway/http/request.ts'
import { sendWithKey } from '../../../gateway/send.ts'
import type { GatewayAccess } from '../../../gateway/types.ts'
import type { RunResult } from '../../../platform/platform.ts'
import { printable } from '../../../text.ts'
import type { Session } from '../../screen/session.ts'
import { expectInstalled, installedVersion } from './installed-program.ts'
import { inTempFolder, newTempPath } from './temp-folder.ts'

/** How long a client may take, in ms: up to 12 s for one word, and some retry for a minute before they fail. */
export const tryTimeoutMs = 90_000

/** How many characters of the client's output are shown, from its end. */
const maxShown = 600

/** What a real client answered to `ping`. */
export interface ClientAnswer {
  readonly client: string
  readonly said: string
}

/**
 * Runs the real client once with `ping` and its current files, in an empty folder: the configuration of a
 * project could send the key elsewhere. If the client fails, only its error line is shown, because some
 * print their whole configuration. `repoint serve` also reports whether the client sent another key: some
 * clients use our key after the gateway rejects theirs.
 *
 * @throws UserError `client-failed` with the client's error
 */
export async function tryClient(
  session: Session,
  client: Client,
  access: GatewayAccess,
): Promise<ClientAnswer> {
  const { processes, machine } = session.platform
  const { pingArgs, pingEnv } = client.program
  const program = expectInstalled(session, client)
  const { version } = await installedVersion(session, client, 'launch')

  const folder = newTempPath(session.platform)
  const rejectedBefore = await countRejectedKeys(access)
  const result = await inTempFolder(session.platform, folder, {}, () => {
    const finished = processes.run(program, pingArgs('ping', version), {
      timeoutMs: tryTimeoutMs,
      cwd: folder,
      // Some clients trust `PWD` more than the system.
      env: { ...machine.env, PWD: folder, OLDPWD: undefined, ...pingEnv },
    })
    return session.step(`Trying ${client.label}`, finished)
  })
  const answer = answerOf(session, client, result)
  if ((await countRejectedKeys(access)) === rejectedBefore) return answer
  throw new UserError({
    code: 'client-failed',
    message: `${client.label} sent another key, which the gateway rejected`,
    hint: `A login or a variable overrides its files. Find it: repoint doctor ${client.family}`,
  })
}

/** What the client answered. @throws UserError `cancelled`, `client-failed` */
export function answerOf(session: Session, client: Client, result: RunResult): ClientAnswer {
  if (session.platform.interrupt.aborted)
    throw new UserError({
      code: 'cancelled',
      message: `Cancelled during the test of ${client.label}`,
    })

  const clean = (text: string) => session.redact(printable(text.trim()))
  const answer = client.program.answerIn?.(result.stdout)
  if (result.exitStatus === 0) {
    const said = clean(answer ?? (result.stdout || result.stderr)).slice(-maxShown)
    return { client: client.id, said }
  }

  const how =
    result.reason === 'timed-out'
      ? `did not answer within ${tryTimeoutMs / 1000} s`
      : `failed with status ${result.exitStatus ?? result.reason}`
  const lines = `${result.stderr}\n${result.stdout}`.split('\n')
  const isError = (line: string) =>
    /error|fail|denied|invalid|refused/i.test(line) && !/[{}"]/.test(line)
  const line = answer ?? lines.find(isError)
  throw new UserError({
    code: 'client-failed',
    message: `${client.label} ${how}${line === undefined ? '' : `: ${clean(line).slice(0, maxShown)}`}`,
    hint: `Find the cause: repoint doctor ${client.family}`,
  })
}

/**
 * How many requests a `repoint serve` has rejected because of their key. Undefined: this gateway is not
 * `repoint serve`.
 */
async function countRejectedKeys(clientAccess: GatewayAccess): Promise<unknown> {
  if (!isLoopbackUrl(clientAccess.address)) return undefined
  // A copy has its own connections, so that the caller's stay open.
  const access = { ...clientAccess }
  const url = new URL('/_repoint/counters', access.address).href
  const answer = await sendWithKey(access, { method: 'GET', url, headers: {}, maxBytes: 1_000 })
  await closeIdleConnections(access)
  return 'body' in answer ? asObject(jsonIn(answer.body))?.['refusedKeys'] : undefined
}
