import { Argument, Command } from '@commander-js/extra-typings'
import { commandOf, examples } from '../command.ts'
import { hookFor } from './hook.ts'

type Shell = 'bash' | 'zsh' | 'fish' | 'powershell'

const shells: readonly Shell[] = ['bash', 'zsh', 'fish', 'powershell']

/** Where each shell looks when it starts; zsh needs `compinit` before that line. */
const forGood: readonly string[] = [
  "echo 'source <(repoint completion bash)' >> ~/.bashrc",
  "echo 'source <(repoint completion zsh)' >> ~/.zshrc",
  'repoint completion fish > ~/.config/fish/completions/repoint.fish',
  'repoint completion powershell >> $PROFILE',
  "echo 'source <(repoint completion bash --hook)' >> ~/.bashrc",
]

function define() {
  return new Command('completion')
    .description('print the script that completes repoint in a shell')
    .addArgument(new Argument('<shell>', 'for this shell').choices(shells))
    .option(
      '--hook',
      'print the hook instead: clients in a folder of `repoint folder` use its gateway',
    )
    .addHelpText(
      'after',
      examples([
        'source <(repoint completion bash)',
        'source <(repoint completion zsh)',
        'repoint completion fish | source',
        'repoint completion powershell | Out-String | Invoke-Expression',
      ]) + examples(forGood, 'For every new shell'),
    )
}

/** Prints the script that completes repoint's command line in `shell`, or the hook for it. Returns the exit status. */
export const command = commandOf(define, async ({ platform }, shell, { hook }) => {
  platform.terminal.out(hook ? await hookFor(shell, platform.machine) : scripts[shell])
  return 0
})

/** Each asks `repoint complete` for the candidates: a word, a tab, its description; or `:files`. */
const scripts: Readonly<Record<Shell, string>> = {
  // For bash 3.2 and later, without the bash-completion package.
  bash: `# repoint completion for bash. Load it with: source <(repoint completion bash)
_repoint() {
  local line=\${COMP_LINE:0:COMP_POINT} typed mark word kept='' answer
  local -a words
  read -ra words <<< "$line"
  [[ $line == *[[:space:]] ]] && words+=('')
  typed=\${words[\${#words[@]} - 1]}
  unset 'words[\${#words[@]}-1]'
  # bash replaces only what follows the last of its word breaks.
  for mark in = :; do
    [[ $COMP_WORDBREAKS == *$mark* && $typed == *$mark* ]] && kept=\${typed%"\${typed##*$mark}"}
  done
  COMPREPLY=()
  answer=$("\${words[0]}" complete "--typed=$typed" -- "\${words[@]:1}" 2> /dev/null)
  [[ $answer == :files ]] && return
  while IFS=$'\\t' read -r word _; do
    [[ -n $word ]] && COMPREPLY+=("\${word#"$kept"}")
  done <<< "$answer"
  [[ -n $answer ]] || compopt +o default +o bashdefault 2> /dev/null
}

complete -o bashdefault -o default -F _repoint repoint
`,
  zsh: `#compdef repoint
# repoint completion for zsh. Load it with: source <(repoint completion zsh)
_repoint() {
  local line word tab=$'\\t'
  local -a lines candidates before
  before=("\${(@Q)words[2,CURRENT-1]}")
  lines=("\${(@f)$("\${words[1]}" complete "--typed=\${(Q)PREFIX}" -- "\${before[@]}" 2> /dev/null)}")
  if [[ $lines[1] == :files ]]; then
    compset -P '--[^=]##='
    _files
    return
  fi
  for line in $lines; do
    word=\${line%%$tab*}
    candidates+=("\${word//:/\\:}:\${line#*$tab}")
  done
  _describe repoint candidates
}

if [[ $funcstack[1] == _repoint ]]; then
  _repoint "$@"
else
  compdef _repoint repoint
fi
`,
  fish: `# repoint completion for fish. Load it with: repoint completion fish | source
function __repoint_complete
    set -l words (commandline -opc)
    set -l typed (commandline -ct)
    set -l lines ($words[1] complete "--typed=$typed" -- $words[2..-1] 2> /dev/null)
    if test "$lines[1]" = :files
        set -l flag (string match -r -- '^--[\\w-]+=' "$typed")
        printf '%s\\n' "$flag"(__fish_complete_path (string replace -r -- '^--[\\w-]+=' '' "$typed"))
    else
        printf '%s\\n' $lines
    end
end

complete -c repoint -f -a '(__repoint_complete)'
`,
  // For Windows PowerShell 5.1 and PowerShell 7. Where nothing is offered they offer files.
  powershell: `# repoint completion for PowerShell.
# Load it with: repoint completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName repoint -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $words = @($commandAst.CommandElements | Where-Object { $_.Extent.EndOffset -lt $cursorPosition } |
    Select-Object -Skip 1 | ForEach-Object { $_.Extent.Text })
  $program = $commandAst.CommandElements[0].Extent.Text
  & $program complete "--typed=$wordToComplete" '--' @words 2> $null | ForEach-Object {
    $word, $about = $_ -split "\`t", 2
    if (-not $about) { $about = $word }
    if ($word -ne ':files') {
      [System.Management.Automation.CompletionResult]::new($word, $word, 'ParameterValue', $about)
    }
  }
}
`,
}
