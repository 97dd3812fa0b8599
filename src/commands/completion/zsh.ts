import type { CompletedCommand, CompletedFlag } from './words.ts'

export function zshScript(
  commands: readonly CompletedCommand[],
  ownFlags: readonly CompletedFlag[],
): string {
  const names = commands.map(
    ({ name, description }) => `    ${quoted(`${name.replaceAll(':', '\\:')}:${description}`)}`,
  )
  return `#compdef repoint
# repoint completion for zsh. Load it with: source <(repoint completion zsh)
_repoint() {
  local repoint_program=$words[1] state
  local -a repoint_commands
  repoint_commands=(
${names.join('\n')}
  )
  _arguments -C ${ownFlags.map(asSpec).join(' ')} '1: :->command' '*:: :->rest'
  case $state in
    command) _describe -t commands command repoint_commands ;;
    rest)
      case $words[1] in
${commands.map(asCase).join('\n')}
      esac ;;
  esac
}

_repoint_models() {
  local -a ids
  ids=(\${(f)"$($repoint_program remembered-models 2> /dev/null)"})
  compadd -a ids
}

if [[ $funcstack[1] == _repoint ]]; then
  _repoint "$@"
else
  compdef _repoint repoint
fi
`
}

function asCase({ name, flags, values }: CompletedCommand): string {
  const argument = values.length > 0 ? [`'1: :(${values.join(' ')})'`] : ["'*: :_default'"]
  return `        ${name}) _arguments ${[...flags.map(asSpec), ...argument].join(' ')} ;;`
}

function asSpec({ name, description, takes }: CompletedFlag): string {
  const said = description.replace(/[[\]\\:]/g, '\\$&')
  switch (takes.kind) {
    case 'nothing':
      return quoted(`${name}[${said}]`)
    case 'choice':
      return quoted(`${name}=[${said}]:value:(${takes.choices.join(' ')})`)
    case 'model':
      return quoted(`${name}=[${said}]:model:_repoint_models`)
    case 'variable':
      return quoted(`${name}=[${said}]:variable:_parameters -g "*export*"`)
    case 'file':
      return quoted(`${name}=[${said}]:file:_files`)
    case 'text':
      return quoted(`${name}=[${said}]:value: `)
  }
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
