import { fstatSync, writeSync } from 'node:fs'
import type { Ask, Terminal } from './platform.ts'
import type { PromptTerminal } from './prompts.ts'

/** The width if there is no terminal, or if the terminal does not report its width. */
const defaultColumns = 80

/** The terminal of this process. Its properties are looked up when they are used. */
export function nodeTerminal(): Terminal {
  const out = createWriter(1)

  return {
    get canAsk() {
      return isTerminal(2) && isTerminal(0)
    },
    get stdoutIsTerminal() {
      return isTerminal(1)
    },
    get stderrIsTerminal() {
      return isTerminal(2)
    },
    get columns() {
      if (isTerminal(1)) return process.stdout.columns || defaultColumns
      if (isTerminal(2)) return process.stderr.columns || defaultColumns
      return defaultColumns
    },
    get outFailure() {
      return out.failure()
    },
    out: out.write,
    err: createWriter(2).write,
    readStdin,
  }
}

/** Files and pipes are detected without `node:tty`, which takes 3 ms to load (Node 20.20, 2026-11-21). */
function isTerminal(handle: 0 | 1 | 2): boolean {
  try {
    if (process.platform !== 'win32' && !fstatSync(handle).isCharacterDevice()) return false
  } catch {
    return false
  }
  return process.getBuiltinModule('node:tty').isatty(handle)
}

/**
 * Creates a writer for standard output or error. On a terminal and on Windows it uses Node's stream.
 * Files and pipes are written synchronously, as Node does, but without loading its streams.
 */
function createWriter(handle: 1 | 2): {
  write: (text: string) => void
  failure: () => string | undefined
} {
  let stream: NodeJS.WriteStream | undefined
  let failure: string | undefined
  const recordFailure = ({ code, message }: NodeJS.ErrnoException) => {
    failure ??= code ?? message
  }

  return {
    failure: () => failure,
    write: (text) => {
      if (failure !== undefined) return
      if (stream === undefined && process.platform !== 'win32' && !isTerminal(handle)) {
        try {
          writeSynchronously(handle, Buffer.from(text))
        } catch (error) {
          recordFailure(error as NodeJS.ErrnoException)
        }
        return
      }

      stream ??= (handle === 1 ? process.stdout : process.stderr).on('error', recordFailure)
      stream.write(text)
    },
  }
}

/** How long to wait for the reader of a full pipe before the next attempt, in ms. */
const fullPipeWaitMs = 5

/** Waits if a pipe is full. @throws Node's own error for anything else */
function writeSynchronously(handle: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length; ) {
    try {
      done += writeSync(handle, bytes, done)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, fullPipeWaitMs)
    }
  }
}

async function readStdin(maxBytes: number): Promise<Uint8Array> {
  const pieces: Uint8Array[] = []
  let length = 0
  for await (const piece of process.stdin as AsyncIterable<Uint8Array>) {
    length += piece.length
    if (length > maxBytes) throw new RangeError(`standard input is longer than ${maxBytes} bytes`)
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}

/** Input ends after a pause of this many ms, because a paste arrives in pieces. */
const pasteEndMs = 30

/** The byte that a terminal in raw mode sends for Ctrl-C. */
const ctrlC = 0x03

/** The questions on a terminal: the one of this process, or a test's. */
export function terminalAsk(terminal: PromptTerminal = process): Ask {
  let isHeld = false
  let lastTyped = 0

  const discardInput = (typed: Buffer) => {
    lastTyped = performance.now()
    if (typed.includes(ctrlC)) process.kill(process.pid, 'SIGINT')
  }
  const start = () => terminal.stdin.setRawMode(true).on('data', discardInput)
  const stop = () => terminal.stdin.off('data', discardInput).pause()

  /** Discards what was typed before the question, then lets the prompt read the terminal. */
  async function question<T>(answer: (prompts: typeof import('./prompts.ts')) => Promise<T>) {
    const prompts = await import('./prompts.ts')
    if (!isHeld) return answer(prompts)

    // At least once, because nothing is read while our code loads.
    do {
      await new Promise((settle) => setTimeout(settle, pasteEndMs))
    } while (performance.now() - lastTyped < pasteEndMs)
    stop()

    try {
      return await answer(prompts)
    } finally {
      start()
    }
  }

  return {
    discardTyping() {
      if (isHeld || !terminal.stdin.isTTY) return
      isHeld = true
      start()
    },
    acceptTyping() {
      if (!isHeld) return
      isHeld = false
      stop().setRawMode(false)
    },
    input: (options) =>
      askUntilAccepted(() => question(({ askInput }) => askInput(options, terminal))),
    secret: (options) =>
      askUntilAccepted(() => question(({ askSecret }) => askSecret(options, terminal))),
    confirm: (options) => question(({ askConfirm }) => askConfirm(options, terminal)),
    search: (options) =>
      askUntilAccepted(() => question(({ askSearch }) => askSearch(options, terminal))),
    checkbox: (options) => question(({ askCheckbox }) => askCheckbox(options, terminal)),
  }
}

/** Repeats a question until its answer is accepted. Each attempt starts with an empty answer. */
async function askUntilAccepted(ask: () => Promise<string | undefined>): Promise<string> {
  for (;;) {
    const answer = await ask()
    if (answer !== undefined) return answer
  }
}
