/**
 * Step 5 of a setup: plan the edits, and check what would defeat them.
 *
 * In: a `ProvenSetup`. Out: a `SetupPlan`, with the edits and the problems of each client. Writes nothing.
 */
import type { Client } from '../../clients/contract/client.ts'
import type { LoadedFiles } from '../../clients/contract/files.ts'
import { type ClientOptions, defaultProviderId } from '../../clients/contract/options.ts'
import type { ResolvedOptions, SetupHistory, SetupTarget } from '../../clients/contract/setup.ts'
import { whyUnreadable } from '../../clients/contract/state.ts'
import { asPlanned, fileOf } from '../../clients/files/parse-file.ts'
import { protocolOf } from '../../clients/models/protocols.ts'
import { effectiveOptions } from '../../clients/options/chosen-options.ts'
import { foreignSettingFindings } from '../../clients/plan/foreign-settings.ts'
import type { FileEdit, Plan } from '../../edits/types.ts'
import { errorFrom, UserError } from '../../errors.ts'
import { blocksSetup, type Finding, messageWithLocation } from '../../finding.ts'
import { baseUrlFor, customBaseUrls } from '../../gateway/base-urls.ts'
import { includesHeader } from '../../gateway/input/header.ts'
import type { GatewayAccess } from '../../gateway/types.ts'
import { savedExtras } from '../../state/saved-gateways.ts'
import { checkPlannedFiles } from '../../transaction/check-planned-files.ts'
import type { Runs } from '../../transaction/record.ts'
import { checkFiles, contextOf, refuseRedirectedKey } from '../client-state/check-files.ts'
import { readClientFiles } from '../client-state/client-files.ts'
import { newMajorFindings } from '../client-state/program/installed-program.ts'
import { targetFor } from '../resolve/point-client.ts'
import type { Session } from '../screen/session.ts'
import { canAskUser, inputFor } from './context.ts'
import { planFindings } from './plan-findings.ts'
import type { ProvenChoice, ProvenSetup } from './prove/prove-clients.ts'

/** What a setup will do for one client. */
export interface ClientPlan extends ProvenChoice {
  /** What would keep the client from using the gateway. The edits contain the fixes. */
  readonly problems: readonly Finding[]
  readonly edits: readonly FileEdit[]
  /** What the user should know: see plan-findings.ts. */
  readonly findings: readonly Finding[]
}

/** What a setup will do. It is shown, then applied. */
export interface SetupPlan extends Plan {
  readonly proven: ProvenSetup
  readonly clientPlans: readonly [ClientPlan, ...ClientPlan[]]
  /** What the user must agree to. */
  readonly needingConsent: readonly Finding[]
}

/** @throws UserError `config-invalid`, `config-conflict`, `not-permitted` */
export async function planSetup(proven: ProvenSetup): Promise<SetupPlan> {
  const clientPlans: ClientPlan[] = []
  for (const choice of proven.choices) clientPlans.push(await planClient(proven, choice))

  const { request, access } = proven
  const problems = clientPlans.flatMap((plan) => plan.problems)
  const needingConsent = problems.flatMap(({ code, severity, needsConsentTo }) =>
    needsConsentTo === undefined ? [] : [{ code, severity, message: needsConsentTo }],
  )
  return {
    kind: 'setup',
    command: request.command,
    address: access.address,
    baseUrls: customBaseUrls(access),
    model: clientPlans[0]!.resolved.model,
    edits: clientPlans.flatMap(({ edits }) => edits),
    proven,
    // `proveGateway` throws if no client can use the gateway.
    clientPlans: clientPlans as [ClientPlan, ...ClientPlan[]],
    needingConsent,
  }
}

/**
 * Asks what the clients want to know before the plan, on a terminal.
 *
 * @returns the setup with the chosen options
 */
export async function askForOptions(proven: ProvenSetup): Promise<ProvenSetup> {
  if (!canAskUser(proven)) return proven
  const { session, runs, request } = proven
  const answers = new Map<string, ClientOptions>()

  for (const choice of proven.choices) {
    const { client, program } = choice
    if (client.question === undefined) continue
    const files = readClientFiles(session, client)
    const target = await setupTarget(proven, finalChoice(proven, choice), files)
    const question = client.question(contextOf(session, client, files, runs, program), target)
    if (question === undefined) continue
    const { message, ifYes, ifNo } = question
    const isYes = await session.platform.ask.confirm({ message, default: true })
    answers.set(client.id, isYes ? ifYes : ifNo)
  }

  const optionsOf = (id: string) => ({ ...request.optionsOf?.(id), ...answers.get(id) })
  return answers.size === 0 ? proven : { ...proven, request: { ...request, optionsOf } }
}

/** Why a setup would stop at its plan, as a dry run would. Undefined: it would not. */
export async function whyPlanFails(proven: ProvenSetup): Promise<UserError | undefined> {
  try {
    checkPlannedFiles(proven.session.platform, await planSetup(proven))
    return undefined
  } catch (error) {
    if (error instanceof UserError) return error
    throw error
  }
}

/**
 * The edits of one client, with the fixes of its problems. The new contents are read as the client will
 * read them.
 *
 * @throws UserError `config-invalid`, `config-conflict`, `not-permitted`
 */
async function planClient(proven: ProvenSetup, choice: ProvenChoice): Promise<ClientPlan> {
  const { session, runs, access, policy } = proven
  const { client } = choice
  const files = readClientFiles(session, client)
  const final = finalChoice(proven, choice)
  const target = await setupTarget(proven, final, files)

  const { baseUrl, providerId, resolved } = target
  const clientContext = contextOf(session, client, files, runs, choice.program)
  const configured = { baseUrl, providerId, model: resolved.model }
  const found = checkFiles(session, client, clientContext, { target, configured })
  if (!canAskUser(proven)) refuseRedirectedKey(client, found)

  const fixes = found.flatMap(({ fix }) => (fix ? [fix] : []))
  // A file that cannot be parsed is a problem too, but the error of `plan` is better: `config-invalid`, with the
  // line to fix. So `refuseUnfixable` comes after it.
  const edits = client.plan(files, { ...target, fixes })
  refuseUnfixable(client, found)
  const problems = [
    ...found,
    ...foreignSettingFindings(client, edits, fixes),
    ...(policy.checksVersion ? newMajorFindings(client, choice.program) : []),
  ]
  const after = asPlanned(files, edits)
  const mismatch = mismatchIn(client, after, access)
  if (mismatch !== undefined) throw mismatch

  const findings = planFindings(proven, final, { problems, edits, before: files, after })
  return { ...final, problems, edits, findings }
}

/**
 * A proven choice as the files will say it. Its models stay as they were proven. Its input is computed again,
 * because the probes may have found other base URLs.
 *
 * For example, the user types `https://gw.example`, and Claude Code's file has `https://gw.example/anthropic` from
 * an earlier setup. Before the probes, that looks like another gateway. Once the API has answered there, it is the
 * same one: `input.earlier.isOtherGateway` is false, and the plan keeps what belongs to this gateway.
 */
function finalChoice(proven: ProvenSetup, choice: ProvenChoice): ProvenChoice {
  const { policy, access } = proven
  const { client, resolved } = choice
  const input = inputFor(proven, client, access, choice.input.gatewayInfo)
  return {
    ...choice,
    input: { ...input, requested: { ...input.requested, ...choice.cured?.options } },
    resolved: policy.writesOptions ? resolved : withoutCatalogFacts(resolved),
  }
}

/** The chosen models without the other facts from the catalog. */
function withoutCatalogFacts({
  contextWindow: _,
  modelsFile: __,
  ...models
}: ResolvedOptions): ResolvedOptions {
  return { ...models, offered: [], offersWholeCatalog: false }
}

/** What the client's files should say. */
async function setupTarget(
  proven: ProvenSetup,
  final: ProvenChoice,
  files: LoadedFiles,
): Promise<SetupTarget> {
  const { policy, access } = proven
  const { providerId = defaultProviderId } = effectiveOptions(final.input)
  return {
    ...targetFor(final, access, providerId),
    caFile: access.caFile,
    safeguards: policy.writesOptions ? final.safeguards : 'not-requested',
    history: await setupHistory(proven, files),
  }
}

async function setupHistory(
  { session, runs }: ProvenSetup,
  files: LoadedFiles,
): Promise<SetupHistory> {
  return {
    ...savedExtras(session),
    earlierVersionsOf: await earlierContents(session, runs, files),
  }
}

/** Earlier contents of the files. Loads the code only if there are runs. */
async function earlierContents(
  { platform }: Session,
  runs: Runs,
  files: LoadedFiles,
): Promise<SetupHistory['earlierVersionsOf']> {
  if (runs.length === 0) return () => []
  const { fileWithoutRuns } = await import('../../transaction/before-runs.ts')
  return (fileKind) => fileWithoutRuns(platform, fileOf(files, fileKind).path)
}

/**
 * @throws UserError `config-conflict` for a problem that blocks the client and has neither a fix nor
 *   consent
 */
function refuseUnfixable({ label }: Client, problems: readonly Finding[]): void {
  const blocking = problems.find(blocksSetup)
  if (blocking === undefined) return
  const message = `${label} would not work with the gateway: ${messageWithLocation(blocking)}`
  throw errorFrom(blocking, message)
}

/** Why the client would not read these files as planned. Undefined: it would. */
export function mismatchIn(
  client: Client,
  files: LoadedFiles,
  access: GatewayAccess,
): UserError | undefined {
  const after = client.read(files)
  const { baseUrl, key, keyHeader, alsoSendsTo } = after.endpoint
  const protocol = protocolOf(client, after.options)
  const expectedBaseUrl = baseUrlFor(access, protocol)

  const hasAddress = baseUrl === expectedBaseUrl && alsoSendsTo === undefined
  const hasKey = key === access.key && keyHeader === access.keyHeader
  const { headers = [], query = [] } = access
  const hasExtras =
    headers.every((header) => includesHeader(header, after.endpoint.headers)) &&
    query.every((parameter) => includesHeader(parameter, after.endpoint.query))

  if (hasAddress && hasKey && hasExtras) return undefined
  const reason = whyUnreadable(after) ?? after.login ?? 'address, key or headers differ'
  return new UserError({
    code: 'internal',
    message: `${client.label} would not read its files as planned: ${reason}`,
    hint: 'Please report this bug.',
  })
}
