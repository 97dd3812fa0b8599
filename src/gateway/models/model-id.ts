/** What a GPT model's id says. Ids are opaque: this only ranks and groups, it never makes one up. */
export interface GptId {
  /** `[5, 6]` for `gpt-5.6-sol`; compared as numbers, so 5.10 is newer than 5.9. */
  readonly family: readonly number[]
  /** `sol`, `terra`, `luna`, `mini`, …; empty for the bare family id. */
  readonly variant: string
  /** Digits of a date in the id; empty: none. */
  readonly date: string
  readonly hasVendor: boolean
}

/** The id without its vendor: `openai/gpt-5.6-sol` is `gpt-5.6-sol`. */
export function withoutVendor(id: string): string {
  return id.slice(id.lastIndexOf('/') + 1)
}

/** Reads a GPT id, or undefined where it is none. */
export function parseGptId(id: string): GptId | undefined {
  const name = withoutVendor(id).toLowerCase()
  const match = /^gpt-(\d+(?:\.\d+)*)((?:-[a-z0-9.]+)*)$/.exec(name)
  if (match === null) return undefined

  const date = /-(\d{4})-?(\d{2})-?(\d{2})$/.exec(match[2]!)
  const variant = match[2]!.slice(1, date === null ? undefined : date.index).replace(/^-/, '')
  return {
    family: match[1]!.split('.').map(Number),
    variant: date?.index === 0 ? '' : variant,
    date: date === null ? '' : date.slice(1).join(''),
    hasVendor: id.includes('/'),
  }
}

/** Negative where `a` is the older family. */
export function compareFamilies(a: readonly number[], b: readonly number[]): number {
  for (let part = 0; part < Math.max(a.length, b.length); part++) {
    const difference = (a[part] ?? 0) - (b[part] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}
