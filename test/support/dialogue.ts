import { expect } from 'vitest'
import { keys, type TerminalRun } from './terminal.ts'

/** Waits for a question, types the answer, and presses Enter. */
export async function answer(
  run: TerminalRun,
  question: string | RegExp,
  text = '',
): Promise<void> {
  await run.shows(question)
  run.type(`${text}${keys.enter}`)
}

/** Accepts what the command would change, with which it ends. */
export async function accept(run: TerminalRun): Promise<void> {
  await answer(run, 'Apply?')
  expect(await run.ended).toBe(0)
}

/** Presses Ctrl-C, with which the command ends. */
export async function cancel(run: TerminalRun): Promise<void> {
  run.type(keys.ctrlC)
  expect(await run.ended).toBe(130)
}
