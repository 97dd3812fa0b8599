/** Largest catalog that is read, in bytes. OpenRouter's has about 500 kB. */
export const maxCatalogBytes = 8_000_000

/** Largest answer to a probe that is read, in bytes. */
export const maxAnswerBytes = 1_000_000
