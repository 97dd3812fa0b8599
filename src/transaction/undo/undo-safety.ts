/**
 * Decides whether an undo of a run is safe for a client. Only this table decides it. Other files find the
 * situations that the client is in:
 *
 *     from                        before the undo      after an attempt, in memory
 *     the files of the run        run-situations.ts    run-situations.ts
 *     all files of the client     -                    commands/rollback/find-situations.ts
 *
 * If one situation is not safe, everything of the client stays, and `rollback-held` reports it. `--force` restores
 * the copies all the same, because `undoClient` then checks nothing. Only `refuseUnsafe` in commands/rollback.ts checks a
 * forced undo: it fails with `config-conflict` if one situation of the client's files is `never`. So a situation that only
 * run-situations.ts finds cannot be `never`.
 *
 * docs/transaction.md has the same table, and a test compares the two.
 */
type Verdict = 'safe' | 'only-by-force' | 'never'

export const undoSafety = {
  /** Someone changed the client's address or provider, or wrote another key, since the run. */
  'endpoint-changed': 'only-by-force',
  /** The gateway's key is gone, and no address was there before the run. The undo removes ours too. */
  'key-gone': 'safe',
  /** The gateway's key is gone, and the undo would restore an earlier address. A new login is not for it. */
  'key-gone-earlier-address': 'only-by-force',

  /** A file that stays as a whole still has the gateway's key, so it needs the gateway's address. */
  'our-key-stays': 'only-by-force',

  /** The client's files would have a known key without its address, because the file with the address is gone. */
  'our-key-elsewhere': 'only-by-force',

  /** The client could no longer read its files. */
  unreadable: 'only-by-force',
  /** The client cannot read its files, but that was so before the undo, or before a run. */
  'unreadable-before': 'safe',

  /** The client would send the same login and key to our gateway as now. */
  'same-credentials': 'safe',
  /** The client would send a key that a setup wrote to our gateway. */
  'our-key': 'safe',
  /** The client would send a login or key to our gateway which the user had with this address before. */
  'earlier-credentials': 'safe',
  /** The client would send another login or key to our gateway. */
  'wrong-key': 'never',
  /** The file with our address is gone, and another file of the client, such as a profile, names our gateway. */
  'address-moved': 'only-by-force',
} as const satisfies Readonly<Record<string, Verdict>>

/** What a client's files say before an undo, or would say after it. */
export type Situation = keyof typeof undoSafety

/** Whether each situation allows an undo without `--force`. */
export function isSafe(situations: readonly Situation[]): boolean {
  return situations.every((situation) => undoSafety[situation] === 'safe')
}

/** Whether not even `--force` may undo the run. */
export function isRefused(situations: readonly Situation[]): boolean {
  return situations.some((situation) => undoSafety[situation] === 'never')
}
