import tested from './tested.json' with { type: 'json' }

/**
 * The versions of a client in which `npm run drift` found everything right, the oldest first.
 *
 * @param name as the client's program is called
 */
export function testedVersions(name: string): readonly string[] {
  const rows = tested.rows.filter(({ client }) => client === name)
  const wrong = new Set(
    rows.filter(({ failed }) => failed.length > 0).map(({ version }) => version),
  )
  return [...new Set(rows.map(({ version }) => version))].filter((one) => !wrong.has(one))
}
