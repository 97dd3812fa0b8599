import type { Client } from '../../clients/client.ts'
import { isLoopbackUrl } from '../../clients/loaded-files.ts'
import { UserError } from '../../errors.ts'
import { ask } from '../../gateway/ask.ts'
import { asObject, jsonIn } from '../../gateway/foreign-text.ts'
import { closeIdleConnections } from '../../gateway/http/request.ts'
import type { GatewayAccess } from '../../gateway/types.ts'
import { printable } from '../../text.ts'
import type { Session } from '../screen/session.ts'
import { expectInstalled, installedVersion } from './program.ts'
import { inFolder, newFolder } from './temp-folder.ts'

/** Clients take up to 12 s for one word, and some retry for a minute before they give up. */
const tryTimeoutMs = 90_000

/** Shown of what the client said, in characters from the end. */
const maxShown = 600

/** What a real client said to `ping`. */
export interface Tried {
  readonly client: string
  readonly said: string
}

/**
 * Runs the real client once with `ping`, with the files that are there now, in an empty folder: in a
 * project's, that project's own configuration could send the key elsewhere. Of what a failing client
 * says only its error line is shown: some print their whole configuration. A `repoint serve` also tells
 * whether another key went out: some clients go on with ours once that is refused.
 *
 * @throws UserError `client-failed` with what it said
 */
export async function tryClient(
  session: Session,
  client: Client,
  access: GatewayAccess,
): Promise<Tried> {
  const { processes, machine, interrupt } = session.platform
  const { pingArgs, pingEnv, answerIn } = client.program
  const program = expectInstalled(session, client)
  const { version } = await installedVersion(session, client, 'run')

  const folder = newFolder(session.platform)
  const refusedBefore = await refusedKeys(access)
  const result = await inFolder(session.platform, folder, {}, () => {
    const tried = processes.run(program, pingArgs('ping', version), {
      timeoutMs: tryTimeoutMs,
      cwd: folder,
      // Some believe this more than the system.
      env: { ...machine.env, PWD: folder, OLDPWD: undefined, ...pingEnv },
    })
    return session.step(`Trying ${client.label}`, tried)
  })
  if (interrupt.aborted)
    throw new UserError({ code: 'cancelled', message: `Cancelled while ${client.label} was tried` })

  const clean = (text: string) => session.redact(printable(text.trim()))
  const answer = answerIn?.(result.stdout)
  const seeDoctor = `\`repoint doctor ${client.family}\``
  if (result.exitStatus === 0) {
    const said = clean(answer ?? (result.stdout || result.stderr)).slice(-maxShown)
    if ((await refusedKeys(access)) === refusedBefore) return { client: client.id, said }
    throw new UserError({
      code: 'client-failed',
      message: `${client.label} sent another key first, which the gateway refused`,
      hint: `A login or a variable of its own wins over its files: see ${seeDoctor}.`,
    })
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
    hint: `See ${seeDoctor}, or run it by hand.`,
  })
}

/** How many requests a `repoint serve` has refused for their key; undefined: this gateway is none. */
async function refusedKeys({ ...access }: GatewayAccess): Promise<unknown> {
  if (!isLoopbackUrl(access.baseUrl)) return undefined
  const url = new URL('/_repoint/counters', access.baseUrl).href
  const answer = await ask(access, { method: 'GET', url, headers: {}, maxBytes: 1_000 })
  await closeIdleConnections(access)
  return 'body' in answer ? asObject(jsonIn(answer.body))?.['refusedKeys'] : undefined
}
