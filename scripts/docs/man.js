/** Formats the manual page from the help of every command. */

/**
 * @param command what people type; the package may be called otherwise
 * @param overview the help of `repoint help --all`, with the commands under their headings
 * @param commands of each its name and its whole help
 */
export function manPage({ command, version, overview, commands }) {
  const [about] = overview.split('\n\n').slice(1)
  const groups = overview.split('\n\n').slice(2).map(asSection)
  const pages = commands.map(({ name, help }) => {
    const [usage, description, ...blocks] = help.trim().split('\n\n')
    return [
      `.SS ${command} ${escaped(name)}`,
      escaped(usage.replace(/^Usage: /, '')),
      '.PP',
      escaped(joined(description)),
      ...blocks.map(asSection),
    ].join('\n')
  })
  return `${[
    `.TH ${command.toUpperCase()} 1 "" "${command} ${version}"`,
    '.SH NAME',
    `${command} \\- ${escaped(joined(about))}`,
    '.SH SYNOPSIS',
    `.B ${command}`,
    '[command] [flags]',
    '.SH DESCRIPTION',
    `Without a command, ${command} finds the clients on this machine and asks which of them to set up.`,
    ...groups,
    '.SH COMMANDS',
    ...pages,
  ].join('\n')}\n`
}

/** A block of help: rows of a word and its description, or lines to type. */
function asSection(block) {
  const [heading, ...lines] = block.trimEnd().split('\n')
  if (!/:$/.test(heading)) return `.PP\n${escaped(joined(block))}`
  const rows = []
  for (const line of lines) {
    const [, word, text] = /^ {2}(\S.*?)(?: {2,}(\S.*))?$/.exec(line) ?? []
    if (word === undefined) rows.at(-1).text += ` ${line.trim()}`
    else rows.push({ word, text: text ?? '' })
  }
  const shown = rows.map(({ word, text }) =>
    text === '' ? `.br\n${escaped(word)}` : `.TP\n.B ${escaped(word)}\n${escaped(text.trim())}`,
  )
  return [`.PP\n${escaped(heading)}`, ...shown].join('\n')
}

function joined(text) {
  return text.trim().split(/\s+/).join(' ')
}

/** A dot or quote that begins a line would be a request. */
function escaped(text) {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('’', '\\(cq')
    .replaceAll('“', '\\(lq')
    .replaceAll('”', '\\(rq')
    .replaceAll('…', '...')
    .replace(/^([.'])/gm, '\\&$1')
}
