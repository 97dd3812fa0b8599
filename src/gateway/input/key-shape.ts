/** Beginnings of well-known keys, too long or too odd for a host name, whose parts end at 63. */
const wellKnown =
  /^(?:(?:sk|pk|rk)-[\w-]{40,}|(?:sk|pk|rk)-[\w-]{16,}$|eyJ[\w-]{16,}\.|gh[pousr]_\w{16,}|xox[abps]-[\w-]{10,})/
const shortKey = /^(?:sk|pk|rk)-[^.:/]*$/

/** Letters with digits; a name without a dot is seldom so long, and a key seldom shorter. */
const longWord = /^(?=.*\d)(?=.*[a-z])[\w+=~-]{24,}$/i

/** Whether a text is a key to all appearances, and not the address of a host. */
export function isKeyShaped(text: string): boolean {
  if (/^https?:/i.test(text)) return wellKnown.test(text.replace(/^https?:\/*/i, ''))
  const value = text.replace(/^\w+\s*[=:]\s*["']?/, '')
  return [text, value].some(
    (part) => wellKnown.test(part) || shortKey.test(part) || longWord.test(part),
  )
}
