/** The question which run to undo. */
import { counted } from '../../text.ts'
import type { RunRecord, Runs } from '../../transaction/record.ts'
import { type RollbackOptions, undoableRuns } from '../../transaction/rollback.ts'
import type { RollbackContext } from './context.ts'
import { describeRun } from './describe.ts'

/** How many runs the user can choose from. */
const maxChoices = 10

/** The options with the run that the user picks on a terminal. With fewer than two runs, it does not ask. */
export async function withPickedRun(
  { session, runs }: RollbackContext,
  options: RollbackOptions,
): Promise<RollbackOptions> {
  const { platform } = session
  const undoable = undoableRuns(platform, options)
  if (undoable.length < 2) return options

  const now = platform.clock.now()
  const choices = undoable.slice(0, maxChoices).map((run, index) => ({
    value: run.id,
    name: `${describeRun(run, runs, now)}${newerRuns(run, undoable.slice(0, index))}`,
  }))
  const all = { value: 'original', name: 'everything: restore your original files' }
  const picked = await platform.ask.search({
    message: 'What do you want to undo?',
    choices: [...choices, all],
  })

  if (picked === all.value) return { ...options, original: true }
  const isNewest = picked === undoable[0]?.id
  return isNewest ? options : { ...options, run: picked }
}

/** The number of newer runs of the same clients, in words: they are undone together with the run. */
function newerRuns({ files }: RunRecord, newer: Runs): string {
  const clients = files.map(({ client }) => client)
  const isOfSameClient = (run: RunRecord) =>
    run.files.some(({ client }) => clients.includes(client))

  const count = newer.filter(isOfSameClient).length
  return count === 0 ? '' : `, and ${counted(count, 'newer run')}`
}
