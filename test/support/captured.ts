import type { Platform } from '../../src/platform/platform.ts'

/** A terminal that shows nothing, and the output that it captures. */
export function captured(terminal: Platform['terminal']) {
  const output = { out: '', err: '' }
  return {
    output,
    terminal: {
      ...terminal,
      out(text: string) {
        output.out += text
      },
      err(text: string) {
        output.err += text
      },
    },
  }
}
