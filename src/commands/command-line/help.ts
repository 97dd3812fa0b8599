import { type Argument, type CommandUnknownOpts, Help } from '@commander-js/extra-typings'
import { clientRows, environmentRows } from '../../clients/list.ts'
import { type CommandEntry, commands } from '../list.ts'
import { table } from '../screen/drawing.ts'

/**
 * The format of the help.
 *
 * @param isWhole shows every command and every flag
 */
export function helpFor({ isWhole, columns }: { isWhole: boolean; columns: number }) {
  return {
    // Minimum width of a description, in columns. Commander's default of 40 would overflow a narrow
    // terminal.
    minWidthToWrap: 20,
    formatHelp: (command: CommandUnknownOpts, help: Help): string => {
      if (!isWhole && command.parent === null) return overview(command, help, columns)
      if (!isWhole) help.argumentDescription = withoutClients
      const all = help.visibleOptions(command)
      const isLong = all.length > maxFlags && all.some(({ long }) => long === '--base-url')
      if (isWhole || !isLong) return Help.prototype.formatHelp.call(help, command, help)

      help.visibleOptions = () =>
        usualFlags.flatMap((flag) => all.filter(({ long }) => long === flag))
      const usual = Help.prototype.formatHelp.call(help, command, help)
      return `${usual}\nEvery flag: repoint ${command.name()} --help --all\n`
    },
  }
}

/** The names of the clients are in the overview. */
function withoutClients(argument: Argument): string {
  const isClient = argument.argChoices?.includes(clientRows[0]!.id) === true
  return isClient
    ? argument.description
    : Help.prototype.argumentDescription.call(new Help(), argument)
}

/** The help of a gateway command with more flags than this shows only the usual ones. */
const maxFlags = 11

/** In the order of the help. */
const usualFlags = '--base-url --key-file --model --name --from --for --dry-run --yes --help'.split(
  ' ',
)

/** The commands by group, each with its summary: 24 lines at 80 columns. All clients share one entry. */
function overview(program: CommandUnknownOpts, help: Help, columns: number): string {
  const clients = [...clientRows, ...environmentRows].map(({ id }) => id)
  const formsWithoutName: Partial<Record<CommandEntry['group'], readonly string[][]>> = {
    'Set up': [
      ['repoint', 'find the installed clients and set them up'],
      ['repoint CLIENT', clients.join(', ')],
    ],
    Change: [['repoint CLIENT', 'with --model: use another model']],
  }

  const groups = [...new Set(commands.map(({ group }) => group))]
  const lines = groups.flatMap((group) => {
    const named = commands
      .filter((entry) => entry.group === group && !entry.isHidden && !clients.includes(entry.name))
      .map(({ name, summary }) => [`repoint ${name}`, summary])
    const forms = [...(formsWithoutName[group] ?? []), ...named]
    return forms.map((form, index) => [index === 0 ? group : '', ...form])
  })

  lines.push(['More', 'repoint help --all', 'every command and flag; also: man repoint'])
  const [head = [], ...others] = lines
  const description = help.boxWrap(program.description(), columns)
  return `${description}\n\n${table(head, others, columns).join('\n')}\n`
}
