import type { Ask } from './platform.ts'

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
    input: (asked) => question(({ askInput }) => askInput(asked)),
    secret: (asked) => question(({ askSecret }) => askSecret(asked)),
    confirm: (asked) => question(({ askConfirm }) => askConfirm(asked)),
    search: (asked) => question(({ askSearch }) => askSearch(asked)),
    checkbox: (asked) => question(({ askCheckbox }) => askCheckbox(asked)),
  }
}
