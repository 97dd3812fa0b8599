/**
 * Whether to try every case of the long tables, as `npm run test:sweeps` does in CI. `npm test` tries a sample that
 * has each row and each column.
 */
export const triesAll = process.env['REPOINT_EVERY_CASE'] === '1'

/** One item of `all`, a different one for each `turn`. Empty if `all` is empty. */
export function oneInTurn<T>(all: readonly T[], turn: number): readonly T[] {
  return all.length === 0 ? [] : [all[turn % all.length]!]
}
