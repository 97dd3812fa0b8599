/**
 * Which words of a command line are repoint's, and which are the program's?
 *
 *     after `repoint run`                gateway          program
 *     work -- codex exec                 work             codex exec
 *     work codex exec                    work             codex exec
 *     work --model gpt-5.4 -- codex      work             codex
 *     work                               work             a shell
 *     -- codex exec                      of the folder    codex exec
 *     --base-url URL -- codex exec       at URL           codex exec
 *     --base-url URL                     at URL           a shell
 *
 * A dash before the program starts a flag of repoint, also after the name. All words after the program are the
 * program's, whatever they start with.
 */
import type { CommandUnknownOpts } from '@commander-js/extra-typings'
import { UserError } from '../../errors.ts'

/** The words without repoint's flags. */
export interface RunWords {
  /** The name of a saved gateway. */
  readonly name: string | undefined
  /** The program and its arguments. Empty: a shell. */
  readonly program: readonly string[]
}

/**
 * Reads the words of `repoint run`. Commander stops at the first word that is no flag, so this also parses the
 * flags after the name. Afterwards `self.opts()` has all flags.
 */
export function readWords(self: CommandUnknownOpts): RunWords {
  const hasName = self.opts()['baseUrl'] === undefined && !startsWithDashes(self)
  if (!hasName) return { name: undefined, program: self.args }
  const [name, ...moreWords] = self.args
  return { name, program: programAfterName(self, moreWords) }
}

/**
 * Whether no name is before the `--`. Commander drops a `--` before the first word of the command, whose words are
 * the last ones of its parent. So it is the word before them there:
 *
 *                                  self.parent.args               self.args
 *     repoint run -- codex exec    run, --, codex, exec           codex, exec
 *     repoint run work -- codex    run, work, --, codex           work, --, codex
 */
function startsWithDashes(self: CommandUnknownOpts): boolean {
  const allWords = self.parent!.args
  return allWords.at(-self.args.length - 1) === '--'
}

/** @throws UserError `usage` if the flags name another gateway */
function programAfterName(self: CommandUnknownOpts, words: readonly string[]): readonly string[] {
  const { operands, unknown } = self.parseOptions([...words])
  refuseUnknownFlag(self, unknown)
  if (self.opts()['baseUrl'] !== undefined)
    throw new UserError({
      code: 'usage',
      message: 'The command names a saved gateway and --base-url',
      hint: 'Use one of them: repoint run NAME -- COMMAND, or repoint run --base-url URL -- COMMAND',
    })
  return [...unknown, ...operands]
}

/** Rejects flags that repoint does not have. Prints help for `--help`. */
function refuseUnknownFlag(self: CommandUnknownOpts, [first]: readonly string[]): void {
  if (first === '-h' || first === '--help') self.help()
  if (first?.startsWith('-')) self.error(`error: unknown option '${first}'`)
}
