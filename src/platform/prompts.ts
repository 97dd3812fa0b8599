import { checkbox, confirm, input, password, search } from '@inquirer/prompts'
import { compact } from '../compact.ts'
import { UserError } from '../errors.ts'
import { dots, maskSecret } from '../text.ts'
import type { Ask, AskChoice, ConfirmQuestion } from './platform.ts'

type CheckboxQuestion = Parameters<Ask['checkbox']>[0]

type AnswerCheck = (answer: string) => true | string

/** One answer of a person; `undefined`: it was refused, and the terminal says why. */
export type TypedAnswer = Promise<string | undefined>

export function askInput({
  message,
  default: preset,
  validate,
}: Parameters<Ask['input']>[0]): TypedAnswer {
  return unlessRefused(validate, (check, { signal }) =>
    input(
      {
        message,
        transformer: withoutKey,
        validate: check,
        ...compact({ default: preset }),
      },
      { ...context(), signal },
    ),
  )
}

/** A key that was pasted into the wrong question is not shown either. */
function withoutKey(text: string): string {
  return /^\s*(?:sk|pk)-/.test(text) ? dots : text
}

export async function askSecret({ message, validate }: Parameters<Ask['secret']>[0]): TypedAnswer {
  const pasted = watchPaste()
  let answer = ''

  try {
    const given = await unlessRefused(validate, (check, { signal }) => {
      const checkWhole = async (text: string) => {
        answer = await pasted.whole(text)
        return check(answer)
      }
      // A mask of the prompt's own would show how long the key is.
      const style = {
        help: () => (pasted.hasBegun() ? '********' : ''),
        answer: () => maskSecret(answer),
      }
      // Without toggleMask: false, Ctrl-T shows the key in clear (@inquirer/prompts 8.7.5).
      const question = { message, toggleMask: false, validate: checkWhole, theme: { style } }
      return password(question, { ...context(), signal })
    })
    return given === undefined ? undefined : answer
  } finally {
    pasted.stop()
  }
}

/**
 * Ends a prompt with the first answer that is refused. A prompt that went on would put the refused text,
 * unseen in a password, before what is typed next (@inquirer/password 5.2.5, @inquirer/input 5.1.9).
 */
async function unlessRefused(
  validate: AnswerCheck = () => true,
  ask: (check: AnswerCheck, refused: AbortController) => Promise<string>,
): TypedAnswer {
  const refused = new AbortController()
  const check: AnswerCheck = (answer) => {
    const verdict = validate(answer)
    // The prompt says first why.
    if (verdict !== true) setImmediate(() => refused.abort())
    return verdict
  }

  try {
    return await orCancelled(ask(check, refused))
  } catch (error) {
    if (refused.signal.aborted) return undefined
    throw error
  }
}

export async function askConfirm(question: ConfirmQuestion): Promise<boolean> {
  const { message, default: preset, showDetails } = question
  if (showDetails === undefined)
    return orCancelled(confirm({ message, default: preset }, context()))

  for (;;) {
    const answer = await askLetter(message, preset)
    if (answer === 'd') showDetails()
    else if (answer !== undefined) return answer === 'y'
  }
}

/** Which of y, n and d a person types; undefined: none of them. */
async function askLetter(message: string, preset: boolean): Promise<string | undefined> {
  const letterOf = (text: string) => (text.trim().toLowerCase() || (preset ? 'y' : 'n')).charAt(0)
  const words: Record<string, string> = { y: 'Yes', n: 'No', d: 'Details' }

  const answer = await unlessRefused(
    (text) => /^(?:y|yes|n|no|d|details)?$/i.test(text.trim()) || 'Type y, n or d.',
    (validate, { signal }) =>
      input(
        {
          message: `${message} (${preset ? 'Y/n' : 'y/N'}, d shows every key)`,
          transformer: (text, { isFinal }) => (isFinal ? words[letterOf(text)]! : withoutKey(text)),
          validate,
        },
        { ...context(), signal },
      ),
  )

  return answer === undefined ? undefined : letterOf(answer)
}

export const askSearch: Ask['search'] = ({ message, choices }) =>
  orCancelled(search({ message, source: (term) => matching(choices, term ?? '') }, context()))

/** Of a list: the question, the help below it, an error. */
const linesAround = 4

export async function askCheckbox(question: CheckboxQuestion): Promise<string[]> {
  let shown = new AbortController()
  let isTouched = false
  const touch = () => {
    isTouched = true
  }
  const redraw = () => {
    if (!isTouched) shown.abort()
  }

  process.stdin.prependListener('data', touch)
  for (const update of question.updates ?? []) void update.then(redraw, redraw)

  try {
    for (;;) {
      const chosen = await checkboxUntil(question, shown.signal)
      if (chosen !== undefined) return chosen
      shown = new AbortController()
    }
  } finally {
    process.stdin.off('data', touch)
  }
}

/** Undefined: its choices are outdated. */
async function checkboxUntil(
  { message, choices, updates, validate = () => true }: CheckboxQuestion,
  outdated: AbortSignal,
): Promise<string[] | undefined> {
  const now = choices()

  const asked = checkbox(
    {
      message,
      choices: now.map(compact),
      pageSize: Math.max(7, Math.min(now.length, process.stdout.rows - linesAround)),
      // A key for all would tick two setups of the same files.
      shortcuts: { all: null, invert: null },
      validate: (chosen) => validate(chosen.map(({ value }) => value)),
    },
    { ...context(), signal: outdated, clearPromptOnDone: updates !== undefined },
  )

  try {
    return await orCancelled(asked)
  } catch (error) {
    if (outdated.aborted) return undefined
    throw error
  }
}

/** How far apart the pieces of a paste may come, in ms. */
const pasteGapMs = 30

/**
 * What comes behind the first line of a paste. To the prompt a line break is the Enter key: it would
 * take half of a key that was copied with one in it, and drop the rest.
 */
function watchPaste() {
  let rest = ''
  let hasBegun = false
  const take = (piece: Buffer) => {
    hasBegun = true
    const text = piece.toString()
    const lineBreak = text.search(/[\r\n]/)
    if (rest !== '') rest += text
    else if (lineBreak !== -1) rest = text.slice(lineBreak)
  }

  // Before the prompt's own listener: what that draws is already about these keys.
  process.stdin.prependListener('data', take)

  return {
    /** Whether anything has arrived. */
    hasBegun: () => hasBegun,
    /** The answer with all that was pasted behind it; a line break at its end is the Enter key. */
    async whole(text: string) {
      await new Promise((resolve) => setTimeout(resolve, pasteGapMs))
      return text + rest.trimEnd()
    },
    stop() {
      process.stdin.off('data', take)
    },
  }
}

async function orCancelled<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof Error && /^(Exit|Abort|Cancel)PromptError$/.test(error.name))
      throw new UserError({ code: 'cancelled', message: 'Cancelled', cause: error })
    throw error
  }
}

function context() {
  return { output: process.stderr }
}

function matching(choices: readonly AskChoice[], term: string) {
  const wanted = term.toLowerCase()
  return choices.filter((choice) => choice.name.toLowerCase().includes(wanted)).map(compact)
}
