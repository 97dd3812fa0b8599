import type { FileFix, Finding, Findings } from '../../finding.ts'
import type { Machine } from '../../platform/platform.ts'
import type { ClientContext, ClientName } from '../contract/client.ts'
import { isLoopbackUrl } from '../files/addresses.ts'
import { exportedVariables } from './shell-profiles.ts'

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
      topic: 'override' as const,
      ...(needsConsent && { needsConsentTo: `Keep ${name}: ${effect}.` }),
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
    ...(parts.fix === undefined && { needsConsentTo: `${message}.` }),
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
