import type { SavedGateway } from '../../state/gateway-list.ts'

export interface TypedCommand {
  /** repoint's own arguments: `['codex', '--yes']`. */
  readonly args: readonly string[]
  /** The flags that this command has: `--model`. */
  readonly flags: readonly string[]
  /** The address that the user typed as an argument without a flag: `repoint check ADDRESS`. */
  readonly address?: string
  /** Whether another program follows: `repoint run work -- codex`. */
  readonly startsProgram: boolean
}

/** What a hint is about. */
interface HintSubject {
  /** The ID of the client. */
  readonly client?: string
  /** The saved gateway that the command names. It has its own address, key and headers. */
  readonly saved?: SavedGateway
}

/** The flags that say how to reach a gateway, which are saved with it. */
const gatewayFlags = [
  '--base-url',
  '--key-env',
  '--key-file',
  '--key-stdin',
  '--header',
  '--ca-file',
  '--allow-http',
]

/**
 * Completes a hint. Code that finds a problem does not know which command shows it, so its hint has the flag that
 * solves the problem in braces. The command that shows the hint makes a command line of that and of what was typed:
 *
 *     The hint                          Typed                    Shown
 *     Use https: {--base-url https://x} repoint codex --yes      Use https: repoint codex --yes --base-url https://x
 *     Correct it: {--base-url URL}      repoint codex --yes      Correct it: --base-url URL
 *     Correct it: {--base-url URL}      repoint use work         Correct it: repoint gateways add URL
 *     Name another: {--model a|b}       repoint doctor codex     Name another: repoint codex --model a, or --model b
 *     Did you mean: {wrk=work}          repoint use wrk codex    Did you mean: repoint use work codex
 */
export function completeHint(
  hint: string,
  typed: TypedCommand,
  { client = 'CLIENT', saved }: HintSubject = {},
): string {
  const newKey =
    saved === undefined
      ? 'run the command again with it'
      : `save it: repoint gateways add ${saved.address} --name ${saved.name}`
  return hint
    .replaceAll('{key}', newKey)
    .replace(/\{([^{}=-][^{}=]*)=([^{}]*)\}/g, (_, wrong: string, right: string) => {
      const words = typed.args.map((arg) => asWord(arg === wrong ? right : arg))
      const program = typed.startsProgram ? ' -- …' : ''
      return typed.args.includes(wrong) ? `repoint ${words.join(' ')}${program}` : right
    })
    .replace(/\{(--[a-z-]+)(?: ([^{}]*))?\}/g, (_, flag: string, text = '') => {
      const [value = '', ...others] = String(text).split('|')
      const words = `${flag} ${value}`.trimEnd()
      const more = others.map((other) => `, or ${flag} ${other}`).join('')

      if (saved !== undefined && flag === '--base-url') return `repoint gateways add ${value}`
      if (saved !== undefined && gatewayFlags.includes(flag))
        return `repoint gateways add ${saved.address} --name ${saved.name} ${words}`
      if (!typed.flags.includes(flag)) return `repoint ${client} ${words}${more}`
      if (typed.startsProgram || isPlaceholder(value)) return words + more
      return `repoint ${withFlag(typed, flag, value)}${more}`
    })
}

/** Whether the user must fill in the value: `URL`, `'x-team: VALUE'`. */
function isPlaceholder(value: string): boolean {
  return /^[A-Z]+$|\bVALUE\b|\$/.test(value)
}

/** The arguments with a flag at the end, without the same flag and the address that it replaces. */
function withFlag({ args, address }: TypedCommand, flag: string, value: string): string {
  const words = value === '' ? [] : [value]
  const index = args.findIndex((arg) => arg === flag || arg.startsWith(`${flag}=`))
  const count = args[index] === flag ? 1 + words.length : 1
  const others = index === -1 ? args : args.toSpliced(index, count)

  const isAddress = (arg: string) => flag === '--base-url' && arg === address
  return [...others.filter((arg) => !isAddress(arg)), flag, ...words].map(asWord).join(' ')
}

/** Quotes an argument if a shell would not read it as one word. */
export function asWord(argument: string): string {
  if (/^[\w./:\\@%+=,~-]+$/.test(argument)) return argument
  return `'${argument.replaceAll("'", `'\\''`)}'`
}
