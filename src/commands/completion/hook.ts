import { loadPrograms } from '../../clients/list.ts'
import { UserError } from '../../errors.ts'
import type { Machine } from '../../platform/platform.ts'

/**
 * What makes a shell start clients at the gateway of a remembered folder: a function for each client's
 * program. Where no folder is remembered on this machine the function starts the program itself, and
 * nothing of ours; else `repoint run` decides. It fails closed: where that cannot run, no client starts.
 *
 * @throws UserError `usage` for a shell that has none
 */
export async function hookFor(shell: string, { os }: Machine): Promise<string> {
  const write = hooks[shell]
  if (write === undefined || os === 'win32')
    throw new UserError({
      code: 'usage',
      message: `There is no hook for ${os === 'win32' ? 'Windows' : shell}`,
      hint: 'bash, zsh and fish have one. Elsewhere: repoint run -- CLIENT',
    })

  const clients = await loadPrograms()
  const programs = clients.filter((one) => one.forOneRun).map(({ binary }) => binary.command)
  return write(shell, [...new Set(programs)])
}

// The places are those of transaction/state.ts. What cannot be looked into, or is a link to nothing, may hold a list.
const posix = (shell: string, programs: readonly string[]) => `# repoint's hook for ${shell}.
# Load it with: source <(repoint completion ${shell} --hook)
_repoint_by_folder() {
  local state=~/.local/state/repoint
  case \${XDG_STATE_HOME-} in /*) state=$XDG_STATE_HOME/repoint ;; esac
  [ -z "\${REPOINT_STATE_DIR-}" ] || state=$REPOINT_STATE_DIR
  local list=$state/.folders.json
  if [ -e "$list" ] || [ -L "$list" ] || { [ -e "$state" -o -L "$state" ] && [ ! -x "$state" ]; }; then
    command repoint run --by-folder -- "$@"
  else
    command "$@"
  fi
}
${programs.map((one) => `function ${one} { _repoint_by_folder ${one} "$@"; }\n`).join('')}`

const fish = (_: string, programs: readonly string[]) => `# repoint's hook for fish.
# Load it with: repoint completion fish --hook | source
function __repoint_by_folder
    set -l state ~/.local/state/repoint
    string match -q -- '/*' "$XDG_STATE_HOME"; and set state $XDG_STATE_HOME/repoint
    test -n "$REPOINT_STATE_DIR"; and set state $REPOINT_STATE_DIR
    set -l list $state/.folders.json
    if test -e "$list"; or test -L "$list"; or begin; test -e "$state" -o -L "$state"; and not test -x "$state"; end
        command repoint run --by-folder -- $argv
    else
        command $argv
    end
end
${programs.map((one) => `function ${one} --wraps ${one}; __repoint_by_folder ${one} $argv; end\n`).join('')}`

const hooks: Readonly<Record<string, typeof posix>> = { bash: posix, zsh: posix, fish }
