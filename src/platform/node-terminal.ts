import { fstatSync, writeSync } from 'node:fs'
import type { Ask, Terminal } from './platform.ts'

/** The terminal of this process. What is asked of it is looked up when it is first asked. */
export function nodeTerminal(): Terminal {
  const out = writerTo(1)

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
      const stream = isTerminal(1) ? process.stdout : isTerminal(2) ? process.stderr : undefined
      return stream?.columns || 80
    },
    get outFailure() {
      return out.failure()
    },
    out: out.write,
    err: writerTo(2).write,
    readStdin,
  }
}

/** A file or a pipe is told without `node:tty`, which takes 3 ms to load (Node 20.20, 2026-11-21). */
function isTerminal(handle: 0 | 1 | 2): boolean {
  try {
    if (process.platform !== 'win32' && !fstatSync(handle).isCharacterDevice()) return false
  } catch {
    return false
  }
  return process.getBuiltinModule('node:tty').isatty(handle)
}

/**
 * Node's own stream on a terminal and on Windows. Files and pipes are written to as Node does,
 * synchronously, but without loading its streams.
 */
function writerTo(handle: 1 | 2): {
  write: (text: string) => void
  failure: () => string | undefined
} {
  let stream: NodeJS.WriteStream | undefined
  let failure: string | undefined
  const lose = ({ code, message }: NodeJS.ErrnoException) => {
    failure ??= code ?? message
  }

  return {
    failure: () => failure,
    write: (text) => {
      if (failure !== undefined) return
      if (stream === undefined && process.platform !== 'win32' && !isTerminal(handle)) {
        try {
          writeAll(handle, Buffer.from(text))
        } catch (error) {
          lose(error as NodeJS.ErrnoException)
        }
        return
      }

      stream ??= (handle === 1 ? process.stdout : process.stderr).on('error', lose)
      stream.write(text)
    },
  }
}

/** Wait for the reader of a full pipe, in ms, before it is tried again. */
const fullPipeWaitMs = 5

/** @throws Node's own error, but for a full pipe, which is waited for */
function writeAll(handle: number, bytes: Uint8Array): void {
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

/** What is typed counts as come to an end after this long, in ms: a paste comes in pieces. */
const quietMs = 30

/** As a terminal in raw mode sends Ctrl-C. */
const ctrlC = 0x03

/** The questions on the terminal of this process. */
export function terminalAsk(): Ask {
  let isHeld = false
  let lastTyped = 0

  const swallow = (typed: Buffer) => {
    lastTyped = performance.now()
    if (typed.includes(ctrlC)) process.kill(process.pid, 'SIGINT')
  }
  const start = () => process.stdin.setRawMode(true).on('data', swallow)
  const stop = () => process.stdin.off('data', swallow).pause()

  /** Drops what was typed ahead of the question, and gives it the terminal. */
  async function question<T>(answer: (prompts: typeof import('./prompts.ts')) => Promise<T>) {
    const prompts = await import('./prompts.ts')
    if (!isHeld) return answer(prompts)

    // At least once, since nothing is read while our own code loads.
    do await new Promise((settle) => setTimeout(settle, quietMs))
    while (performance.now() - lastTyped < quietMs)
    stop()
    try {
      return await answer(prompts)
    } finally {
      start()
    }
  }

  return {
    hold() {
      if (isHeld || !process.stdin.isTTY) return
      isHeld = true
      start()
    },
    release() {
      if (!isHeld) return
      isHeld = false
      stop().setRawMode(false)
    },
    input: (asked) => untilAccepted(() => question(({ askInput }) => askInput(asked))),
    secret: (asked) => untilAccepted(() => question(({ askSecret }) => askSecret(asked))),
    confirm: (asked) => question(({ askConfirm }) => askConfirm(asked)),
    search: (asked) => question(({ askSearch }) => askSearch(asked)),
    checkbox: (asked) => question(({ askCheckbox }) => askCheckbox(asked)),
  }
}

/** Each attempt begins empty: nothing of a refused answer is left to be joined with the next. */
async function untilAccepted(ask: () => Promise<string | undefined>): Promise<string> {
  for (;;) {
    const answer = await ask()
    if (answer !== undefined) return answer
  }
}
