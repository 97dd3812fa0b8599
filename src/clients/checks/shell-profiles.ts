import { posix, win32 } from 'node:path'
import type { Machine } from '../../platform/platform.ts'

/** One line of a shell profile that gives an exported variable a value. */
interface ProfileVariable {
  readonly name: string
  /** Counted from 1. */
  readonly line: number
}

/** Files that a shell reads at its start, whether they exist or not. */
export function shellProfilePaths(machine: Machine): readonly string[] {
  const { home, env } = machine
  if (machine.os === 'win32') {
    const documents = win32.join(home, 'Documents')
    return [
      win32.join(documents, 'PowerShell', 'Microsoft.PowerShell_profile.ps1'),
      win32.join(documents, 'PowerShell', 'profile.ps1'),
      win32.join(documents, 'WindowsPowerShell', 'Microsoft.PowerShell_profile.ps1'),
      win32.join(documents, 'WindowsPowerShell', 'profile.ps1'),
      win32.join(home, '.bashrc'),
      win32.join(home, '.bash_profile'),
    ]
  }

  const zsh = env['ZDOTDIR'] || home
  const config = env['XDG_CONFIG_HOME'] || posix.join(home, '.config')

  return [
    ...['.profile', '.bash_profile', '.bash_login', '.bashrc', '.bash_aliases'].map((name) =>
      posix.join(home, name),
    ),
    ...['.zshenv', '.zprofile', '.zshrc', '.zlogin'].map((name) => posix.join(zsh, name)),
    posix.join(config, 'fish', 'config.fish'),
    posix.join(config, 'powershell', 'Microsoft.PowerShell_profile.ps1'),
    posix.join(config, 'powershell', 'profile.ps1'),
    posix.join(home, '.config', 'environment.d', 'envvars.conf'),
    '/etc/environment',
    '/etc/profile',
  ]
}

/**
 * The variables that a profile exports with a value, in the syntax of sh, bash, zsh, fish, PowerShell, an
 * environment.d or a .env file. A rough reader: it ignores conditions and sourced files. A later `unset`
 * or `NAME=` removes the value.
 */
export function exportedVariables(path: string, text: string): readonly ProfileVariable[] {
  const dialect = dialectOf(path)
  const known = new Map<string, AssignedVariable>()

  for (const [index, raw] of text.split(/\r\n|\n|\r/).entries()) {
    const steps = raw.split(/;|&&/).flatMap((statement) => dialect(statement.trim()) ?? [])
    for (const { name, does, hasValue = true } of steps) {
      const before = known.get(name)
      const line = index + 1
      const isExported = does === 'export' || before?.isExported === true
      if (does === 'unset') known.delete(name)
      else if (does !== 'export-earlier') known.set(name, { line, hasValue, isExported })
      else if (before) known.set(name, { ...before, isExported: true })
    }
  }

  const exported = [...known].filter(([, { isExported, hasValue }]) => isExported && hasValue)
  return exported.map(([name, { line }]) => ({ name, line }))
}

/** A variable that a profile has assigned so far. */
interface AssignedVariable {
  readonly line: number
  readonly hasValue: boolean
  readonly isExported: boolean
}

interface Step {
  readonly name: string
  readonly does: 'export' | 'export-earlier' | 'assign' | 'unset'
  /** False: the value is empty. */
  readonly hasValue?: boolean
}

function dialectOf(path: string): (statement: string) => readonly Step[] | undefined {
  if (path.endsWith('.fish')) return fishStep
  if (path.endsWith('.ps1')) return powershellStep
  if (/\.conf$|environment$|\.env$/.test(path)) return environmentFileStep
  return posixStep
}

const assignment = /^([A-Za-z_]\w*)=(.*)$/s

function posixStep(statement: string): readonly Step[] | undefined {
  const unset = /^unset\s+(?:-v\s+)?(.+)$/.exec(statement)
  if (unset) return words(unset[1]!).map((name) => ({ name, does: 'unset' }))
  const exported = /^(?:export|(?:declare|typeset)\s+-\w*x\w*)\s+(.+)$/.exec(statement)
  if (exported) {
    return words(exported[1]!).flatMap((word): Step[] => {
      const pair = assignment.exec(word)
      if (pair) return [{ name: pair[1]!, does: 'export', hasValue: !isEmpty(pair[2]!) }]
      return /^[A-Za-z_]\w*$/.test(word) ? [{ name: word, does: 'export-earlier' }] : []
    })
  }

  const pair = assignment.exec(statement)
  if (!pair) return undefined
  // `NAME=value command` sets it for that command only.
  if (words(statement).length > 1) return undefined
  return [{ name: pair[1]!, does: 'assign', hasValue: !isEmpty(pair[2]!) }]
}

function fishStep(statement: string): readonly Step[] | undefined {
  const parts = words(statement)
  if (parts[0] === 'export') return posixStep(statement)
  if (parts[0] !== 'set') return undefined
  const flags = parts.filter((part) => part.startsWith('-'))
  const [name, value] = parts.slice(1).filter((part) => !part.startsWith('-'))
  if (!name) return undefined

  const has = (short: string, long: string) =>
    flags.some((flag) => flag === long || (/^-[a-zA-Z]+$/.test(flag) && flag.includes(short)))
  if (has('e', '--erase')) return [{ name, does: 'unset' }]
  if (!has('x', '--export')) return undefined
  return [{ name, does: value === undefined || isEmpty(value) ? 'unset' : 'export' }]
}

function powershellStep(statement: string): readonly Step[] | undefined {
  const set = /^\$\{?env:(\w+)\}?\s*=\s*(.+)$/i.exec(statement)
  if (set) {
    const isUnset = isEmpty(set[2]!) || /^\$null$/i.test(set[2]!.trim())
    return [{ name: set[1]!, does: isUnset ? 'unset' : 'export' }]
  }

  const method =
    /^\[(?:System\.)?Environment\]::SetEnvironmentVariable\(\s*["'](\w+)["']\s*,\s*([^,)]+)/i.exec(
      statement,
    )
  if (method) return [{ name: method[1]!, does: isEmpty(method[2]!) ? 'unset' : 'export' }]
  const removed = /^Remove-Item\s+(?:-Path\s+)?["']?env:\\?(\w+)/i.exec(statement)
  return removed ? [{ name: removed[1]!, does: 'unset' }] : undefined
}

function environmentFileStep(statement: string): readonly Step[] | undefined {
  const pair = assignment.exec(statement.replace(/^export\s+/, ''))
  return pair ? [{ name: pair[1]!, does: isEmpty(pair[2]!) ? 'unset' : 'export' }] : undefined
}

/** Splits at blanks outside quotes, up to a comment. Keeps the quotes. */
function words(text: string): string[] {
  const found = text.match(/(?:[^\s"'#]|(?<=\S)#|"(?:[^"\\]|\\.)*"?|'[^']*'?)+|#.*/gs) ?? []
  const comment = found.findIndex((word) => word.startsWith('#'))
  return comment === -1 ? found : found.slice(0, comment)
}

function isEmpty(value: string): boolean {
  return /^(?:""|'')?\s*(?:#.*)?$/.test(value.trim())
}
