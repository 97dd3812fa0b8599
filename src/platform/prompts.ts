import { checkbox, confirm, input, password, search } from '@inquirer/prompts'
import { compact } from '../compact.ts'
import { UserError } from '../errors.ts'
import { dots } from '../text.ts'
import type { Ask, AskChoice } from './platform.ts'

export const askInput: Ask['input'] = ({ message, default: preset, validate }) =>
  orCancelled(
    input(
      {
        message,
        // A key that was pasted into the wrong question is not shown either.
        transformer: (text) => (/^\s*(?:sk|pk)-/.test(text) ? dots : text),
        ...compact({ default: preset, validate }),
      },
      context(),
    ),
  )

export const askSecret: Ask['secret'] = async ({ message, validate }) => {
  const pasted = watchPaste()
  let answer = ''
  const check = async (text: string) => {
    answer = await pasted.whole(text)
    const verdict = validate?.(answer) ?? true
    if (verdict !== true) pasted.forget()
    return verdict
  }

  try {
    // Without toggleMask: false, Ctrl-T shows the key in clear (@inquirer/prompts 8.7.5).
    await orCancelled(password({ message, toggleMask: false, validate: check }, context()))
    return answer
  } finally {
    pasted.stop()
  }
}

export const askConfirm: Ask['confirm'] = (question) => orCancelled(confirm(question, context()))

export const askSearch: Ask['search'] = ({ message, choices }) =>
  orCancelled(search({ message, source: (term) => matching(choices, term ?? '') }, context()))

/** Of a list: the question, the help below it, an error. */
const linesAround = 4

export const askCheckbox: Ask['checkbox'] = ({ message, choices, validate = () => true }) =>
  orCancelled(
    checkbox(
      {
        message,
        choices: choices.map(compact),
        pageSize: Math.max(7, Math.min(choices.length, process.stdout.rows - linesAround)),
        // A key for all would tick two setups of the same files.
        shortcuts: { all: null, invert: null },
        validate: (chosen) => validate(chosen.map(({ value }) => value)),
      },
      context(),
    ),
  )

/** How far apart the pieces of a paste may come, in ms. */
const pasteGapMs = 30

/**
 * What comes behind the first line of a paste. To the prompt a line break is the Enter key: it would
 * take half of a key that was copied with one in it, and drop the rest.
 */
function watchPaste() {
  let rest = ''
  const take = (piece: Buffer) => {
    const text = piece.toString()
    const lineBreak = text.search(/[\r\n]/)
    if (rest !== '') rest += text
    else if (lineBreak !== -1) rest = text.slice(lineBreak)
  }
  process.stdin.on('data', take)

  return {
    /** The answer with all that was pasted behind it; a line break at its end is the Enter key. */
    async whole(text: string) {
      await new Promise((resolve) => setTimeout(resolve, pasteGapMs))
      return text + rest.trimEnd()
    },
    forget() {
      rest = ''
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
