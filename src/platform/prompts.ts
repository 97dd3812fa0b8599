import { UserError } from '../errors.ts'
import type { Ask, AskChoice } from './platform.ts'

/** The questions of `Ask` on a real terminal. The prompt library is loaded with the first question. */
export const terminalAsk: Ask = {
  input: ({ message, default: preset, validate }) =>
    question(({ input }) =>
      input(
        {
          message,
          ...(preset === undefined ? {} : { default: preset }),
          ...(validate ? { validate } : {}),
        },
        context(),
      ),
    ),

  secret: ({ message, validate }) =>
    question(async ({ password }) => {
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
        await password({ message, toggleMask: false, validate: check }, context())
        return answer
      } finally {
        pasted.stop()
      }
    }),

  confirm: ({ message, default: preset }) =>
    question(({ confirm }) => confirm({ message, default: preset }, context())),

  search: ({ message, choices }) =>
    question(({ search }) =>
      search({ message, source: (term) => matching(choices, term ?? '') }, context()),
    ),

  checkbox: ({ message, choices, validate }) =>
    question(({ checkbox }) =>
      checkbox(
        {
          message,
          choices: choices.map(asShown),
          ...(validate ? { validate: (chosen) => validate(chosen.map(({ value }) => value)) } : {}),
        },
        context(),
      ),
    ),
}

/** A paste may come in several pieces, this far apart at most, in ms. */
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

type Prompts = typeof import('@inquirer/prompts')

async function question<T>(ask: (prompts: Prompts) => Promise<T>): Promise<T> {
  try {
    return await ask(await import('@inquirer/prompts'))
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
  return choices.filter((choice) => choice.name.toLowerCase().includes(wanted)).map(asShown)
}

function asShown({ value, name, description, short, checked }: AskChoice) {
  return {
    value,
    name,
    ...(description === undefined ? {} : { description }),
    ...(short === undefined ? {} : { short }),
    ...(checked === undefined ? {} : { checked }),
  }
}
