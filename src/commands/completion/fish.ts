import type { CompletedCommand, CompletedFlag } from './words.ts'

export function fishScript(
  commands: readonly CompletedCommand[],
  ownFlags: readonly CompletedFlag[],
): string {
  const noCommand = quoted('test -z (__repoint_command)')
  const lines = [
    ...ownFlags.map((flag) => `complete -c repoint -n ${noCommand} ${flagPart(flag)}`),
    ...commands.flatMap(({ name, description, flags, values }) => {
      const condition = quoted(`test (__repoint_command) = ${name}`)
      return [
        `complete -c repoint -n ${noCommand} -f -a ${name} -d ${quoted(description)}`,
        ...flags.map((flag) => `complete -c repoint -n ${condition} ${flagPart(flag)}`),
        ...(values.length > 0
          ? [`complete -c repoint -n ${condition} -f -a ${quoted(values.join(' '))}`]
          : []),
      ]
    }),
  ]
  return `# repoint completion for fish. Load it with: repoint completion fish | source
function __repoint_command
    set -l words (commandline -opc)
    for word in $words[2..-1]
        if not string match -q -- '-*' $word
            echo $word
            return
        end
    end
    echo ''
end

function __repoint_models
    set -l words (commandline -opc)
    $words[1] remembered-models 2> /dev/null
end

complete -c repoint -f
${lines.join('\n')}
`
}

function flagPart({ name, description, takes }: CompletedFlag): string {
  const flag = `-l ${name.replace(/^--/, '')} -d ${quoted(description)}`
  switch (takes.kind) {
    case 'nothing':
      return flag
    case 'choice':
      return `${flag} -x -a ${quoted(takes.choices.join(' '))}`
    case 'model':
      return `${flag} -x -a '(__repoint_models)'`
    case 'variable':
      return `${flag} -x -a '(set --names --export)'`
    case 'file':
      return `${flag} -r -F`
    case 'text':
      return `${flag} -x`
  }
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}
