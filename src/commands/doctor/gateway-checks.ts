/** The checks of `doctor` over the network. `client-now.ts` has those without it. */
import type { Client } from '../../clients/contract/client.ts'
import { catalogIn, type ResolvedOptions } from '../../clients/contract/setup.ts'
import { whyUnreadable } from '../../clients/contract/state.ts'
import { isLoopbackUrl } from '../../clients/files/addresses.ts'
import { unlistedModels } from '../../clients/models/picker.ts'
import { listing, modelsToProve } from '../../clients/models/resolve.ts'
import { compact } from '../../compact.ts'
import { canContinueAfter, findingFrom, type UserError } from '../../errors.ts'
import { hasTopic } from '../../finding.ts'
import { type Balance, shownBalance } from '../../gateway/balance.ts'
import { mayStillServe } from '../../gateway/catalog.ts'
import { isPrivatelyTrusted, privateSources } from '../../gateway/http/authorities.ts'
import { proxyFor } from '../../gateway/http/proxy.ts'
import { traitsOf } from '../../gateway/judge/traits.ts'
import { catalogEntry, nativeProtocol, supportsProtocol } from '../../gateway/models/rules.ts'
import type {
  Catalog,
  CatalogAnswer,
  Gateway,
  GatewayAccess,
  ModelAndProtocol,
} from '../../gateway/types.ts'
import { caFileFor } from '../../state/saved-gateways.ts'
import { counted } from '../../text.ts'
import { certificateFindings, expectTrustedBy } from '../client-state/certificates.ts'
import type { ClientNow } from '../client-state/client-facts.ts'
import { flagsToReach, setupAgain } from '../client-state/client-now.ts'
import type { Answer } from '../prove/prove.ts'
import type { ResolvedChoice } from '../resolve/client-choice.ts'
import type { Session } from '../screen/session.ts'
import { asWarning, type CheckResult } from '../status/check-results.ts'
import type { RequestFlags, SharedGateway } from './shared-gateways.ts'

/**
 * Runs the checks of one client that need the network. After a failure, the later checks would prove nothing,
 * so the failure is the last result.
 *
 * @param shared undefined: the client has no gateway, or one without a key
 */
export async function checkGateway(
  session: Session,
  checked: ClientNow,
  { shared, flags }: { readonly shared: SharedGateway | undefined; readonly flags: RequestFlags },
): Promise<readonly CheckResult[]> {
  const { client, state, findings, gateway } = checked
  if (whyUnreadable(state) !== undefined) return []
  if (gateway === undefined)
    return [{ code: 'gateway', severity: 'ok', message: `${client.label} uses its own service` }]

  const caFile = caFileFor(session.platform, gateway.address, flags.caFile)
  if (shared === undefined) {
    if (hasTopic('key-missing', findings)) return []
    const key = state.endpoint.keyFrom === 'elsewhere' ? 'a key that repoint cannot see' : 'no key'
    const message = `${client.label} sends ${key} to ${gateway.address}, so repoint did not ask it`
    return [{ code: 'gateway', severity: 'ok', message }]
  }

  const results: CheckResult[] = []
  try {
    for await (const check of networkChecks(session, checked, { shared, caFile }))
      results.push(check)
    return results
  } catch (error) {
    if (!canContinueAfter(error)) throw error
    const hint = isServerGone(error, gateway)
      ? serverGoneHint(client, shared)
      : hintFor(session, error, checked, gateway, caFile)
    const check = { ...findingFrom(error), ...compact({ hint }) }
    const isAboutModel = traitsOf(error)?.blames === 'model'
    const failure = isAboutModel ? check : { ...check, isAboutGateway: true as const }
    return [...(await passedBefore(error, results, shared)), failure]
  }
}

/** The results before a failure. It may prove more than they do, or make one of them a repetition. */
async function passedBefore(
  failure: UserError,
  results: readonly CheckResult[],
  { access, proof }: SharedGateway,
): Promise<readonly CheckResult[]> {
  const blamed = traitsOf(failure)?.blames
  const { list: answer } = await proof
  // If catalog and probe both reject the key, it is reported once.
  const isSameFailure =
    blamed !== 'address' && answer.kind === 'failed' && answer.error.code === failure.code
  const passed = isSameFailure ? results.filter(({ code }) => code !== 'catalog') : results

  const hasAnswered = blamed !== 'connection'
  const reportsAnswer = passed.some(({ code }) => code === 'network')
  return hasAnswered && !reportsAnswer ? [...passed, networkCheck(access.address, access)] : passed
}

/** @throws UserError if a check fails and the rest would prove nothing */
async function* networkChecks(
  session: Session,
  checked: ClientNow,
  { shared, caFile }: { readonly shared: SharedGateway; readonly caFile: string | undefined },
): AsyncGenerator<CheckResult> {
  const { client, state } = checked
  const { access } = shared
  const { list, fault, answers } = await shared.proof
  const catalog = catalogIn({ catalogAnswer: list })

  yield* checkProxy(access)
  await expectTrustedBy(client, { ...access, caFile: caFile ?? state.endpoint.caFile }, access)
  yield* [...certificateFindings(session, client, state.endpoint, caFile)].map(asWarning)
  yield* checkCatalog(session, checked, access, list)

  if (fault !== undefined) throw fault
  const { resolved } = choiceServed(answers[shared.clients.indexOf(checked)]!)
  yield* resolved.findings.map(asWarning)
  for (const model of modelsToProve(resolved, catalog)) yield probeCheck(catalog, model)

  yield* checkProtocol(checked, resolved, catalog)
  yield* checkWindow(checked, resolved, catalog)
  yield* checkBalance(await shared.balance)
  yield* checkPicker(checked, catalog)
}

/** Nothing listens at a loopback address: the program that did, such as another tool's proxy, is gone. */
function isServerGone({ code }: UserError, { address }: Gateway): boolean {
  return code === 'refused' && isLoopbackUrl(address)
}

function serverGoneHint({ family }: Client, { clients }: SharedGateway): string {
  const users = clients.map(({ client }) => client.family)
  const services = users.length > 1 ? "the clients' own services" : "the client's own service"
  return [
    'Start the program that listened there',
    `set another address: repoint ${family} --base-url URL`,
    `or go back to ${services}: repoint off ${users.join(' ')}`,
  ].join(', ')
}

/** The cure of a key or an address is a command for this client. */
function hintFor(
  session: Session,
  error: UserError,
  { client, isSetUpByRepoint }: ClientNow,
  gateway: Gateway,
  caFile: string | undefined,
): string | undefined {
  const blamed = traitsOf(error)?.blames
  if (blamed === 'key' && isSetUpByRepoint) return `repoint key ${flagsToReach(gateway, caFile)}`
  if (blamed === 'key' || blamed === 'address') return setupAgain(client, gateway, caFile)
  return error.hint && session.completeHint(error.hint, client.family)
}

/** @throws UserError if the probes could prove nothing after this failure */
function* checkCatalog(
  session: Session,
  { gateway }: ClientNow,
  access: GatewayAccess,
  answer: CatalogAnswer,
): Generator<CheckResult> {
  const { address } = access
  const where = gateway?.name === undefined ? address : `${gateway.name} (${address})`
  const result = { code: 'catalog', isAboutGateway: true } as const
  if (answer.kind === 'failed') {
    const { error } = answer
    if (!mayStillServe(error)) throw error
    const message = `${where} has no readable list of models: ${error.message}`
    yield networkCheck(address, access)
    yield { ...result, severity: 'warning', message }
    return
  }

  const count = counted(answer.catalog.models.length, 'model')
  yield networkCheck(address, access)
  yield {
    ...result,
    severity: 'ok',
    message: `${where} lists ${count}`,
    brief: `takes the key, ${count}`,
  }
  for (const finding of answer.catalog.findings ?? [])
    yield { ...asWarning(finding), isAboutGateway: true }
  yield* checkClock(session, address, answer.catalog)
}

/** @throws UserError why the gateway does not serve the client */
function choiceServed(answer: Answer<ResolvedChoice>): ResolvedChoice {
  if (answer.kind === 'works') return answer.choice
  throw (answer as { readonly error: UserError }).error
}

function probeCheck(
  catalog: Catalog | undefined,
  { model, protocol }: ModelAndProtocol,
): CheckResult {
  const isUnlisted = catalog !== undefined && listing(catalog, model, [protocol]) === 'absent'
  const unlistedNote = isUnlisted ? ', although the gateway does not list it' : ''
  const message = `${model} answers over the ${protocol} protocol${unlistedNote}`
  return { code: 'probe', severity: 'ok', message, brief: `${model}${unlistedNote}` }
}

/** A model works best over its native protocol, if the gateway lists it there. */
function* checkProtocol(
  { client }: ClientNow,
  resolved: ResolvedOptions,
  catalog: Catalog | undefined,
): Generator<CheckResult> {
  const { model, protocol } = resolved
  const native = nativeProtocol(model)
  const entry = catalogEntry(catalog, model)
  const isBetter = native !== protocol && client.protocols.includes(native)
  if (entry === undefined || !isBetter || supportsProtocol(entry, native) !== true) return

  yield {
    code: 'protocol',
    severity: 'warning',
    message: `${client.label} uses ${model} over ${protocol}. The gateway also serves its native protocol, ${native}`,
    hint: `To change it: repoint ${client.id} --protocol ${native}`,
  }
}

/** Every client assumes more without a setting, or compacts no conversation: pi 128,000, Codex 272,000 (2026-11-28). */
const leastAssumedWindow = 128_000

/** A client that expects a larger window than the model has compacts too late: a gateway rejects a longer conversation. */
function* checkWindow(
  { client, state }: ClientNow,
  { model, contextWindow: toWrite }: ResolvedOptions,
  catalog: Catalog | undefined,
): Generator<CheckResult> {
  const listed = catalogEntry(catalog, model)?.contextWindow
  const { contextWindow: configured } = state.options
  if (listed === undefined) return

  const { id, label } = client
  const effect = `a long conversation may fail before ${label} compacts it`
  const shared = { code: 'context-window-large', severity: 'warning' } as const
  if (configured !== undefined && configured > listed)
    yield {
      ...shared,
      message: `${label} expects a context window of ${configured} tokens, and the gateway lists ${listed} for ${model}: ${effect}`,
      hint: `Set the right one: repoint ${id} --context-window ${listed}`,
    }
  else if (configured === undefined && toWrite === listed && listed < leastAssumedWindow)
    yield {
      ...shared,
      message: `The gateway lists a context window of ${listed} tokens for ${model}, and ${label} has no setting for it: ${effect}`,
      hint: `Write it: repoint ${id} --context-window ${listed}`,
    }
}

/** Reports an empty balance before the client runs into it. */
function* checkBalance(balance: Balance | undefined): Generator<CheckResult> {
  if (balance === undefined) return
  const brief = shownBalance(balance)
  const result = { code: 'balance', message: `the key has ${brief}`, isAboutGateway: true } as const
  const hint = "Top it up on the gateway's page, or use another key: repoint key"
  if (balance.remaining === 0) yield { ...result, code: 'quota', severity: 'error', hint }
  else yield { ...result, severity: 'ok', brief }
}

/** Models in the client's own list that the gateway does not list. */
function* checkPicker(
  { client, files, options }: ClientNow,
  catalog: Catalog | undefined,
): Generator<CheckResult> {
  const unlisted = catalog === undefined ? [] : unlistedModels(client, files, catalog, options)
  if (unlisted.length === 0) return
  const message = `${client.label} offers models that the gateway does not list: ${unlisted.join(', ')}`
  const hint = `Remove the ones that repoint wrote: repoint ${client.id}`
  yield { code: 'picker', severity: 'warning', message, hint }
}

/** A clock that differs by more than this, in ms, breaks certificates and signed requests. */
const maxClockDifferenceMs = 5 * 60_000

function* checkClock(
  { platform: { clock } }: Session,
  address: string,
  { serverTime }: Catalog,
): Generator<CheckResult> {
  if (serverTime === undefined) return
  const differenceMs = clock.now().getTime() - serverTime.getTime()
  if (Math.abs(differenceMs) <= maxClockDifferenceMs) return

  const minutes = Math.round(Math.abs(differenceMs) / 60_000)
  const message = `This machine's clock is ${minutes} minutes ${differenceMs > 0 ? 'ahead of' : 'behind'} the clock of ${address}`
  yield { about: 'machine', code: 'clock', severity: 'warning', message, hint: 'Set the clock.' }
}

function* checkProxy({ address, env }: GatewayAccess): Generator<CheckResult> {
  const proxy = proxyFor(new URL(address), env)
  if (proxy === undefined) return
  const brief = `through the proxy ${proxy.hostname}:${proxy.port}`
  const message = `repoint reaches ${address} ${brief} (${proxy.variable})`
  yield { code: 'proxy', severity: 'ok', message, brief, isAboutGateway: true }
}

/** Any answer proves that the host was found, that it answers, and that its certificate is trusted. */
function networkCheck(address: string, access: GatewayAccess): CheckResult {
  const { host, protocol } = new URL(address)
  const by = isPrivatelyTrusted(access) ? ` by an authority of ${privateSources(access)}` : ''
  const tls = protocol === 'https:' ? `, and its certificate is valid${by}` : ''
  const message = `${host} answers${tls}`
  return { code: 'network', severity: 'ok', message, brief: 'answers', isAboutGateway: true }
}
