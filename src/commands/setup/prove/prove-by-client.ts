/**
 * A part of step 4: proof by the installed client itself, if the gateway rejects repoint's own request.
 *
 * In: a client's choice and the rejection. Out: nothing. If the client fails too, it throws.
 */
import { join } from 'node:path'
import { launchKeyVariable } from '../../../clients/contract/program.ts'
import { canContinueAfter, type UserError } from '../../../errors.ts'
import type { GatewayAccess } from '../../../gateway/types.ts'
import { installedVersion, isInstalled } from '../../client-state/program/installed-program.ts'
import { inTempFolder, newTempPath } from '../../client-state/program/temp-folder.ts'
import { answerOf, tryTimeoutMs } from '../../client-state/program/try-client.ts'
import type { ResolvedChoice } from '../../resolve/client-choice.ts'
import { pointClient } from '../../resolve/point-client.ts'
import type { Session } from '../../screen/session.ts'

/** Folders that programs use instead of the home, if these variables are set. */
const homeVariables = ['XDG_CONFIG_HOME', 'XDG_DATA_HOME', 'XDG_STATE_HOME', 'XDG_CACHE_HOME']

/**
 * Asks the installed client for one word, because the gateway admits certain clients only. It starts as
 * `repoint run` starts it, in a temporary folder with a temporary home, and writes none of the user's
 * files.
 *
 * @param rejection why the gateway rejected repoint's own request
 * @throws UserError `rejection`, with the client's own error, or with the reason why it cannot be started
 */
export async function proveByClient(
  session: Session,
  access: GatewayAccess,
  choice: ResolvedChoice,
  rejection: UserError,
): Promise<void> {
  const { client } = choice
  const { processes, files, machine } = session.platform
  const { pingArgs, pingEnv, command } = client.program
  const program = processes.which(command)
  if (program === undefined || client.launchSettings === 'impossible')
    throw rejection.with({
      hint: isInstalled(session, client)
        ? `repoint cannot start ${client.label} for one word. Ask the gateway's operator.`
        : `Install ${client.label}, then run the command again.`,
    })

  const { version } = await installedVersion(session, client, 'launch')
  const folder = newTempPath(session.platform)
  const [home, cwd] = [join(folder, 'home'), join(folder, 'work')]
  const env = {
    ...machine.env,
    ...Object.fromEntries(homeVariables.map((name) => [name, undefined])),
    HOME: home,
    USERPROFILE: home,
    PWD: cwd,
    OLDPWD: undefined,
    ...pingEnv,
  }
  const launch = pointClient(session, choice, access, {
    process: { args: pingArgs('ping', version), env, tempFolder: folder },
    safeguards: 'not-requested',
  })

  const result = await inTempFolder(session.platform, folder, launch.files ?? {}, () => {
    for (const path of [home, cwd]) files.mkdir(path, 0o700)
    const finished = processes.run(program, launch.args, {
      timeoutMs: tryTimeoutMs,
      cwd,
      env: launch.env,
      ownVariable: launchKeyVariable,
    })
    return session.step(`Asking ${client.label} itself for one word`, finished)
  })
  try {
    answerOf(session, client, result)
  } catch (error) {
    if (!canContinueAfter(error)) throw error
    throw rejection.with({
      message: `${rejection.message}. ${error.message}`,
      hint: "Ask the gateway's operator which clients it admits.",
    })
  }
}
