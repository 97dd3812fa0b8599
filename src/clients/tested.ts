/** A client's `tested.json`: what `npm run drift` saw its published versions do. */
interface Tested {
  readonly rows: readonly { readonly version: string; readonly failed: readonly string[] }[]
}

/** The versions of a client in which everything was found right, the oldest first. */
export function testedVersions({ rows }: Tested): readonly string[] {
  const wrong = new Set(
    rows.filter(({ failed }) => failed.length > 0).map(({ version }) => version),
  )
  return [...new Set(rows.map(({ version }) => version))].filter((one) => !wrong.has(one))
}
