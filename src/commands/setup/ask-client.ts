import { join } from 'node:path'
import { type Client, runKeyVariable } from '../../clients/client.ts'
import { UserError } from '../../errors.ts'
import type { GatewayAccess } from '../../gateway/types.ts'
import { pointClient } from '../client-state/point-client.ts'
import { installedVersion, isInstalled } from '../client-state/program.ts'
import { inFolder, newFolder } from '../client-state/temp-folder.ts'
import { answerOf, tryTimeoutMs } from '../client-state/try-client.ts'
import type { Session } from '../screen/session.ts'
import type { Chosen } from './request.ts'

/** Folders that programs use instead of the home, if these variables are set. */
const homeVariables = ['XDG_CONFIG_HOME', 'XDG_DATA_HOME', 'XDG_STATE_HOME', 'XDG_CACHE_HOME']

/**
 * Asks the installed client for one word, because the gateway admits certain clients only. It starts as
 * `repoint run` starts it, in a temporary folder with a temporary home, and writes none of the user's
 * files.
 *
 * @param refusal why the gateway rejected repoint's own request
 * @throws UserError `refusal`, with the client's own error, or with what is missing to ask it
 */
export async function askClient(
  session: Session,
  client: Client,
  { access, chosen, refusal }: { access: GatewayAccess; chosen: Chosen; refusal: UserError },
): Promise<void> {
  const { processes, files, machine } = session.platform
  const { pingArgs, pingEnv, command } = client.program
  const program = processes.which(command)
  if (program === undefined || client.launchSettings === undefined)
    throw refused(refusal, {
      hint: isInstalled(session, client)
        ? `repoint cannot start ${client.label} for one word. Ask the gateway's operator.`
        : `Install ${client.label}, then run the command again.`,
    })

  const { version } = await installedVersion(session, client, 'run')
  const folder = newFolder(session.platform)
  const [home, cwd] = [join(folder, 'home'), join(folder, 'work')]
  const env = {
    ...machine.env,
    ...Object.fromEntries(homeVariables.map((name) => [name, undefined])),
    ...{ HOME: home, USERPROFILE: home, PWD: cwd, OLDPWD: undefined },
    ...pingEnv,
  }
  const asked = { args: pingArgs('ping', version), env, tempFolder: folder }
  const run = pointClient(session, { client, ...chosen }, access, { asked })

  const result = await inFolder(session.platform, folder, run.files ?? {}, () => {
    for (const path of [home, cwd]) files.mkdir(path, 0o700)
    const own = { env: run.env, ownVariable: runKeyVariable }
    const options = { timeoutMs: tryTimeoutMs, cwd, ...own }
    const running = processes.run(program, run.args, options)
    return session.step(`Asking ${client.label} itself for one word`, running)
  })
  try {
    answerOf(session, client, result)
  } catch (error) {
    if (!(error instanceof UserError) || error.code === 'cancelled') throw error
    throw refused(refusal, {
      also: error.message,
      hint: "Ask the gateway's operator which clients it admits.",
    })
  }
}

function refused(
  { code, message, cause }: UserError,
  { also, hint }: { readonly also?: string; readonly hint: string },
): UserError {
  const whole = also === undefined ? message : `${message}. ${also}`
  return new UserError({ code, message: whole, hint, cause })
}
