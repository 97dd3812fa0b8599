import { maskForms } from './secret-forms.ts'

/** Longest piece of a gateway's own words that is shown, in characters. */
const maxShown = 200

/**
 * Text from outside, fit for a terminal: one line, without control, escape and direction
 * characters, without our secrets, cut.
 */
export function cleanForeignText(text: string, secrets: readonly string[] = []): string {
  let clean = text
    .slice(0, 20_000)
    // Escape sequences as a whole, so that no "[31m" stays behind.
    .replace(/\p{Cc}[[(][0-?]*[ -/]*[@-~]/gu, (sequence) =>
      sequence[0] === '\x1b' ? '' : sequence,
    )
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(/[\p{Cf}\p{Co}\p{Cs}]/gu, '')
    .replace(/\s+/g, ' ')
    .trim()
  // Only now: a secret with an invisible character inside would have been missed.
  for (const secret of secrets) clean = maskForms(clean, secret)
  const characters = [...clean]
  return characters.length <= maxShown ? clean : `${characters.slice(0, maxShown - 1).join('')}…`
}
