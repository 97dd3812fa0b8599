import { UserError } from '../../src/errors.ts'

/** The UserError that `work` throws. Other errors pass through. */
export function failureOf(work: () => unknown): UserError {
  try {
    work()
  } catch (error) {
    if (error instanceof UserError) return error
    throw error
  }
  throw new Error('there was no error')
}
