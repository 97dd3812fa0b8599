import type { CompletedCommand, CompletedFlag } from './words.ts'

/** For bash 3.2 and later, without the bash-completion package. */
export function bashScript(
  commands: readonly CompletedCommand[],
  ownFlags: readonly CompletedFlag[],
): string {
  const perCommand = commands.map(({ name, flags, values }) => {
    const words = [...flags.map((flag) => flag.name), ...values].join(' ')
    return `    ${name}) words='${words}' ;;`
  })
  const perFlag = commands.flatMap(({ name, flags }) =>
    flags
      .filter(({ takes }) => takes.kind !== 'nothing')
      .map((flag) => `    '${name} ${flag.name}') ${valueAction(flag)} ;;`),
  )
  const first = [...commands.map(({ name }) => name), ...ownFlags.map(({ name }) => name)]
  return `# repoint completion for bash. Load it with: source <(repoint completion bash)
_repoint() {
  local line=\${COMP_LINE:0:COMP_POINT} typed flag command='' words='' word
  local -a parts
  read -ra parts <<< "$line"
  [[ $line == *[[:space:]] ]] && parts+=('')
  typed=\${parts[\${#parts[@]} - 1]}
  flag=\${parts[\${#parts[@]} - 2]}
  for word in "\${parts[@]:1:\${#parts[@]} - 2}"; do
    [[ $word == -- ]] && return
    [[ $word == -* || -n $command ]] || command=$word
  done
  if [[ $typed == --*=* ]]; then
    flag=\${typed%%=*}
    typed=\${typed#*=}
  fi
  case "$command $flag" in
${perFlag.join('\n')}
  esac
  case $command in
    '') words='${first.join(' ')}' ;;
${perCommand.join('\n')}
  esac
  _repoint_offer "$words"
}

# Offers those of the words in $1 that begin as typed. bash replaces only what follows the last colon.
_repoint_offer() {
  local word kept=''
  [[ $COMP_WORDBREAKS == *:* && $typed == *:* ]] && kept=\${typed%"\${typed##*:}"}
  COMPREPLY=()
  for word in $1; do
    [[ $word == "$typed"* ]] && COMPREPLY+=("\${word#"$kept"}")
  done
}

complete -o bashdefault -o default -F _repoint repoint
`
}

function valueAction({ takes }: CompletedFlag): string {
  switch (takes.kind) {
    case 'choice':
      return `_repoint_offer '${takes.choices.join(' ')}'; return`
    case 'model':
      return `_repoint_offer "$("\${parts[0]}" remembered-models 2> /dev/null)"; return`
    case 'variable':
      return '_repoint_offer "$(compgen -e)"; return'
    case 'file':
      return 'COMPREPLY=(); return'
    default:
      return 'COMPREPLY=(); compopt +o default +o bashdefault 2> /dev/null; return'
  }
}
