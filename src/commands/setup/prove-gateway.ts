import { type Client, type ClientOptions, defaultSlot, overProtocol } from '../../clients/client.ts'
import { rowOf } from '../../clients/list.ts'
import { routesToProve } from '../../clients/resolve.ts'
import { compact } from '../../compact.ts'
import { UserError } from '../../errors.ts'
import { expectNoFinding, type Finding } from '../../finding.ts'
import { shownBalance } from '../../gateway/balance.ts'
import type { ImportLink } from '../../gateway/input/link.ts'
import { traitsOf } from '../../gateway/judge/traits.ts'
import { supportsProtocol } from '../../gateway/models/rules.ts'
import { unusualRoots } from '../../gateway/roots.ts'
import { type Gateway, type GatewayAccess, protocols } from '../../gateway/types.ts'
import { keptAddress } from '../../state/last-address.ts'
import { checkNameIsFree } from '../../state/save-gateway.ts'
import { counted, listWords } from '../../text.ts'
import {
  type FoundGateway,
  findGateway,
  type GatewayInUse,
  gatewaysInUse,
  namesGateway,
  type Preset,
} from '../find-gateway.ts'
import type { Session } from '../screen/session.ts'
import { expectUsable, programFindings, programsOf } from './installed.ts'
import { type ClientsProof, type Proven, type ProveOptions, proveClients } from './prove-clients.ts'
import type { Chosen, GatewayAnswer, Proof, ProvenRun, SetupRun } from './request.ts'
import { noGatewayInfo, nothingToPickFrom, requestedFor, resolveInputFor } from './resolve.ts'

/** How often the user may type an address or a key that does not work. */
const maxTries = 5

/**
 * Steps 1 to 4 of a setup: finds the gateway, asks it, resolves each client's options and proves them. If
 * the gateway rejects an address or a key that the user typed, repoint asks for it again. If it came from a
 * flag or the environment, that is an error.
 */
export async function proveGateway(started: SetupRun): Promise<ProvenRun> {
  const { session, request, runs } = started
  const { flags } = request
  const inUse = request.isKeyOnly ? [] : await gatewaysInUse(session, runs)
  let current = started
  let preset: Preset = {
    lastBaseUrl: keptAddress(session.platform) ?? runs[0]?.baseUrl,
    inUse: session.canAsk ? inUse : [],
    gateway: currentGateway(current, inUse),
    ...request.preset,
  }

  for (let tries = 1; ; tries++) {
    const found = await findGateway(session, flags, preset)
    const run = found.link === undefined ? current : withLink(current, found.link)

    checkNameIsFree(session.platform, flags.name, found.access.baseUrl)
    // If the user chooses clients in this try, a later one does not ask for them again.
    const onAnswer = async (before: SetupRun, answer: GatewayAnswer) => {
      showAnswer(session, answer)
      const after = await withClientsFromUser(before, answer)
      if (after !== before) current = after
      return after
    }
    try {
      const { notices, ...proof } = await proofOf(run, found.access, onAnswer)
      const { access, chosen } = proof
      session.addFindings(...found.notices, ...keyHeaderFindings(found.access, access), ...notices)
      if (flags.verify) showProof(session, proof)
      return { ...current, ...proof, clients: [...chosen.keys()] }
    } catch (error) {
      const next =
        nextOfLink(error, found, preset) ??
        (tries < maxTries ? retryWith(error, found, preset) : undefined)
      if (next === undefined) throw error
      session.remark(`✗ ${(error as UserError).message}`)
      preset = next
    }
  }
}

/** The run with the clients that the user chooses, now that the gateway has answered. */
async function withClientsFromUser(run: SetupRun, answer: GatewayAnswer): Promise<SetupRun> {
  const { chooseClients, ...request } = run.request
  if (chooseClients === undefined) return run

  const ids = await chooseClients(run, answer)
  const command = ids.length === 1 ? ids[0]! : request.command
  return {
    ...run,
    request: { ...request, command, clients: ids },
    clients: run.clients.filter(({ id }) => ids.includes(id)),
  }
}

/** What the user requests now overrides what an import link names. */
function withLink(run: SetupRun, link: ImportLink): SetupRun {
  const { request } = run
  const optionsOf = (id: string): ClientOptions => ({
    ...optionsOfLink(link, id),
    ...request.optionsOf?.(id),
  })
  return { ...run, request: { ...request, optionsOf } }
}

function optionsOfLink({ client, model, slotModels }: ImportLink, id: string): ClientOptions {
  const { family, flags } = rowOf(id)
  if (client !== id && client !== family) return {}
  const hasSlots = flags.some(({ flag }) => flag.startsWith('--slot '))
  if (!hasSlots) return compact({ model })
  return { slotModels: compact({ [defaultSlot]: model, ...slotModels }) }
}

/** The next address of an import link, if the error blames the current one. */
function nextOfLink(error: unknown, { link, access }: FoundGateway, preset: Preset) {
  const blamed = error instanceof UserError ? traitsOf(error)?.blames : undefined
  if (link === undefined || (blamed !== 'address' && blamed !== 'network')) return undefined
  const baseUrl = link.baseUrls[link.baseUrls.indexOf(access.baseUrl) + 1]
  if (baseUrl === undefined) return undefined
  return { ...preset, link, gateway: { ...preset.gateway, baseUrl } }
}

/** The gateway that the client uses, if the user requests other options and no gateway. */
function currentGateway(
  { session, request, clients: [client], previous }: SetupRun,
  inUse: readonly GatewayInUse[],
): Gateway | undefined {
  const { clients, flags, picksModel = false } = request
  if (client === undefined || clients.length > 1 || !previous.has(client)) return undefined

  const { slotModels, ...others } = requestedFor(request, client)
  const hasOptions = Object.keys(compact({ ...slotModels, ...others })).length > 0
  if (!hasOptions && !picksModel && !flags.defaults) return undefined
  if (namesGateway(session, flags)) return undefined
  return inUse.find(({ family }) => family === client.family)
}

/** Shows how many models the gateway has, as soon as its catalog has answered. */
function showAnswer(session: Session, { access, catalog }: GatewayAnswer): void {
  if (catalog === undefined) return
  const listed = protocols.filter((one) =>
    catalog.models.some((model) => supportsProtocol(model, one) === true),
  )
  const over = listed.length === 0 ? '' : `, over ${listWords(listed)}`
  session.remark(`✔ ${hostOf(access)} answers: ${counted(catalog.models.length, 'model')}${over}`)
}

/** Shows one line for each proven client, and one for the balance. */
function showProof(session: Session, { access, catalog, chosen, balance }: Proof): void {
  if (catalog === undefined) session.remark(`✔ ${hostOf(access)} answers and accepts the key`)
  for (const [client, { resolved, isProvenByClient }] of chosen) {
    if (isProvenByClient) {
      session.remark(`✔ ${client.label} itself answers, with ${resolved.model}`)
      continue
    }
    const ids = routesToProve(client, resolved, catalog).map(({ model }) => model)
    session.remark(
      `✔ ${client.label}: ${listWords(ids)} ${ids.length > 1 ? 'answer' : 'answers'}${overProtocol(client, resolved)}, with tools`,
    )
  }
  if (balance !== undefined) session.remark(`✔ The key has ${shownBalance(balance)}`)
}

function hostOf({ baseUrl }: GatewayAccess): string {
  return new URL(baseUrl).host
}

/** Reports that the gateway accepts the key in another header. */
function* keyHeaderFindings(
  before: GatewayAccess,
  { keyHeader }: GatewayAccess,
): Generator<Finding> {
  if (keyHeader === before.keyHeader || keyHeader === undefined) return
  const message = `The gateway accepts the key only in the header ${keyHeader}`
  yield { code: 'key-header', message }
}

/** The facts for another try, in which the user is asked again. Undefined: no typed value is at fault. */
function retryWith(
  error: unknown,
  { access, fromPrompt, isKeyInUse }: FoundGateway,
  preset: Preset,
): Preset | undefined {
  if (!(error instanceof UserError)) return undefined
  const { baseUrl, baseUrls, query, key, name } = access
  const withKnown = (known: Partial<Gateway>, more: Preset): Preset => ({
    ...preset,
    ...more,
    gateway: { ...preset.gateway, ...known },
  })

  const blamed = traitsOf(error)?.blames
  if (blamed === 'key' && fromPrompt.key)
    return withKnown({ baseUrl, baseUrls, query, name, key: undefined }, { inUse: [] })
  if ((blamed === 'address' || blamed === 'network') && fromPrompt.baseUrl)
    return withKnown(
      { key: isKeyInUse ? undefined : key },
      { lastBaseUrl: baseUrl, isKeyTyped: fromPrompt.key },
    )
  return undefined
}

async function proofOf(
  run: SetupRun,
  access: GatewayAccess,
  onAnswer: ProveOptions['onAnswer'],
): Promise<Proven> {
  if (!run.request.flags.verify) return unproven(run, access)
  const isScript = run.consent !== 'ask'
  // A script gets this error before anything is sent.
  if (isScript) for (const client of run.clients) expectUsable(run, client, access)
  const proof = await proveClients(run, access, { needsAll: isScript, onAnswer })
  return withoutFailed(run, proof)
}

/**
 * The clients that can use the gateway. If others cannot, a user on a terminal sees why, and a script gets
 * an error.
 *
 * @throws UserError why a client cannot use it, with the clients that can
 */
function withoutFailed(run: SetupRun, { failed, ...proof }: ClientsProof): Proven {
  const { session, consent } = run
  const [first] = failed
  if (first === undefined) return proof

  const [client, error] = first
  const working = [...proof.chosen.keys()]
  if (working.length === 0) throw error
  if (consent !== 'ask') throw withOtherClients(error, client, working, proof.access)
  for (const [{ label }, { message }] of failed) session.remark(`✗ Skipped ${label}: ${message}`)
  return proof
}

/** The error of one client, with the command that sets up the others. */
function withOtherClients(
  { code, message }: UserError,
  { label }: Client,
  working: readonly Client[],
  { name, baseUrl }: GatewayAccess,
): UserError {
  const ids = working.map(({ id }) => id).join(' ')
  const command =
    name === undefined ? `repoint setup ${ids} --base-url ${baseUrl}` : `repoint use ${name} ${ids}`

  return new UserError({
    code,
    message: `${label} cannot use this gateway. ${message}`,
    hint: `Set up the clients that can: ${command}`,
  })
}

/** Resolves the options for `--no-verify`, without a request to the gateway. */
async function unproven(run: SetupRun, access: GatewayAccess): Promise<Proven> {
  const { clients, request } = run
  for (const client of clients) expectUsable(run, client, access)
  if (request.picksModel) throw nothingToPickFrom(run.session)
  const programs = await programsOf(run)
  for (const [client, program] of programs) expectUsable(run, client, access, program)

  const chosen = clients.map((client): [Client, Chosen] => {
    const { version, modelTable } = programs.get(client)!
    const gatewayInfo = { ...noGatewayInfo, modelTable }
    const input = resolveInputFor(run, client, access, gatewayInfo)
    const resolved = expectNoFinding(client.resolve(input, version))
    return [client, { resolved, input }]
  })
  return {
    request,
    access,
    chosen: new Map(chosen),
    catalog: undefined,
    notices: [...assumedRootsFinding(access), ...programFindings(run.session, programs)],
  }
}

/** Reports base URLs that repoint assumes without a request, if they are unusual. */
function* assumedRootsFinding(access: GatewayAccess): Generator<Finding> {
  const roots = unusualRoots(access)
  if (roots !== undefined)
    yield {
      code: 'roots-unasked',
      message: `repoint did not ask the gateway. It assumes chat at ${roots.chat} and messages at ${roots.messages}`,
    }
}
