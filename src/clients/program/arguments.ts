import { UserError } from '../../errors.ts'

/** The first of these flags of the client that the user typed, alone or with a value after `=`. */
export function typedFlag(args: readonly string[], flags: readonly string[]): string | undefined {
  return flags.find((flag) => args.some((arg) => arg === flag || arg.startsWith(`${flag}=`)))
}

/** The values of these flags: the next word, or the text after `=` or directly after a short flag. */
export function clientFlagValues(
  args: readonly string[],
  flags: readonly string[],
): readonly string[] {
  const patterns = flags.map((flag) =>
    flag.startsWith('--')
      ? new RegExp(`^${flag}(?:=|$)(.*)`, 's')
      : new RegExp(`^-[A-Za-z]*?${flag[1]}=?(.*)`, 's'),
  )

  return args.flatMap((arg, index) =>
    patterns.flatMap((pattern) => {
      const match = pattern.exec(arg)
      const value = match && (match[1] || args[index + 1])
      return value ? [value] : []
    }),
  )
}

/** @throws UserError `usage` if a flag or a variable of the client sets what the run itself must set */
export function expectUnset(name: string | undefined, why: (name: string) => string): void {
  if (!name) return
  const hint = name.startsWith('-')
    ? `Remove ${name} from the command.`
    : `Unset it for this run: env -u ${name} repoint run …`
  throw new UserError({ code: 'usage', message: why(name), hint })
}
