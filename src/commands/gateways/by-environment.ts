import { type Client, protocolOf, runKeyVariable } from '../../clients/client.ts'
import { type EnvironmentRow, loadClient } from '../../clients/list.ts'
import { rootOf, shownRoot } from '../../gateway/roots.ts'
import type { ExtraHeader } from '../../gateway/types.ts'
import type { Machine } from '../../platform/platform.ts'
import { savedGatewayFor, saveGateway } from '../../state/save-gateway.ts'
import { printableLine } from '../../text.ts'
import { expectWorking, installedVersion } from '../client-state/program.ts'
import {
  commandOf,
  examples,
  type FlagsOf,
  type GatewayFlags,
  gatewayCommand,
  type ListedCommand,
  modelId,
} from '../command.ts'
import type { Session } from '../screen/session.ts'
import { sendersOf } from '../setup/probes.ts'
import { proveModel } from './ask-catalog.ts'

/** The flags of a client that keeps no gateway in a file: it is told by its environment alone. */
function defineFor(row: EnvironmentRow) {
  return gatewayCommand(row.id)
    .description(row.description)
    .option('--model <id>', 'the model (default: chosen from the catalog)', modelId)
    .option('--name <name>', 'what the gateway is remembered as (default: its host)')
    .option('--json', 'print one JSON document')
    .addHelpText('after', examples(row.examples))
}

export function commandFor(row: EnvironmentRow): ListedCommand {
  return commandOf(
    () => defineFor(row),
    async (session, flags) => tellVariables(session, flags, await loadClient(row)),
  )
}

/** Proves key, address and model, remembers the gateway, and says how a process is pointed at it. */
async function tellVariables(
  session: Session,
  flags: FlagsOf<typeof defineFor>,
  client: Client,
): Promise<number> {
  const program = await installedVersion(session, client)
  expectWorking(client, program)
  const requested = { model: flags.model }
  const { access, models } = await proveModel(session, flags, {
    client,
    choose: (catalog) => client.resolve({ requested, gatewayInfo: { catalog, rejected: [] } }),
    senderOf: (protocol, model) =>
      sendersOf(session, client, { texts: [], ...program })({ protocol, model }),
  })

  if (access.headers?.some((header) => header.isSecret))
    session.addFindings({
      code: 'secret-header',
      message: 'The gateway is asked with a secret header: `repoint run` alone sets it',
    })

  const protocol = protocolOf(client, models)
  const proof = { protocol, model: models.probeModel }
  session.warn(...saveGateway(session.platform, { access, proof }))
  const name = savedGatewayFor(session.platform, access)?.name

  const root = rootOf(access, protocol)
  const { baseUrl, headers } = access
  const choice = {
    baseUrl: root,
    baseUrls: access.baseUrls,
    key: '',
    providerId: 'gateway',
    resolved: models,
    input: { requested },
    headers,
  }
  const { machine } = session.platform
  const { env } = client.launchSettings!([], choice, {
    args: [],
    env: { [runKeyVariable]: keyMark },
    tempFolder: '',
  })

  const told = Object.entries(env).filter(([variable]) => variable !== runKeyVariable)
  const variables = told.flatMap(([variable, value]): ShellVariable[] => {
    if (value === undefined) return []
    if (value === keyMark) return [{ name: variable, isKey: true }]
    return isSecret(value, headers) ? [] : [{ name: variable, value }]
  })
  const unset = told.flatMap(([variable, value]) =>
    value === undefined && machine.env[variable] !== undefined ? [variable] : [],
  )

  const run = name === undefined ? undefined : `repoint run ${name} -- ${client.program.command}`
  const shell = spellingOf(machine)
  const lines = [
    ...unset.map((one) => shell.unset(one)),
    ...variables.map(({ name: one, value }) =>
      value === undefined
        ? lineForKey(shell, one, flags, machine.home)
        : shell.set(one, shell.quoted(value)),
    ),
  ]

  session.showFindings('warning')
  session.say(
    `The key, the address and the model work: ${shownRoot(root, protocol)}, ${models.model}.`,
  )
  if (run !== undefined)
    session.say(`${client.label}, pointed at it, its key in no file:\n  ${run}`)
  session.say('Or for all that this terminal starts; the key is read, not shown:')
  for (const line of lines) session.say(`  ${printableLine(line)}`)

  session.document({
    command: client.id,
    changed: false,
    baseUrl,
    model: models.model,
    gateway: name,
    variables,
    unset,
    verified: { before: true, after: false },
    warnings: session.warnings,
    next: run === undefined ? [] : [run],
  })
  return 0
}

interface ShellVariable {
  readonly name: string
  readonly value?: string
  readonly isKey?: true
}

/** What holds a secret header is set by a run alone. */
function isSecret(value: string, headers: readonly ExtraHeader[] = []): boolean {
  return headers.some((header) => header.isSecret && value.includes(header.value))
}

/** Stands where the key would. */
const keyMark = '<your key>'

interface Spelling {
  quoted(text: string): string
  /** Sets a variable to what an expression gives. */
  set(name: string, expression: string): string
  unset(name: string): string
  /** Reads it from the keyboard, without showing it. */
  ask(name: string): string
  /** The expression for what another variable holds. */
  variable(name: string): string
  /** The expression for what stands in a file. */
  contents(path: string): string
}

/** How the shell of a machine's user sets variables. */
export function spellingOf({ os, env }: Machine): Spelling {
  if (os === 'win32') return powershell
  return /(?:^|\/)fish$/.test(env['SHELL'] ?? '') ? fish : posix
}

/** Takes the key from where it was given, else from the keyboard. */
function lineForKey(
  shell: Spelling,
  name: string,
  { keyFile, keyEnv }: Pick<GatewayFlags, 'keyFile' | 'keyEnv'>,
  home: string,
): string {
  if (keyFile === undefined)
    return keyEnv === undefined ? shell.ask(name) : shell.set(name, shell.variable(keyEnv))
  // What is shown of a path has `~` for the home folder, which no quotes may hold.
  const isBelow = shell !== powershell && keyFile.startsWith(`${home}/`)
  const path = isBelow ? `~/${shell.quoted(keyFile.slice(home.length + 1))}` : shell.quoted(keyFile)
  return shell.set(name, shell.contents(path))
}

const posix: Spelling = {
  quoted: (text) => `'${text.replaceAll("'", "'\\''")}'`,
  set: (name, expression) => `export ${name}=${expression}`,
  unset: (name) => `unset ${name}`,
  ask: (name) => `read -rs ${name} && export ${name}`,
  variable: (name) => `"$${name}"`,
  contents: (path) => `"$(cat ${path})"`,
}

const fish: Spelling = {
  quoted: (text) => `'${text.replace(/[\\']/g, '\\$&')}'`,
  set: (name, expression) => `set -gx ${name} ${expression}`,
  unset: (name) => `set -e ${name}`,
  ask: (name) => `read -s -gx ${name}`,
  variable: (name) => `$${name}`,
  contents: (path) => `(cat ${path})`,
}

const powershell: Spelling = {
  // It takes each of these for a quote, and two of them for one inside (about_Quoting_Rules, 7.5).
  quoted: (text) => `'${text.replace(/['‘’‚‛]/g, '$&$&')}'`,
  set: (name, expression) => `$env:${name} = ${expression}`,
  unset: (name) => `Remove-Item Env:${name}`,
  ask: (name) =>
    `$env:${name} = [Net.NetworkCredential]::new('', (Read-Host -AsSecureString)).Password`,
  variable: (name) => `$env:${name}`,
  contents: (path) => `(Get-Content ${path})`,
}
