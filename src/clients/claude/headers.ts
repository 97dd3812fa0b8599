import { classifyHeader } from '../../gateway/input/header.ts'
import type { ExtraHeader } from '../../gateway/types.ts'
import type { SetupTarget } from '../client.ts'
import { isStrayHeader } from '../headers.ts'

/**
 * What ANTHROPIC_CUSTOM_HEADERS becomes: a line each, `name: value`. Lines of the user stay as they
 * are; undefined: none is left. Run with 2.1.197 and 2.1.330, 2026-11-22.
 *
 * @param isOtherAddress the settings stand for another address so far
 */
export function customHeaders(
  now: string | undefined,
  target: SetupTarget,
  isOtherAddress: boolean,
): string | undefined {
  const { headers = [] } = target
  const lines = linesOf(now)

  const kept = lines.filter((line) => {
    const { name, value } = headerIn(line)
    const wanted = headers.find((one) => one.name === name)
    if (wanted !== undefined) return wanted.value === value
    return !isCredentialLine(line) && !isStrayHeader({ name, value }, target, isOtherAddress)
  })

  const added = headers.filter(({ name }) => kept.every((line) => headerIn(line).name !== name))
  if (kept.length === lines.length && added.length === 0) return now
  return [...kept, ...added.map(({ name, value }) => `${name}: ${value}`)].join('\n') || undefined
}

/** What goes out beside the usual headers. */
export function readCustomHeaders(text: string | undefined): readonly ExtraHeader[] {
  return linesOf(text).flatMap((line) => {
    const { name, value } = headerIn(line)
    return name === '' || value === '' ? [] : [classifyHeader(name, value)]
  })
}

/** Whether a line carries what goes out beside the key, and may win over it. */
export function isCredentialLine(line: string): boolean {
  return /^\s*(?:x-api-key|authorization)\s*:/i.test(line)
}

export function linesOf(text: string | undefined): readonly string[] {
  return text === undefined ? [] : text.split('\n').filter((line) => line.trim() !== '')
}

function headerIn(line: string): Pick<ExtraHeader, 'name' | 'value'> {
  const colon = line.indexOf(':')
  if (colon === -1) return { name: '', value: '' }
  return { name: line.slice(0, colon).trim().toLowerCase(), value: line.slice(colon + 1).trim() }
}
