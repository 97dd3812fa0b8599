/** One thing to say beside the result. */
export interface Notice {
  /** Stable, like an error code: `url-cleaned`, `key-cleaned`. */
  readonly code: string
  readonly message: string
  readonly hint?: string
}
