import { createHash } from 'node:crypto'

/**
 * Creates the seal of a thought, which detects if a client alters it: the signature of messages, or the
 * encrypted content of responses. A seal stays valid when the gateway restarts. Unlike the seals of the
 * vendors, anyone can forge it.
 */
export function createSeal(thought: string): string {
  const mark = createHash('sha256').update(`repoint ${thought}`).digest('base64')
  return `${mark}.${Buffer.from(thought).toString('base64')}`
}

/** Whether a text is a valid seal. */
export function isSeal(seal: string): boolean {
  const thought = seal.split('.')[1]
  return thought !== undefined && createSeal(Buffer.from(thought, 'base64').toString()) === seal
}
