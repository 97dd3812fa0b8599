/** The arguments that several commands take, and the words that they accept. */
import { Argument } from '@commander-js/extra-typings'
import { clientRows, environmentRows } from '../../clients/list.ts'
import { UserError } from '../../errors.ts'
import { keyOnCommandLineError } from '../../gateway/input/key.ts'
import { beginsLikeKey, guessName, looksLikeKey } from '../../text.ts'

export class GatewayArgument<Usage extends string> extends Argument<Usage> {}

/** The command of another program, with that program's arguments. */
export class ForeignArgument<Usage extends string> extends Argument<Usage> {}

/** One client that has configuration files. */
export function clientArgument(description: string) {
  return new Argument('[client]', description).choices(clientRows.map(({ id }) => id))
}

export function clientsArgument(description: string) {
  return new Argument('[clients...]', description).choices(clientRows.map(({ id }) => id))
}

/**
 * Makes an argument reject a word that looks like a key, and one that is none of its choices. A
 * `GatewayArgument` also accepts the names of gateways, which can look like a key but not begin like one.
 */
export function refuseUnknownWords(argument: Argument, command: string): void {
  if (argument instanceof ForeignArgument) return
  const { parseArg, variadic, argChoices } = argument
  const isGateway = argument instanceof GatewayArgument
  const isKey = isGateway ? beginsLikeKey : looksLikeKey

  argument.argParser((word: string, before: unknown) => {
    if (isKey(word)) throw keyOnCommandLineError()
    if (argChoices && !isGateway && !argChoices.includes(word))
      throw unknownChoice(word, argChoices, command)
    if (parseArg !== undefined) return parseArg(word, before)
    return variadic ? [...((before as string[] | undefined) ?? []), word] : word
  })
}

function unknownChoice(word: string, choices: readonly string[], command: string): UserError {
  const renamed = [...clientRows, ...environmentRows].find(({ alsoCalled }) =>
    alsoCalled?.includes(word),
  )
  const renamedId = renamed?.id ?? otherNames[word]
  const meant = renamedId && choices.includes(renamedId) ? renamedId : guessName(word, choices)
  return new UserError({
    code: 'usage',
    message: `'${word}' is none of: ${choices.join(', ')}`,
    hint:
      meant === undefined
        ? `See: repoint ${command} --help`
        : `Did you mean: repoint ${command} ${meant}`,
  })
}

/** What other programs call an action of `repoint gateways`. */
const otherNames: Readonly<Record<string, string>> = {
  rm: 'remove',
  delete: 'remove',
  forget: 'remove',
  new: 'add',
  save: 'add',
  mv: 'rename',
}

/** Why two of these clients cannot be set up together. Undefined: all are of different families. */
export function conflictingClients(ids: readonly string[]): string | undefined {
  const clients = clientRows.filter(({ id }) => ids.includes(id))
  for (const { id, family, label } of clients) {
    const sibling = clients.find((client) => client.family === family && client.id !== id)
    if (sibling !== undefined)
      return `${label} and ${sibling.label} are two setups of the same file`
  }
  return undefined
}

/**
 * The clients with these IDs, in the order of the list.
 *
 * @throws UserError `usage` for two clients of one family
 */
export function oneOfEachFamily(ids: readonly string[]): readonly string[] {
  const message = conflictingClients(ids)
  if (message !== undefined)
    throw new UserError({ code: 'usage', message, hint: 'Name one of them.' })
  return clientRows.map(({ id }) => id).filter((id) => ids.includes(id))
}
