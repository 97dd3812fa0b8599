import { classifyHeader } from '../../gateway/input/header.ts'
import type { ExtraHeader } from '../../gateway/types.ts'
import type { SetupTarget } from '../contract/setup.ts'
import { isFromEarlierSetup } from '../plan/headers.ts'

/**
 * The new value of ANTHROPIC_CUSTOM_HEADERS: one line for each header, `name: value`. Lines of the user for this
 * gateway stay unchanged. Undefined: no line is left. Run with 2.1.197 and 2.1.330, 2026-11-22.
 *
 * @param isOtherGateway the current settings are for another gateway
 */
export function customHeaders(
  now: string | undefined,
  target: SetupTarget,
  isOtherGateway: boolean,
): string | undefined {
  const { headers = [] } = target
  const lines = linesOf(now)

  const keptLines = lines.filter((line) => {
    const { name, value } = headerIn(line)
    const required = headers.find((header) => header.name === name)
    if (required !== undefined) return required.value === value
    return (
      !isOtherGateway && !isCredentialLine(line) && !isFromEarlierSetup({ name, value }, target)
    )
  })

  const added = headers.filter(({ name }) =>
    keptLines.every((line) => headerIn(line).name !== name),
  )
  if (keptLines.length === lines.length && added.length === 0) return now
  return (
    [...keptLines, ...added.map(({ name, value }) => `${name}: ${value}`)].join('\n') || undefined
  )
}

/** The headers that Claude Code sends in addition to the usual ones. */
export function readCustomHeaders(text: string | undefined): readonly ExtraHeader[] {
  return linesOf(text).flatMap((line) => {
    const { name, value } = headerIn(line)
    return name === '' || value === '' ? [] : [classifyHeader(name, value)]
  })
}

/** Whether a line holds a credential, which is sent alongside the key and may override it. */
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
