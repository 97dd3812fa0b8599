/**
 * Whether every case of the long tables is tried, as `npm run test:sweeps` does in CI. `npm test` tries a
 * sample that meets each row and each column.
 */
export const triesAll = process.env['REPOINT_EVERY_CASE'] === '1'

/** One of `all`, another for each `turn`; none of none. */
export function oneInTurn<T>(all: readonly T[], turn: number): readonly T[] {
  return all.length === 0 ? [] : [all[turn % all.length]!]
}
