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
    // Without toggleMask: false, Ctrl-T shows the key in clear (@inquirer/prompts 8.7.5).
    question(({ password }) =>
      password({ message, toggleMask: false, ...(validate ? { validate } : {}) }, context()),
    ),

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
