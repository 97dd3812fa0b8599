import { createHash } from 'node:crypto'

/**
 * What stands beside thoughts, so that they come back as they went out: a signature of messages, the
 * encrypted content of responses. It holds from one run of the gateway to the next; it keeps nobody
 * from forging one, which the vendors' does.
 */
export function createSeal(thought: string): string {
  const mark = createHash('sha256').update(`repoint ${thought}`).digest('base64')
  return `${mark}.${Buffer.from(thought).toString('base64')}`
}

/** Whether this is the seal of some thought. */
export function isSeal(seal: string): boolean {
  const thought = seal.split('.')[1]
  return thought !== undefined && createSeal(Buffer.from(thought, 'base64').toString()) === seal
}
