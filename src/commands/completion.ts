import { Argument, Command } from '@commander-js/extra-typings'
import { loadAllClients } from '../clients/list.ts'
import { UserError } from '../errors.ts'
import type { Machine } from '../platform/platform.ts'
import { commandOf, examples } from './command-line/command.ts'

type Shell = 'bash' | 'zsh' | 'fish' | 'powershell'

const shells: readonly Shell[] = ['bash', 'zsh', 'fish', 'powershell']

/**
 * The command that adds the completion to the file that each shell reads at its start, and one that adds the
 * hook for folders too. In zsh, `compinit` must come before that line.
 */
const startupFileExamples: readonly string[] = [
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
      'print the shell hook: clients use the gateway of their folder (repoint folder)',
    )
    .addHelpText(
      'after',
      examples([
        'source <(repoint completion bash)',
        'source <(repoint completion zsh)',
        'repoint completion fish | source',
        'repoint completion powershell | Out-String | Invoke-Expression',
      ]) + examples(startupFileExamples, 'For every new shell'),
    )
}

/**
 * Prints the script that completes repoint's command line in `shell`, or the hook for it. Returns the
 * exit status.
 */
export const command = commandOf(define, async ({ platform }, shell, { hook }) => {
  platform.terminal.out(hook ? await hookFor(shell, platform.machine) : scripts[shell])
  return 0
})

/**
 * Each script asks `repoint complete` for candidates: a word, a tab and a description per line; or
 * `:files`.
 */
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
  // For Windows PowerShell 5.1 and PowerShell 7. Without candidates, they complete file names.
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

/**
 * The hook that makes a shell start clients with the gateway of a remembered folder: one function for
 * each client's program. If this machine remembers no folder, the function starts the program itself,
 * without repoint. Otherwise `repoint run` decides. The hook fails closed: if `repoint run` cannot start,
 * no client starts.
 *
 * @throws UserError `usage` for a shell that has no hook
 */
async function hookFor(shell: string, { os }: Machine): Promise<string> {
  const formatHook = hooks[shell]
  if (formatHook === undefined || os === 'win32')
    throw new UserError({
      code: 'usage',
      message: `repoint has no shell hook for ${os === 'win32' ? 'Windows' : shell}`,
      hint: 'Start the client with: repoint run -- CLIENT',
    })

  const clients = await loadAllClients()
  const programs = clients.map(({ program }) => program.command)
  return formatHook(shell, [...new Set(programs)])
}

// The paths are those of transaction/records/state-folder.ts. A folder that cannot be searched, or a dangling symlink,
// may hide a list.
const posix = (shell: string, programs: readonly string[]) => `# repoint's hook for ${shell}.
# Load it with: source <(repoint completion ${shell} --hook)
_repoint_by_folder() {
  local state=~/.local/state/repoint
  case \${XDG_STATE_HOME-} in /*) state=$XDG_STATE_HOME/repoint ;; esac
  [ -z "\${REPOINT_STATE_DIR-}" ] || state=$REPOINT_STATE_DIR
  local list=$state/folders.json
  if [ -e "$list" ] || [ -L "$list" ] || { [ -e "$state" -o -L "$state" ] && [ ! -x "$state" ]; }; then
    command repoint run --by-folder -- "$@"
  else
    command "$@"
  fi
}
${programs.map((name) => `function ${name} { _repoint_by_folder ${name} "$@"; }\n`).join('')}`

const fish = (_: string, programs: readonly string[]) => `# repoint's hook for fish.
# Load it with: repoint completion fish --hook | source
function __repoint_by_folder
    set -l state ~/.local/state/repoint
    string match -q -- '/*' "$XDG_STATE_HOME"; and set state $XDG_STATE_HOME/repoint
    test -n "$REPOINT_STATE_DIR"; and set state $REPOINT_STATE_DIR
    set -l list $state/folders.json
    if test -e "$list"; or test -L "$list"; or begin; test -e "$state" -o -L "$state"; and not test -x "$state"; end
        command repoint run --by-folder -- $argv
    else
        command $argv
    end
end
${programs.map((name) => `function ${name} --wraps ${name}; __repoint_by_folder ${name} $argv; end\n`).join('')}`

const hooks: Readonly<Record<string, typeof posix>> = { bash: posix, zsh: posix, fish }
