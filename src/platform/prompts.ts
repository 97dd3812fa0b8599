import { styleText } from 'node:util'
import { checkbox, confirm, input, password, search } from '@inquirer/prompts'
import { compact } from '../compact.ts'
import { UserError } from '../errors.ts'
import {
  beginsLikeKey,
  isUtf8,
  looksLikeAddress,
  maskSecret,
  minWrapColumns,
  secretMask,
  wrapWords,
} from '../text.ts'
import type { Ask, AskChoice, ConfirmQuestion } from './platform.ts'

/** The terminal that shows the questions: `process`, or a test's. */
export interface PromptTerminal {
  readonly stdin: NodeJS.ReadableStream & {
    readonly isTTY?: boolean
    setRawMode(isRaw: boolean): NodeJS.ReadableStream
  }
  readonly stdout: { readonly rows: number }
  readonly stderr: NodeJS.WritableStream & { readonly columns?: number }
  /** Absent: a terminal that shows more than ASCII. */
  readonly env?: Readonly<Record<string, string | undefined>>
}

type CheckboxQuestion = Parameters<Ask['checkbox']>[0]

type SearchQuestion = Parameters<Ask['search']>[0]

type AnswerCheck = (answer: string) => true | string

/** An answer. Undefined if it was rejected, and the terminal shows why. */
type TypedAnswer = Promise<string | undefined>

export function askInput(
  { message, default: defaultAnswer, validate }: Parameters<Ask['input']>[0],
  terminal: PromptTerminal,
): TypedAnswer {
  return askOnce(validate, (check, { signal }) =>
    input(
      {
        message: fitMessage(message, terminal),
        transformer: hidePastedKey,
        validate: check,
        default: defaultAnswer,
        theme: signsFor(terminal),
      },
      { ...contextOn(terminal), signal },
    ),
  )
}

/** Hides a key that the user pasted into the wrong question. */
function hidePastedKey(text: string): string {
  return beginsLikeKey(text.trim()) ? secretMask : text
}

export async function askSecret(
  { message, validate }: Parameters<Ask['secret']>[0],
  terminal: PromptTerminal,
): TypedAnswer {
  const paste = watchPaste(terminal)
  const shown = fitMessage(message, terminal)
  let answer = ''

  try {
    const result = await askOnce(validate, (check, { signal }) => {
      const checkWhole = async (text: string) => {
        answer = await paste.wholeAnswer(text)
        return check(answer)
      }
      // The prompt's own mask would show the length of the key.
      const style = {
        help: () => (paste.hasBegun() ? '********' : ''),
        answer: () => maskSecret(answer.trim()),
      }
      // Without toggleMask: false, Ctrl-T shows the key in clear (@inquirer/prompts 8.7.5).
      const theme = { ...signsFor(terminal), style }
      return password(
        { message: shown, toggleMask: false, validate: checkWhole, theme },
        { ...contextOn(terminal), signal },
      )
    })
    return result === undefined ? undefined : answer
  } finally {
    paste.stop()
  }
}

/**
 * Ends a prompt at the first rejected answer. Otherwise the prompt would keep the rejected text, which
 * is invisible in a password, and append the next input to it (@inquirer/password 5.2.5,
 * @inquirer/input 5.1.9).
 */
async function askOnce(
  validate: AnswerCheck = () => true,
  ask: (check: AnswerCheck, rejection: AbortController) => Promise<string>,
): TypedAnswer {
  const rejection = new AbortController()
  const check: AnswerCheck = (answer) => {
    const verdict = validate(answer)
    // The prompt shows the reason first.
    if (verdict !== true) setImmediate(() => rejection.abort())
    return verdict
  }

  try {
    return await withCancelError(ask(check, rejection))
  } catch (error) {
    if (rejection.signal.aborted) return undefined
    throw error
  }
}

export async function askConfirm(
  question: ConfirmQuestion,
  terminal: PromptTerminal,
): Promise<boolean> {
  const { default: defaultAnswer, showDetails } = question
  const message = fitMessage(question.message, terminal)
  if (showDetails === undefined)
    return withCancelError(
      confirm({ message, default: defaultAnswer, theme: signsFor(terminal) }, contextOn(terminal)),
    )

  for (;;) {
    const answer = await askLetter(message, defaultAnswer, terminal)
    if (answer === 'd') showDetails()
    else if (answer !== undefined) return answer === 'y'
  }
}

/** Asks for y, n or d. Undefined if the answer was rejected. */
async function askLetter(
  message: string,
  defaultAnswer: boolean,
  terminal: PromptTerminal,
): Promise<string | undefined> {
  const firstLetter = (text: string) =>
    (text.trim().toLowerCase() || (defaultAnswer ? 'y' : 'n')).charAt(0)
  const words: Record<string, string> = { y: 'Yes', n: 'No', d: 'Details' }

  const answer = await askOnce(
    (text) => /^(?:y|yes|n|no|d|details)?$/i.test(text.trim()) || 'Type y, n or d.',
    (validate, { signal }) =>
      input(
        {
          message: `${message} (${defaultAnswer ? 'Y/n' : 'y/N'}, d shows every line)`,
          transformer: (text, { isFinal }) =>
            isFinal ? words[firstLetter(text)]! : hidePastedKey(text),
          validate,
          theme: signsFor(terminal),
        },
        { ...contextOn(terminal), signal },
      ),
  )

  return answer === undefined ? undefined : firstLetter(answer)
}

export function askSearch(
  { message, choices, validateOther }: SearchQuestion,
  terminal: PromptTerminal,
): TypedAnswer {
  const isListed = (answer: string) => choices.some(({ value }) => value === answer)
  // The prompt ignores an Enter that comes in one piece with the text before it, because its list is not ready
  // (@inquirer/search 4.3.6). A key that the user types next would be added to the address, in clear.
  let isOpen = true
  let isEnterLast = false
  const repeatEnter = (_text: string, { name }: { readonly name?: string }) => {
    isEnterLast = name === 'return'
    if (isEnterLast) setImmediate(() => setImmediate(pressIfIgnored))
  }
  const pressIfIgnored = () => {
    if (!isOpen || !isEnterLast) return
    terminal.stdin.off('keypress', repeatEnter)
    terminal.stdin.emit('keypress', '\r', { name: 'return' })
    terminal.stdin.on('keypress', repeatEnter)
  }
  const validateTyped = (answer: string) =>
    isListed(answer) || validateOther === undefined || validateOther(answer)
  const source = (term = '') => {
    const matches = filterChoices(choices, term)
    const typed = term.trim()
    if (validateOther === undefined || typed === '') return matches

    // The prompt shows a problem only next to a choice with the typed text as its name.
    const typedChoice = { value: typed, name: term }
    if (beginsLikeKey(term.trim())) return [typedChoice]
    if (isListed(typed)) return matches
    return looksLikeAddress(typed) ? [typedChoice, ...matches] : [...matches, typedChoice]
  }

  let listedCount = 0
  const countedSource = (term?: string) => {
    const listed = source(term)
    listedCount = listed.length
    return listed
  }
  const usableKeys = (keys: [key: string, action: string][]) =>
    listedCount > 1 ? keysHelp(keys, terminal) : undefined

  terminal.stdin.on('keypress', repeatEnter)
  const answer = askOnce(validateTyped, (validate, { signal }) => {
    const theme = {
      ...signsFor(terminal),
      style: { searchTerm: hidePastedKey, highlight: hideKeyInChoice, keysHelpTip: usableKeys },
    }
    return search(
      { message: fitMessage(message, terminal), source: countedSource, validate, theme },
      { ...contextOn(terminal), signal },
    )
  })
  return answer.finally(() => {
    isOpen = false
    terminal.stdin.off('keypress', repeatEnter)
  })
}

/** As the prompt shows them. */
function keysHelp(
  keys: readonly (readonly [key: string, action: string])[],
  terminal: PromptTerminal,
): string {
  const names = showsMoreThanAscii(terminal)
    ? { bullet: '•' }
    : { bullet: '|', '↑↓': 'up/down', '⏎': 'enter' }
  const nameOf = (key: string) => (names as Record<string, string>)[key] ?? key
  const shown = keys.map(
    ([key, action]) => `${styleText('bold', nameOf(key))} ${styleText('dim', action)}`,
  )
  return shown.join(styleText('dim', ` ${names.bullet} `))
}

function showsMoreThanAscii({ env }: PromptTerminal): boolean {
  return env === undefined || isUtf8(env)
}

/** The signs of a prompt on a terminal that shows only ASCII. Undefined: the prompt's own. */
function signsFor(terminal: PromptTerminal) {
  if (showsMoreThanAscii(terminal)) return undefined
  return {
    prefix: { idle: styleText('blue', '?'), done: styleText('green', 'v') },
    icon: { cursor: '>', checked: '[x]', unchecked: '[ ]' },
  }
}

function hideKeyInChoice(line: string): string {
  const [cursor = '', ...words] = line.split(' ')
  return styleText('cyan', `${cursor} ${hidePastedKey(words.join(' '))}`)
}

/** The lines around a list: the question, the help and an error. */
const linesAroundList = 4

export async function askCheckbox(
  question: CheckboxQuestion,
  terminal: PromptTerminal,
): Promise<string[]> {
  let outdated = new AbortController()
  let isTouched = false
  const touch = () => {
    isTouched = true
  }
  const redraw = () => {
    if (!isTouched) outdated.abort()
  }

  terminal.stdin.prependListener('data', touch)
  for (const update of question.updates ?? []) void update.then(redraw, redraw)

  try {
    for (;;) {
      const chosen = await checkboxUntil(question, terminal, outdated.signal)
      if (chosen !== undefined) return chosen
      outdated = new AbortController()
    }
  } finally {
    terminal.stdin.off('data', touch)
  }
}

/** @returns undefined if the choices became outdated */
async function checkboxUntil(
  { message, choices, updates, validate = () => true }: CheckboxQuestion,
  terminal: PromptTerminal,
  outdated: AbortSignal,
): Promise<string[] | undefined> {
  const currentChoices = choices()
  const lineCount = currentChoices.flatMap(({ name }) => name.split('\n')).length

  const keysHelpTip = (keys: [key: string, action: string][]) => keysHelp(keys, terminal)
  const prompt = checkbox(
    {
      message: fitMessage(message, terminal),
      choices: currentChoices.map(compact),
      pageSize: Math.max(7, Math.min(lineCount, terminal.stdout.rows - linesAroundList)),
      // Selecting all at once would select two setups of the same files.
      shortcuts: { all: null, invert: null },
      validate: (chosen) => validate(chosen.map(({ value }) => value)),
      theme: { ...signsFor(terminal), style: { keysHelpTip } },
    },
    { ...contextOn(terminal), signal: outdated, clearPromptOnDone: updates !== undefined },
  )

  try {
    return await withCancelError(prompt)
  } catch (error) {
    if (outdated.aborted) return undefined
    throw error
  }
}

/** The longest pause between the pieces of a paste, in ms. */
const pasteGapMs = 30

/**
 * Collects the input after the first line break of a paste. The prompt treats a line break as the Enter
 * key: if a key was copied with a line break in it, the prompt would drop the second half.
 */
function watchPaste({ stdin }: PromptTerminal) {
  let afterLineBreak = ''
  let hasBegun = false

  const onData = (piece: Buffer) => {
    hasBegun = true
    const text = piece.toString()
    const lineBreak = text.search(/[\r\n]/)
    if (afterLineBreak !== '') afterLineBreak += text
    else if (lineBreak !== -1) afterLineBreak = text.slice(lineBreak)
  }

  // Before the prompt's own listener, which already draws the effect of these keys.
  stdin.prependListener('data', onData)

  return {
    /** Whether any input has arrived. */
    hasBegun: () => hasBegun,
    /** The answer with the text after its line break. A line break at the end is the Enter key. */
    async wholeAnswer(text: string) {
      await new Promise((resolve) => setTimeout(resolve, pasteGapMs))
      return text + afterLineBreak.trimEnd()
    },
    stop() {
      stdin.off('data', onData)
    },
  }
}

async function withCancelError<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof Error && /^(Exit|Abort|Cancel)PromptError$/.test(error.name))
      throw new UserError({ code: 'cancelled', message: 'Cancelled', cause: error })
    throw error
  }
}

/** The columns of the sign before a question, and of `(Y/n)` after it. */
const aroundMessage = 2 + 7

/** A question with its line breaks between words: the prompt breaks the words themselves (@inquirer/core 12.0.6). */
function fitMessage(message: string, { stderr: { columns = 0 } }: PromptTerminal): string {
  if (columns < minWrapColumns) return message
  return wrapWords(message, columns - aroundMessage).join('\n  ')
}

function contextOn({ stdin, stderr }: PromptTerminal) {
  return { input: stdin, output: stderr }
}

/** The choices that have every typed word. */
function filterChoices(choices: readonly AskChoice[], term: string) {
  const words = term
    .toLowerCase()
    .split(/[\s,]+/)
    .filter(Boolean)
  return choices
    .filter(({ name, keywords = '', isHidden }) => {
      const text = `${name} ${keywords}`.toLowerCase()
      return words.length === 0 ? !isHidden : words.every((word) => text.includes(word))
    })
    .map(compact)
}
