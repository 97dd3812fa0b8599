import { UserError } from '../errors.ts'
import { whyNoRecords } from '../transaction/check-planned-files.ts'
import { recoverAndListRuns } from './client-state/recorded-runs.ts'
import { noFlags } from './command-line/flags.ts'
import type { Session } from './screen/session.ts'
import { setUpChosenClients } from './setup/choose-clients.ts'

/**
 * `repoint` without a command: asks for the gateway, then which clients should use it, and sets them up
 * in one run. Without a terminal it prints the help and returns status 2.
 */
export async function guided(session: Session, showHelp: () => void): Promise<number> {
  if (session.isJson)
    throw new UserError({
      code: 'usage',
      message: 'No command was given',
      hint: 'Name one, for example: repoint codex --json. `repoint --help` lists them.',
    })
  if (!session.canAsk) {
    showHelp()
    return 2
  }

  session.say(
    'repoint points coding clients at your model gateway. Nothing changes until you say yes; `repoint rollback` undoes it.',
  )

  const runs = recoverAndListRuns(session)
  const unrecordable = whyNoRecords(session.platform)
  if (unrecordable !== undefined) throw unrecordable

  const preset = { offersGateways: true }
  await setUpChosenClients(session, { command: 'setup', preset, flags: noFlags, runs })
  return 0
}
