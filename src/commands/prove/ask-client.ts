/**
 * repoint asks an installed client instead of imitating it. It starts the client for one word, twice:
 *
 *     appeal        before repoint says that the client cannot use the gateway: in an empty temporary home, started
 *                   as `repoint run` starts it
 *     tryClients    after a setup: with the user's own files, as the user will start it
 */
import { join } from 'node:path'
import type { Client } from '../../clients/contract/client.ts'
import { isLoopbackUrl } from '../../clients/files/addresses.ts'
import { ifPossible, UserError } from '../../errors.ts'
import type { Finding } from '../../finding.ts'
import { asObject, jsonIn } from '../../gateway/foreign-text.ts'
import { closeIdleConnections } from '../../gateway/http/request.ts'
import { admitsOnlyClients, mayHelp, rejectsParameter } from '../../gateway/judge/traits.ts'
import { sendWithKey } from '../../gateway/send.ts'
import type { GatewayAccess } from '../../gateway/types.ts'
import type { RunOptions, RunResult } from '../../platform/platform.ts'
import { asSentence, listWords, printable } from '../../text.ts'
import { missingTrust } from '../client-state/certificates.ts'
import { listClientFiles, stateNow } from '../client-state/client-files.ts'
import {
  installedVersion,
  isInstalled,
  versionOfPackage,
} from '../client-state/program/installed-program.ts'
import { inTempFolder, newTempPath } from '../client-state/program/temp-folder.ts'
import type { ResolvedChoice } from '../resolve/client-choice.ts'
import { pointClient } from '../resolve/point-client.ts'
import type { Session } from '../screen/session.ts'

/** How long an appeal may take, in ms. A client that is slower decides nothing. */
const appealTimeoutMs = 30_000

/** How long a try may take, in ms: up to 12 s for one word, and some clients retry for a minute before they fail. */
const tryTimeoutMs = 90_000

/** How many characters of the client's output are shown, from its end. */
const maxShown = 600

/**
 * What one start of an installed client showed.
 *
 *     The client                                              kind
 *     exits with 0                                            answered
 *     fails, and its words have the status of a response      rejected   by the gateway, too
 *     fails otherwise, does not start, takes too long         failed     says nothing about the gateway
 */
interface ClientSaid {
  readonly kind: 'answered' | 'rejected' | 'failed'
  /** Its answer, or why there is none: `failed with status 1: 401 Invalid token`. */
  readonly words: string
  readonly seconds: number
}

export interface TriedClient extends ClientSaid {
  readonly client: Client
}

/**
 * Lets the installed client decide, before repoint says that it cannot use the gateway.
 *
 * @param rejection why the gateway rejected repoint's own request
 * @param verdict what repoint would say
 * @returns what the user should know: the client got an answer
 * @throws UserError `verdict`, with what the client said, or that nobody could ask it; `cancelled`
 */
export async function appeal(
  session: Session,
  access: GatewayAccess,
  choice: ResolvedChoice,
  rejection: UserError,
  verdict: UserError = rejection,
): Promise<Finding> {
  const { label } = choice.client
  if (!mayHelp('client', rejection)) throw verdict
  if (!isInstalled(session, choice.client)) {
    const { hint = '' } = verdict
    const { input, resolved } = choice
    // Without the list of models, most clients need a name.
    const model = input.requested.model === undefined ? ` --model ${resolved.probeModel}` : ''
    throw verdict.with({
      message: `${asSentence(verdict.message)} ${label} is not installed, so nobody could ask it`,
      ...(admitsOnlyClients(rejection) && {
        hint: `Install ${label}, then run the command again.`,
      }),
      // Some clients leave out what the gateway rejects.
      ...(rejectsParameter(rejection) && {
        hint: `${asSentence(hint)} To go on without a test: {--no-verify}${model}`,
      }),
    })
  }

  const { kind, words } = await askAtHome(session, access, choice)
  if (kind === 'answered')
    return {
      code: 'proven-by-client',
      severity: 'note',
      message: `${label} itself gets answers, although the gateway rejected repoint's own request (${rejection.message})`,
    }
  const meaning = kind === 'rejected' ? '' : ', which decides nothing'
  throw verdict.with({
    message: `${asSentence(verdict.message)} ${label} itself ${words}${meaning}`,
  })
}

/** Starts the client in an empty home, so the user's servers and hooks do not start. Writes no file of the user. */
async function askAtHome(
  session: Session,
  access: GatewayAccess,
  choice: ResolvedChoice,
): Promise<ClientSaid> {
  const { client } = choice
  const { platform } = session
  const { version } = await installedVersion(session, client, 'launch')
  const folder = newTempPath(platform)
  const [home, cwd] = [join(folder, 'home'), join(folder, 'work')]
  const env = {
    ...platform.machine.env,
    ...Object.fromEntries(homeVariables(session, client).map((name) => [name, undefined])),
    HOME: home,
    USERPROFILE: home,
  }
  const launch = pointClient(session, choice, access, {
    process: {
      args: client.program.pingArgs('ping', version, 'empty'),
      env,
      tempFolder: folder,
    },
    safeguards: 'not-requested',
  })

  return inTempFolder(platform, folder, launch.files ?? {}, () => {
    for (const path of [home, cwd]) platform.files.mkdir(path, 0o700)
    const said = startOnce(session, client, launch.args, {
      timeoutMs: appealTimeoutMs,
      cwd,
      env: launch.env,
      isLaunch: true,
    })
    return session.step(`Asking ${client.label} itself for one word`, said)
  })
}

/** The variables that say where the client finds its files: with them, a temporary home would not be empty. */
function homeVariables(session: Session, client: Client): readonly string[] {
  const paths = listClientFiles(session, client).map(({ path }) => path)
  const { env, home } = session.platform.machine
  return Object.entries(env).flatMap(([name, value]) => {
    // An empty value says no place, and may turn something off.
    const isPlace = value !== undefined && value !== '' && value !== home
    const isOfClient = isPlace && paths.some((path) => `${path}/`.startsWith(`${value}/`))
    return isOfClient || /^XDG_\w+_HOME$/.test(name) ? [name] : []
  })
}

/**
 * Starts each client once with the user's files, in an empty folder of its own: the configuration of a project could
 * send the key elsewhere. `repoint serve` also says whether a client sent another key, since some clients use ours
 * after the gateway rejects theirs; to know which one, they are then tried one after the other.
 *
 * @param access the gateway, if all clients use the same one
 * @throws UserError `cancelled`
 */
export async function tryClients(
  session: Session,
  clients: readonly Client[],
  access?: GatewayAccess,
): Promise<readonly TriedClient[]> {
  session.remark(announcement(session, clients))
  const tryOne = async (client: Client): Promise<TriedClient> => {
    const before = await countRejectedKeys(access)
    const said = await tryOnce(session, client, access?.caFile)
    const isOurs = (await countRejectedKeys(access)) === before
    return { client, ...(isOurs ? said : withOtherKey(said)) }
  }
  const tryAll = async () => {
    if (access === undefined || !isLoopbackUrl(access.address))
      return Promise.all(clients.map(tryOne))
    const tried: TriedClient[] = []
    for (const client of clients) tried.push(await tryOne(client))
    return tried
  }
  const names = listWords(clients.map(({ label }) => label))
  return session.step(`Trying ${names}`, tryAll())
}

/** Says what will start, and its price. */
function announcement(session: Session, clients: readonly Client[]): string {
  const names = clients.map((client) =>
    [client.label, versionOfPackage(session, client)].filter(Boolean).join(' '),
  )
  const tokens = clients.reduce((sum, { program }) => sum + program.tokens.oneWord, 0)
  const each = clients.length === 1 ? 'one word' : 'one word each'
  return `  Trying ${listWords(names)}: ${each}, about ${tokens.toLocaleString('en')} tokens. Ctrl-C skips.`
}

/** @param caFile the authorities that a setup has just told the user to name in a variable */
async function tryOnce(
  session: Session,
  client: Client,
  caFile: string | undefined,
): Promise<ClientSaid> {
  const { platform } = session
  const { pingArgs } = client.program
  const { version } = await installedVersion(session, client, 'launch')
  const folder = newTempPath(platform)
  const trust = missingTrust(session, client, stateNow(session, client).endpoint, caFile)
  return inTempFolder(platform, folder, {}, () =>
    startOnce(session, client, pingArgs('ping', version), {
      timeoutMs: tryTimeoutMs,
      cwd: folder,
      env: { ...platform.machine.env, ...(trust && { [trust.name]: trust.caFile }) },
    }),
  )
}

/** Starts an installed client. @throws UserError `cancelled` after Ctrl-C */
async function startOnce(
  session: Session,
  client: Client,
  args: readonly string[],
  options: RunOptions,
): Promise<ClientSaid> {
  const { processes, interrupt } = session.platform
  const { command, pingEnv } = client.program
  const started = performance.now()
  const result = await processes.run(processes.which(command) ?? command, args, {
    ...options,
    // Some clients trust `PWD` more than the system.
    env: { ...options.env, PWD: options.cwd, OLDPWD: undefined, ...pingEnv },
  })
  if (interrupt.aborted)
    throw new UserError({
      code: 'cancelled',
      message: `Cancelled during the test of ${client.label}`,
    })
  const seconds = Math.round((performance.now() - started) / 1000)
  return { ...whatItSaid(session, client, result, options.timeoutMs), seconds }
}

function whatItSaid(
  session: Session,
  { program }: Client,
  { exitStatus, reason, stdout, stderr }: RunResult,
  timeoutMs: number,
): Omit<ClientSaid, 'seconds'> {
  const clean = (text: string) => session.redactForeign(printable(text.trim()))
  const answer = program.answerIn?.(stdout)
  if (exitStatus === 0)
    return { kind: 'answered', words: clean(answer ?? (stdout || stderr)).slice(-maxShown) }
  if (reason === 'timed-out')
    return { kind: 'failed', words: `did not answer within ${timeoutMs / 1000} s` }

  const line = answer ?? `${stderr}\n${stdout}`.split('\n').map(shownError).findLast(Boolean)
  const words = line === undefined ? '' : `: ${clean(line).slice(0, maxShown)}`
  return {
    kind: /\b[45]\d\d\b/.test(words) ? 'rejected' : 'failed',
    words: `failed with status ${exitStatus ?? reason}${words}`,
  }
}

/** The line of an error, or its message inside JSON: some clients print their whole configuration. */
function shownError(line: string): string | undefined {
  if (!/error|fail|denied|invalid|refused/i.test(line)) return undefined
  if (!/[{}"]/.test(line)) return line
  const [, message] = /"message"\s*:\s*("(?:[^"\\]|\\.)*")/.exec(line) ?? []
  return message && ifPossible(() => JSON.parse(message) as string)
}

function withOtherKey(said: ClientSaid): ClientSaid {
  const words =
    'sent another key, which the gateway rejected: a login or a variable overrides its files'
  return { ...said, kind: 'rejected', words }
}

/**
 * How many requests a `repoint serve` has rejected because of their key. Undefined: this gateway is not
 * `repoint serve`.
 */
async function countRejectedKeys(clientAccess?: GatewayAccess): Promise<unknown> {
  if (clientAccess === undefined || !isLoopbackUrl(clientAccess.address)) return undefined
  // A copy has its own connections, so that the caller's stay open.
  const access = { ...clientAccess }
  const url = new URL('/_repoint/counters', access.address).href
  const answer = await sendWithKey(access, { method: 'GET', url, headers: {}, maxBytes: 1_000 })
  await closeIdleConnections(access)
  return 'body' in answer ? asObject(jsonIn(answer.body))?.['refusedKeys'] : undefined
}
