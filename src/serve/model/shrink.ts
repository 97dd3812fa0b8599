/** Makes a value smaller, step by step, as long as it still fits its schema. */
import formats from './formats.json' with { type: 'json' }

/** A list or an object that is being shrunk. */
type ShrinkTarget = Record<string | number, unknown>

/** Replaces a value, and keeps the replacement if the whole still fits. */
type TryValue = (candidate: unknown) => boolean

/** Shrinks a member of `holder` step by step, as long as the whole fits. */
export function shrink(holder: ShrinkTarget, key: string | number, fits: () => boolean): void {
  const tryValue: TryValue = (candidate) => {
    const before = holder[key]
    holder[key] = candidate
    if (fits()) return true
    holder[key] = before
    return false
  }

  const value = holder[key]
  if (typeof value === 'string') shrinkText(value, tryValue)
  if (typeof value === 'number') shrinkNumber(value, tryValue)
  if (value === true) tryValue(false)
  if (typeof value !== 'object' || value === null) return

  for (const name of Object.keys(value).reverse()) tryValue(removeMember(holder[key], name))
  const remaining = holder[key] as ShrinkTarget
  for (const name of Object.keys(remaining)) shrink(remaining, name, fits)
}

function removeMember(holder: unknown, name: string): unknown {
  if (Array.isArray(holder)) return holder.toSpliced(Number(name), 1)
  const { [name]: _, ...remaining } = holder as ShrinkTarget
  return remaining
}

function shrinkNumber(value: number, tryValue: TryValue): void {
  const whole = Math.trunc(value) + 0
  let number = tryValue(whole) ? whole : value
  for (let step = number; Math.abs(step) >= 1; step = Math.trunc(step / 2))
    while (Math.abs(step) <= Math.abs(number) && tryValue(number - step)) number -= step
}

const signs = [...'abcdefghijklmnopqrstuvwxyz0123456789']

function shrinkText(value: string, tryValue: TryValue): void {
  if (Object.values(formats).includes(value)) return
  let text = value
  for (let step = value.length; step >= 1; step = Math.trunc(step / 2))
    for (let index = text.length - step; index >= 0; index -= step) {
      const shorter = text.slice(0, index) + text.slice(index + step)
      if (tryValue(shorter)) text = shorter
    }

  if (tryValue('a'.repeat(text.length))) return

  for (let index = 0; index < text.length; index++) {
    const candidates = signs.map((sign) => text.slice(0, index) + sign + text.slice(index + 1))
    text = candidates.find(tryValue) ?? text
  }
}
