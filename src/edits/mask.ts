import { dots, maskSecret, maskTellTale } from '../text.ts'

/**
 * Masks `secrets` wherever they stand in `line`, and whatever looks like another secret: values of
 * keys that are called so, and tokens of well-known forms. A diff shows lines that are not ours.
 */
export function maskLine(line: string, secrets: readonly string[]): string {
  let masked = line
  for (const secret of secrets.toSorted((a, b) => b.length - a.length)) {
    if (secret !== '') masked = masked.replaceAll(secret, maskSecret(secret))
  }
  return maskTellTale(masked.replace(secretMember, `$<name>$<quote>${dots}$<quote>`))
}

const secretMember =
  /(?<name>\b[\w-]*(?:key|token|secret|password|authorization|credential)s?["']?\s*[:=]\s*)(?<quote>["'])(?!\.{4})(?:\\.|(?!\k<quote>).)+\k<quote>/gi
