import type { FileFix, Finding, Findings } from '../../finding.ts'
import type { Machine } from '../../platform/platform.ts'
import type { ClientContext, ClientModule, ClientName } from '../contract/client.ts'
import type { HarmfulVariable, KnownVariables } from '../contract/config.ts'
import { isLoopbackUrl } from '../files/addresses.ts'
import { exportedVariables } from './shell-profiles.ts'

/** A variable that defeats a setup, and the change in a file of the client that disables it, if there is one. */
interface VariableToCheck extends HarmfulVariable {
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

  for (const { name, effect, isLeftToLaunch: _, ...found } of variables) {
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

type ClientWithVariables = Pick<ClientName, 'label'> & Pick<ClientModule, 'config'>

/** Reports the variables that may be another login or address, and that repoint does not know. */
export function unknownVariableFindings(
  { label, config }: ClientWithVariables,
  context: ClientContext,
): Findings {
  const inProfiles = context.shellProfiles.flatMap(({ path, text }) =>
    exportedVariables(path, text).map(({ name }) => name),
  )
  const names = new Set([...Object.keys(context.machine.env), ...inProfiles])
  return variableFindings(
    context,
    [...names]
      .filter((name) => isUnknownVariable(config.variables, name))
      .map((name) => ({
        name,
        code: 'unknown-variable',
        effect: `repoint does not know whether ${label} then sends another key, or to another address`,
        severity: 'warning',
      })),
  )
}

/** The words of a name that speak of a login or an address. */
const sensitiveWords =
  /_(?:AUTH|OAUTH|TOKEN|KEY|APIKEY|IDENTITY|CREDENTIALS?|SECRET|PASSWORD|BEARER|LOGIN|URL|URI|ADDRESS|HOST|ENDPOINT|BASE|SOCKET|PROXY)(?:_|$)/

function isUnknownVariable({ families, harmful, harmless }: KnownVariables, name: string): boolean {
  if (!families.some((family) => name.startsWith(family)) || !sensitiveWords.test(name))
    return false
  const isListed = harmless.some((known) =>
    new RegExp(`^${known.replaceAll('*', '.*')}$`).test(name),
  )
  return !isListed && !harmful.some((known) => known.name === name)
}

/** The variables of an environment without which `repoint run` starts the client. */
export function variablesToRemove(
  { config }: ClientWithVariables,
  env: Machine['env'],
): readonly string[] {
  const { variables } = config
  const harmful = variables.harmful
    .filter(({ isLeftToLaunch }) => !isLeftToLaunch)
    .map(({ name }) => name)
  return Object.keys(env).filter(
    (name) => env[name] && (harmful.includes(name) || isUnknownVariable(variables, name)),
  )
}

/** A proxy that a client also uses for an address on this machine. */
interface LoopbackProxy {
  readonly variable: string
  readonly host: string
  /** The value that `NO_PROXY` must have. */
  readonly exempt: string
}

/** The proxy of a client that follows only `NO_PROXY`. Undefined: it uses no proxy. */
function loopbackProxy(
  url: string,
  env: Machine['env'],
  readsAllProxy: boolean,
): LoopbackProxy | undefined {
  if (!isLoopbackUrl(url)) return undefined
  const { hostname, protocol } = new URL(url)
  const names = [protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY']
  if (readsAllProxy) names.push('ALL_PROXY')
  const variable = names
    .flatMap((name) => [name, name.toLowerCase()])
    .find((spelling) => env[spelling])
  if (variable === undefined) return undefined

  const exempt = `${env['NO_PROXY'] || env['no_proxy'] || ''}`.split(',').map((host) => host.trim())
  const bare = hostname.replace(/^\[|\]$/g, '')
  if (exempt.some((host) => host === '*' || host === bare || host === hostname)) return undefined
  const exemptHosts = exempt.filter((host) => host !== '')
  return { variable, host: bare, exempt: [...exemptHosts, bare].join(',') }
}

/** How a client's rule for proxies differs from the usual one. */
interface ProxyRule {
  /** It also obeys `ALL_PROXY`. */
  readonly readsAllProxy?: boolean
  /** The location and the fix of the finding. */
  readonly parts?: (proxy: LoopbackProxy) => Partial<Pick<Finding, 'location' | 'fix'>>
}

/** Reports that a client sends requests for this machine to a proxy. */
export function* proxyFindings(
  { id, label }: Pick<ClientName, 'id' | 'label'>,
  url: string,
  env: Machine['env'],
  { readsAllProxy = false, parts: clientParts }: ProxyRule = {},
): Findings {
  const proxy = loopbackProxy(url, env, readsAllProxy)
  if (proxy === undefined) return

  const parts = clientParts?.(proxy) ?? {}
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
