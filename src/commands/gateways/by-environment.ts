import { type Client, protocolOf, runKeyVariable } from '../../clients/client.ts'
import { type EnvironmentRow, loadClient } from '../../clients/list.ts'
import { rootFor, shownRoot } from '../../gateway/roots.ts'
import type { ExtraHeader } from '../../gateway/types.ts'
import type { Machine } from '../../platform/platform.ts'
import { printableLine } from '../../text.ts'
import {
  commandOf,
  examples,
  type FlagsOf,
  type GatewayFlags,
  gatewayCommand,
  type ListedCommand,
} from '../command.ts'
import { knownGateway, rememberGateway } from '../inventory/remember-gateway.ts'
import type { Session } from '../screen/session.ts'
import { proveModel } from './ask-catalog.ts'

/** The flags of a client that keeps no gateway in a file: it is told by its environment alone. */
function defineFor(row: EnvironmentRow) {
  return gatewayCommand(row.id)
    .description(row.description)
    .option('--model <id>', 'the model (default: chosen from the catalog)')
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
  const asked = { model: flags.model }
  const { access, models } = await proveModel(session, flags, {
    client,
    choose: (catalog) => client.choose(catalog, asked),
  })
  if (access.headers?.some((header) => header.isSecret))
    session.notice({
      code: 'secret-header',
      message: 'The gateway is asked with a secret header: `repoint run` alone sets it',
    })

  const protocol = protocolOf(client, models)
  const proof = { protocol, model: models.probeModel }
  rememberGateway(session, { access, flags, proof })
  const name = knownGateway(session, { name: flags.name, access })?.name

  const root = rootFor(access.roots, protocol)
  const { baseUrl, headers } = access
  const choice = { root, key: '', providerId: 'gateway', models, options: asked, headers }
  const { machine } = session.platform
  const { env } = client.forOneRun!([], choice, {
    args: [],
    env: { [runKeyVariable]: keyMark },
    folder: '',
  })
  const told = Object.entries(env).filter(([variable]) => variable !== runKeyVariable)
  const variables = told.flatMap(([variable, value]): Variable[] => {
    if (value === undefined) return []
    if (value === keyMark) return [{ name: variable, isKey: true }]
    return isSecret(value, headers) ? [] : [{ name: variable, value }]
  })
  const unset = told.flatMap(([variable, value]) =>
    value === undefined && machine.env[variable] !== undefined ? [variable] : [],
  )

  const run = name === undefined ? undefined : `repoint run ${name} -- ${client.binary.command}`
  const shell = spellingOf(machine)
  const lines = [
    ...unset.map((one) => shell.unset(one)),
    ...variables.map(({ name: one, value }) =>
      value === undefined
        ? shell.key(one, { ...flags, home: machine.home })
        : shell.set(one, value),
    ),
  ]
  session.showNotices('warning')
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
    warnings: session.notices,
    next: run === undefined ? [] : [run],
  })
  return 0
}

interface Variable {
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
  set(name: string, value: string): string
  unset(name: string): string
  /** Reads the key from where it was given, else from the keyboard without showing it. */
  key(name: string, from: KeySource): string
}

interface KeySource extends Pick<GatewayFlags, 'keyFile' | 'keyEnv'> {
  readonly home: string
}

/** How the shell of a machine's user sets variables. */
function spellingOf({ os, env }: Machine): Spelling {
  if (os === 'win32') return powershell
  return /(?:^|\/)fish$/.test(env['SHELL'] ?? '') ? fish : posix
}

const posix: Spelling = {
  set: (name, value) => `export ${name}=${quotedPosix(value)}`,
  unset: (name) => `unset ${name}`,
  key: (name, { keyFile, keyEnv, home }) =>
    keyFile !== undefined
      ? `export ${name}="$(cat ${belowHome(keyFile, home, quotedPosix)})"`
      : keyEnv !== undefined
        ? `export ${name}="$${keyEnv}"`
        : `read -rs ${name} && export ${name}`,
}

const fish: Spelling = {
  set: (name, value) => `set -gx ${name} ${quotedFish(value)}`,
  unset: (name) => `set -e ${name}`,
  key: (name, { keyFile, keyEnv, home }) =>
    keyFile !== undefined
      ? `set -gx ${name} (cat ${belowHome(keyFile, home, quotedFish)})`
      : keyEnv !== undefined
        ? `set -gx ${name} $${keyEnv}`
        : `read -s -gx ${name}`,
}

const powershell: Spelling = {
  set: (name, value) => `$env:${name} = ${quotedPowershell(value)}`,
  unset: (name) => `Remove-Item Env:${name}`,
  key: (name, { keyFile, keyEnv }) =>
    keyFile !== undefined
      ? `$env:${name} = (Get-Content ${quotedPowershell(keyFile)})`
      : keyEnv !== undefined
        ? `$env:${name} = $env:${keyEnv}`
        : `$env:${name} = [Net.NetworkCredential]::new('', (Read-Host -AsSecureString)).Password`,
}

/** What is shown of a path has `~` for the home folder, which no quotes may hold. */
function belowHome(path: string, home: string, quoted: (text: string) => string): string {
  return path.startsWith(`${home}/`) ? `~/${quoted(path.slice(home.length + 1))}` : quoted(path)
}

function quotedPosix(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

function quotedFish(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`
}

function quotedPowershell(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}
