/** The reason that the codes and words of a rejection name. diagnose.ts lists the outcome of each. */
export type Cause =
  | 'key'
  | 'quota'
  | 'plan'
  | 'rate'
  | 'client'
  | 'region'
  | 'network'
  | 'content'
  | 'account'
  | 'model-unknown'
  | 'provider-unknown'
  | 'model-not-allowed'
  | 'model-unpriced'
  | 'protocol'
  | 'route-not-allowed'
  | 'upstream'
  | 'gateway'

/** One way in which gateways name a cause. */
export interface CauseRow {
  readonly cause: Cause
  /** Values of `code`, `type` or `reason`, in lower case. */
  readonly codes?: readonly string[]
  /**
   * What a sentence says. A code is read as a sentence too: `USER_INACTIVE` as "user inactive",
   * `InvalidSubscription` as "invalid subscription".
   */
  readonly words?: RegExp
  /**
   * The row counts only with these statuses: for words that mean something else with others. Absent: with every
   * status. What holds for a cause whatever its words are belongs to `canMean` in by-cause.ts.
   */
  readonly statuses?: readonly number[]
  /** Where the row was seen, and when. */
  readonly source: string
}

/** Replaces the status for an error in the body of a 200, if the body contains no status of a failure. */
export const noStatus = 0

/** The start of many sources. */
export const github = 'https://github.com'

/** The source of the rows of that day for sentences that nobody has seen, but that a gateway may well write. */
export const forged = 'forged rejections, 2026-11-26'
