import { Command, Option } from '@commander-js/extra-typings'
import { UserError } from '../errors.ts'
import { applyForget, type ForgetPlan, planForget } from '../transaction/forget.ts'
import { type CommandFile, examples, positiveInteger } from './command.ts'
import { settleFirst } from './inventory/history.ts'
import type { Session } from './screen/session.ts'

export interface ForgetRequest {
  readonly olderThanDays?: number | undefined
  readonly all: boolean
  readonly isDryRun: boolean
  readonly yes: boolean
}

export const command: CommandFile<ForgetRequest> = {
  run: forget,
  define: (run) =>
    new Command('forget')
      .description('remove recorded runs with their copies of old files, and so their undo')
      .addOption(
        new Option('--older-than <days>', 'the runs from before so many days')
          .argParser(positiveInteger('days'))
          .conflicts('all'),
      )
      .option('--all', 'every run')
      .option('--dry-run', 'show what would be forgotten')
      .option('--yes', 'accept everything that would be asked')
      .option('--json', 'print one JSON document')
      .addHelpText('after', examples(['repoint forget --older-than 90', 'repoint forget --all']))
      .action((flags) =>
        run({
          olderThanDays: flags.olderThan,
          all: flags.all === true,
          isDryRun: flags.dryRun === true,
          yes: flags.yes === true,
        }),
      ),
}

const dayMs = 24 * 60 * 60_000

/** Forgets runs. Returns the exit status. */
export async function forget(session: Session, request: ForgetRequest): Promise<number> {
  const { platform } = session
  const { olderThanDays, all, isDryRun } = request
  if (!all && olderThanDays === undefined)
    throw new UserError({
      code: 'usage',
      message: 'Which runs are to be forgotten is not said',
      hint: 'repoint forget --older-than 90, or --all. `repoint rollback --list` shows them.',
    })

  settleFirst(session)
  const before =
    olderThanDays === undefined
      ? undefined
      : new Date(platform.clock.now().getTime() - olderThanDays * dayMs)
  const plan = planForget(platform, before)
  const isNothing = plan.runs.length === 0 && plan.damaged.length === 0
  showForgotten(session, plan)

  if (!isNothing && !isDryRun) {
    await session.agree(
      session.consent(request.yes),
      { message: 'Forget them? The files of your clients stay as they are.', default: false },
      {
        message: 'There is no terminal to ask whether to forget these runs',
        hint: 'Add --yes to accept, or --dry-run to see what goes.',
      },
    )
    applyForget(platform, plan)
    session.say('Forgotten.')
  } else session.say(isNothing ? 'There is nothing to forget.' : 'Dry run: nothing was changed.')
  session.document({
    command: 'forget',
    ...(isDryRun ? { dryRun: true } : {}),
    changed: !isNothing && !isDryRun,
    runs: plan.runs.map(({ id }) => id),
    damaged: plan.damaged,
    originals: plan.originals,
    warnings: session.notices,
  })
  return 0
}

function showForgotten(session: Session, { runs, damaged, originals }: ForgetPlan): void {
  for (const { id, command: word, clients, baseUrl } of runs)
    session.say(`Run ${id} can no longer be undone: ${word} (${clients.join(', ')}), ${baseUrl}`)
  for (const path of damaged)
    session.say(`${session.showPath(path)} goes, a record that cannot be read`)
  for (const path of originals)
    session.say(`! ${session.showPath(path)} as it was before these runs cannot be brought back`)
}
