import type { Client } from '../clients/contract/client.ts'
import { defaultProviderId } from '../clients/contract/options.ts'
import { launchKeyVariable } from '../clients/contract/program.ts'
import type { SetupTarget } from '../clients/contract/setup.ts'
import { type AnyClientRow, loadClient } from '../clients/list.ts'
import { sendingFindings } from '../clients/plan/headers.ts'
import { refuseBlocked } from '../errors.ts'
import { addressFor, baseUrlFor } from '../gateway/base-urls.ts'
import type { ExtraHeader } from '../gateway/types.ts'
import type { Machine } from '../platform/platform.ts'
import { rememberServed } from '../state/remembered.ts'
import { savedGatewayFor, saveGateway } from '../state/save-gateway.ts'
import { printableLine } from '../text.ts'
import { installedVersion, versionFindings } from './client-state/program/installed-program.ts'
import { type CommandFactory, commandOf, examples, type FlagsOf } from './command-line/command.ts'
import { type GatewayFlags, gatewayCommand, modelId } from './command-line/flags.ts'
import { senderOf, servedBy } from './prove/first-requests.ts'
import { openNamedGateway, proveOne } from './prove/prove-one.ts'
import { targetFor } from './resolve/point-client.ts'
import type { Session } from './screen/session.ts'

/** The flags of a client that reads its gateway from environment variables only. */
function defineFor(row: AnyClientRow) {
  return gatewayCommand(row.id)
    .option('--model <id>', 'the model (default: chosen from the catalog)', modelId)
    .option('--name <name>', 'save the gateway under this name (default: its host)')
    .option('--json', 'print one JSON document')
    .addHelpText('after', examples(row.examples))
}

export function environmentClientCommand(row: AnyClientRow): CommandFactory {
  return commandOf(
    () => defineFor(row),
    async (session, flags) => showVariables(session, flags, await loadClient(row)),
  )
}

/** Proves the key, the address and the model, saves the gateway, and shows how to start a process with it. */
async function showVariables(
  session: Session,
  flags: FlagsOf<typeof defineFor>,
  client: Client,
): Promise<number> {
  const program = await installedVersion(session, client, 'setup')
  refuseBlocked([...versionFindings(client, program)])
  const requested = { model: flags.model }
  const requester = await openNamedGateway(session, undefined, flags)
  const { access, choice: models } = await proveOne(session, {
    requester,
    model: flags.model,
    choose: (gatewayInfo) => client.resolve({ requested, gatewayInfo }),
    senderFor: (probed) => senderOf(session, client, { files: [], ...program }, probed),
  })
  refuseBlocked([...sendingFindings(client, access)])
  session.addFindings(...models.findings)

  if (access.headers?.some((header) => header.isSecret))
    session.addFindings({
      code: 'secret-header',
      severity: 'warning',
      message: 'This gateway needs a secret header, which only `repoint run` sets',
    })

  const { protocol } = models
  const proof = { protocol, model: models.probeModel }
  session.addFindings(
    ...saveGateway(session.platform, { access, proof: { ...proof, safeguards: 'not-requested' } }),
  )
  rememberServed(session.platform, servedBy(access, { client, program, resolved: models }))
  const name = savedGatewayFor(session.platform, access)?.name
  const runCommand =
    name === undefined ? undefined : `repoint run ${name} -- ${client.program.command}`

  const { machine } = session.platform
  const { variables, unset } = variablesFor(
    client,
    targetFor({ input: { requested }, resolved: models }, access, defaultProviderId),
    machine,
  )
  const address = addressFor(baseUrlFor(access, protocol), protocol)
  session.showFindings()
  session.say(`The key, the address and the model work: ${address}, ${models.model}.`)
  if (runCommand !== undefined)
    session.say(
      `Start ${client.label} with this gateway, without writing the key to a file:\n  ${runCommand}`,
    )
  session.say('Or for every program that this terminal starts (the key is not shown):')
  for (const line of shellLines(variables, unset, flags, machine))
    session.say(`  ${printableLine(line)}`)

  session.document({
    command: client.id,
    changed: false,
    baseUrl: access.address,
    model: models.model,
    gateway: name,
    variables,
    unset,
    verified: { before: true, after: false },
    warnings: session.findingsAsJson,
    next: runCommand === undefined ? [] : [runCommand],
  })
  return 0
}

/** The variables that point a client at the gateway, and those that must be unset for that. */
function variablesFor(
  client: Client,
  target: SetupTarget,
  machine: Machine,
): { readonly variables: readonly ShellVariable[]; readonly unset: readonly string[] } {
  const { env } = client.launchSettings(
    [],
    { ...target, key: '' },
    {
      args: [],
      env: { [launchKeyVariable]: keyPlaceholder },
      tempFolder: '',
    },
  )

  const changed = Object.entries(env).filter(([variable]) => variable !== launchKeyVariable)
  const variables = changed.flatMap(([variable, value]): ShellVariable[] => {
    if (value === undefined) return []
    if (value === keyPlaceholder) return [{ name: variable, isKey: true }]
    return isSecret(value, target.headers) ? [] : [{ name: variable, value }]
  })
  const unset = changed.flatMap(([variable, value]) =>
    value === undefined && machine.env[variable] !== undefined ? [variable] : [],
  )
  return { variables, unset }
}

/** The lines that set and unset these variables in the user's shell. */
function shellLines(
  variables: readonly ShellVariable[],
  unset: readonly string[],
  flags: GatewayFlags,
  machine: Machine,
): readonly string[] {
  const shell = shellSyntaxFor(machine)
  return [
    ...unset.map((variable) => shell.unset(variable)),
    ...variables.map(({ name, value }) =>
      value === undefined
        ? lineForKey(shell, name, flags, machine.home)
        : shell.set(name, shell.quoted(value)),
    ),
  ]
}

/** A variable to set. Without a value, it gets the key. */
interface ShellVariable {
  readonly name: string
  readonly value?: string
  readonly isKey?: true
}

/** Only `repoint run` sets variables that contain a secret header. */
function isSecret(value: string, headers: readonly ExtraHeader[] = []): boolean {
  return headers.some((header) => header.isSecret && value.includes(header.value))
}

const keyPlaceholder = '<your key>'

interface ShellSyntax {
  quoted(text: string): string
  /** Sets a variable to the value of an expression. */
  set(name: string, expression: string): string
  unset(name: string): string
  /** Reads a variable from the keyboard, without showing it. */
  ask(name: string): string
  /** The expression for the value of another variable. */
  variable(name: string): string
  /** The expression for the contents of a file. */
  contents(path: string): string
}

/** How the shell of the machine's user sets variables. */
export function shellSyntaxFor({ os, env }: Machine): ShellSyntax {
  if (os === 'win32') return powershell
  return /(?:^|\/)fish$/.test(env['SHELL'] ?? '') ? fish : posix
}

/** The line that takes the key from the file or variable that the user named, or from the keyboard. */
function lineForKey(
  shell: ShellSyntax,
  name: string,
  { keyFile, keyEnv }: Pick<GatewayFlags, 'keyFile' | 'keyEnv'>,
  home: string,
): string {
  if (keyFile === undefined)
    return keyEnv === undefined ? shell.ask(name) : shell.set(name, shell.variable(keyEnv))
  // The shown path has `~` for the home folder, and `~` does not work inside quotes.
  const isBelow = shell !== powershell && keyFile.startsWith(`${home}/`)
  const path = isBelow ? `~/${shell.quoted(keyFile.slice(home.length + 1))}` : shell.quoted(keyFile)
  return shell.set(name, shell.contents(path))
}

const posix: ShellSyntax = {
  quoted: (text) => `'${text.replaceAll("'", "'\\''")}'`,
  set: (name, expression) => `export ${name}=${expression}`,
  unset: (name) => `unset ${name}`,
  ask: (name) => `read -rs ${name} && export ${name}`,
  variable: (name) => `"$${name}"`,
  contents: (path) => `"$(cat ${path})"`,
}

const fish: ShellSyntax = {
  quoted: (text) => `'${text.replace(/[\\']/g, '\\$&')}'`,
  set: (name, expression) => `set -gx ${name} ${expression}`,
  unset: (name) => `set -e ${name}`,
  ask: (name) => `read -s -gx ${name}`,
  variable: (name) => `$${name}`,
  contents: (path) => `(cat ${path})`,
}

const powershell: ShellSyntax = {
  // PowerShell treats each of these characters as a quote. A doubled one is an ordinary character
  // (about_Quoting_Rules, 7.5).
  quoted: (text) => `'${text.replace(/['‘’‚‛]/g, '$&$&')}'`,
  set: (name, expression) => `$env:${name} = ${expression}`,
  unset: (name) => `Remove-Item Env:${name}`,
  ask: (name) =>
    `$env:${name} = [Net.NetworkCredential]::new('', (Read-Host -AsSecureString)).Password`,
  variable: (name) => `$env:${name}`,
  contents: (path) => `(Get-Content ${path})`,
}
