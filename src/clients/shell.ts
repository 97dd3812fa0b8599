import { posix, win32 } from 'node:path'
import type { FileFix, Finding, Findings } from '../finding.ts'
import type { Machine } from '../platform/platform.ts'
import type { ClientContext, ClientName } from './client.ts'
import { isLoopbackUrl } from './loaded-files.ts'

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

/** A variable that defeats a setup. */
interface VariableToCheck extends Pick<Finding, 'code' | 'severity'> {
  readonly name: string
  /** What the client does with it, as the end of a sentence. */
  readonly effect: string
  /** The change in a file of the client that disables the variable, if there is one. */
  readonly fix?: FileFix
}

/**
 * One finding for each variable that is set now, and one for each line of a shell profile that will
 * set it in the next shell.
 */
export function* variableFindings(
  context: ClientContext,
  variables: readonly VariableToCheck[],
): Findings {
  const { machine } = context

  for (const { name, effect, ...found } of variables) {
    const needsConsent = found.severity === 'error' && found.fix === undefined
    const shared = {
      ...found,
      cause: 'override' as const,
      ...(needsConsent && { consent: `Keep ${name}: ${effect}.` }),
    }
    const lines = linesExporting(context, name)

    if (machine.env[name]) {
      yield {
        ...shared,
        message: `${name} is set in this environment: ${effect}`,
        location: 'environment',
        hint: lines.length === 0 ? unsetCommand(machine, name) : unsetOf(machine, name),
      }
    }
    for (const location of lines) {
      yield {
        ...shared,
        message: `a shell profile exports ${name}: ${effect}`,
        location,
        hint: 'Remove the line and open a new terminal.',
      }
    }
  }
}

/** A proxy that a client also uses for an address on this machine. */
interface LoopbackProxy {
  /** The variable that names the proxy. */
  readonly variable: string
  readonly host: string
  /** The value that `NO_PROXY` must have. */
  readonly exempt: string
}

/** The proxy of a client that follows only `NO_PROXY`. Undefined: it uses no proxy. */
function loopbackProxy(url: string, env: Machine['env']): LoopbackProxy | undefined {
  if (!isLoopbackUrl(url)) return undefined
  const { hostname, protocol } = new URL(url)
  const name = protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY'
  const variable = [name, name.toLowerCase()].find((spelling) => env[spelling])
  if (variable === undefined) return undefined

  const exempt = `${env['NO_PROXY'] || env['no_proxy'] || ''}`.split(',').map((host) => host.trim())
  const bare = hostname.replace(/^\[|\]$/g, '')
  if (exempt.some((host) => host === '*' || host === bare || host === hostname)) return undefined
  const exemptHosts = exempt.filter((host) => host !== '')
  return { variable, host: bare, exempt: [...exemptHosts, bare].join(',') }
}

/**
 * Reports that a client sends requests for this machine to a proxy.
 *
 * @param clientParts the location and the fix of the finding, if a client needs other ones
 */
export function* proxyFindings(
  { id, label }: Pick<ClientName, 'id' | 'label'>,
  url: string,
  env: Machine['env'],
  clientParts: (proxy: LoopbackProxy) => Partial<Pick<Finding, 'location' | 'fix'>> = () => ({}),
): Findings {
  const proxy = loopbackProxy(url, env)
  if (proxy === undefined) return

  const parts = clientParts(proxy)
  const message = `${proxy.variable} is set: ${label} also sends requests for ${proxy.host} to that proxy`

  yield {
    code: `${id}-proxy`,
    message,
    location: 'environment',
    hint: `Add ${proxy.host} to NO_PROXY.`,
    ...(parts.fix === undefined && { consent: `${message}.` }),
    severity: 'error',
    ...parts,
  }
}

/** How to unset a variable that no known shell profile sets. */
export function unsetCommand(machine: Machine, name: string): string {
  return `Find out which program sets it. In this terminal: ${unsetOf(machine, name)}`
}

function unsetOf(machine: Machine, name: string): string {
  return machine.os === 'win32' ? `Remove-Item Env:${name}` : `unset ${name}`
}

/** Whether a variable is set now or in the next shell. */
export function isExported(context: ClientContext, name: string): boolean {
  return Boolean(context.machine.env[name]) || linesExporting(context, name).length > 0
}

/** `file:line` of each line of a shell profile that sets a variable in the next shell. */
function linesExporting({ shellProfiles }: ClientContext, name: string): readonly string[] {
  return shellProfiles.flatMap(({ path, text }) => {
    const found = exportedVariables(path, text).filter((variable) => variable.name === name)
    return found.map(({ line }) => `${path}:${line}`)
  })
}
