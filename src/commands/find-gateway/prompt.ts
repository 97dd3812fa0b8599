import { resultOf, UserError } from '../../errors.ts'
import { wrapLine } from '../screen/drawing.ts'
import type { Session } from '../screen/session.ts'

/** Why an answer is not valid, in the words that the prompt shows. The answer itself can be a secret. */
export function problemAtPrompt(session: Session, check: () => unknown): true | string {
  const problem = resultOf(check)
  if (!(problem instanceof UserError)) return true
  const { message, hintAtPrompt } = problem
  const text = session.forPeople(hintAtPrompt ? `${message}. ${hintAtPrompt}` : message)
  // The prompt puts its own `> ` in front.
  return wrapLine(text, session.platform.terminal.columns - 2).replaceAll('\n', '\n  ')
}
