/** The reason that the codes and words of a rejection name. by-cause.ts turns it into an outcome. */
export type Cause =
  | 'upstream'
  | 'gateway'
  | 'client'
  | 'region'
  | 'network'
  | 'content'
  | 'rate'
  | 'quota'
  | 'plan'
  | 'account'
  | 'model-unpriced'
  | 'model-not-allowed'
  | 'model-unknown'
  | 'provider-unknown'
  | 'protocol'
  | 'route'
  | 'key'

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
   * The row counts only with these statuses. 200: an error in the body of a 200, whose body repeats the 200.
   */
  readonly statuses?: readonly number[]
  /** Where the row was seen, and when. */
  readonly source: string
}

/** The status of an error in the body of a 200, if the body contains no status. */
export const noStatus = 0

/** The start of many sources. */
export const github = 'https://github.com'

/** The source of rows for sentences that nobody has seen, but that a gateway may well write. */
export const forged = 'forged rejections, 2026-11-26'
