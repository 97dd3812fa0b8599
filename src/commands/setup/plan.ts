import type { Client } from '../../clients/contract/client.ts'
import type { LoadedFiles } from '../../clients/contract/files.ts'
import type {
  GatewayInfo,
  ResolvedOptions,
  ResolveInput,
  SetupTarget,
} from '../../clients/contract/setup.ts'
import { whyUnreadable } from '../../clients/contract/state.ts'
import { asPlanned, fileOf } from '../../clients/files/read-file.ts'
import { unlistedModels } from '../../clients/models/picker.ts'
import { protocolOf } from '../../clients/models/protocols.ts'
import {
  effectiveOptions,
  keepsModels,
  modelsIn,
  optionsToKeep,
} from '../../clients/options/chosen-options.ts'
import { keyHeaderOf } from '../../clients/plan/headers.ts'
import { actionOf, type FileEdit, type Plan } from '../../edits/types.ts'
import { UserError } from '../../errors.ts'
import { type Finding, hasCause, messageWithLocation } from '../../finding.ts'
import { baseUrlFor, customBaseUrls } from '../../gateway/base-urls.ts'
import { includesHeader } from '../../gateway/input/header.ts'
import type { GatewayAccess } from '../../gateway/types.ts'
import { savedExtras } from '../../state/find-gateways.ts'
import type { Runs } from '../../transaction/record.ts'
import { blocksSetup, checkClient } from '../client-state/check-client.ts'
import { asNoteWithLocation, readClientFiles } from '../client-state/files.ts'
import { contextOf, refuseRedirectedKey } from '../client-state/state.ts'
import { targetFor } from '../client-state/target.ts'
import { isFromOtherGateway } from '../client-state/written.ts'
import type { Session } from '../screen/session.ts'
import type { ProvenSetup } from './request.ts'
import { resolveInputFor, unavailableModels } from './resolve-input.ts'

/** What a setup will do for one client. */
export interface ClientPlan {
  readonly client: Client
  readonly resolved: ResolvedOptions
  readonly answersSafeguards: boolean | undefined
  /** What would keep the client from using the gateway. The edits contain the fixes. */
  readonly problems: readonly Finding[]
  readonly edits: readonly FileEdit[]
  /** What the user should know about files, problems and models. */
  readonly findings: readonly Finding[]
}

/** What a setup will do. It is shown, then applied. */
export interface SetupPlan extends Plan {
  readonly setup: ProvenSetup
  readonly clients: readonly [ClientPlan, ...ClientPlan[]]
  /** What the user must agree to. */
  readonly consents: readonly Finding[]
}

/** @throws UserError `config-invalid`, `config-conflict`, `not-permitted` */
export async function planSetup(setup: ProvenSetup): Promise<SetupPlan> {
  const clients: ClientPlan[] = []
  for (const client of setup.clients) clients.push(await planClient(setup, client))

  const { request, access } = setup
  const problems = clients.flatMap((client) => client.problems)
  const consents = problems.flatMap(({ code, consent }) =>
    consent === undefined ? [] : [{ code, message: consent }],
  )
  return {
    kind: 'setup',
    command: request.command,
    baseUrl: access.baseUrl,
    baseUrls: customBaseUrls(access),
    model: clients[0]!.resolved.model,
    edits: clients.flatMap(({ edits }) => edits),
    setup,
    clients: clients as [ClientPlan, ...ClientPlan[]],
    consents,
  }
}

/**
 * The edits of one client, with the fixes of its problems. The new contents are read as the client will
 * read them.
 *
 * @throws UserError `config-invalid`, `config-conflict`, `not-permitted`
 */
async function planClient(setup: ProvenSetup, client: Client): Promise<ClientPlan> {
  const { session, request, access, runs, consent, chosen } = setup
  const { resolved: withCatalog, input: provenInput, answersSafeguards } = chosen.get(client)!
  const { gatewayInfo } = provenInput
  // Decided again, because the probes may have found other base URLs.
  const input = resolveInputFor(setup, client, access, gatewayInfo)
  const resolved = request.isKeyOnly ? withoutCatalog(withCatalog) : withCatalog
  const files = readClientFiles(session, client)
  const target: SetupTarget = {
    ...targetFor(
      { client, input, resolved },
      access,
      effectiveOptions(input).providerId ?? 'gateway',
    ),
    ...(await targetFromRecords(setup, files)),
    caFile: access.caFile,
    answersSafeguards: request.isKeyOnly ? undefined : answersSafeguards,
  }

  const { baseUrl, providerId } = target
  const check = { session, client, purpose: 'setup' } as const
  const problems = checkClient({
    ...check,
    context: contextOf(session, client, files, runs),
    target,
    configured: { baseUrl, providerId, model: resolved.model },
  })
  if (consent !== 'ask') refuseRedirectedKey(client, problems)

  const fixes = problems.flatMap(({ fix }) => (fix ? [fix] : []))
  const edits = client.plan(files, { ...target, fixes })
  refuseUnfixable(client, problems)
  const after = asPlanned(files, edits)
  refuseMismatch(client, after, access)

  const { caFile } = client.read(after).endpoint
  const trust = { caFile, gatewayCaFile: access.caFile }
  // A setup that changes nothing does not repeat what the first one reported.
  const isChanged = edits.some((edit) => actionOf(edit) !== 'unchanged')
  const isNew = ({ code }: Finding) => isChanged && !hasCause(code, problems)
  return {
    client,
    resolved,
    answersSafeguards,
    problems,
    edits,
    findings: [
      ...edits.flatMap((edit) => [...modeFindings(session, edit)]),
      ...problems.filter(isReportedWithPlan).map(asNoteWithLocation),
      ...checkClient({ ...check, trust }),
      ...(client.sideEffects?.(session.platform, { by: 'setup', before: files, after }) ?? []),
      ...resolved.findings.filter(isNew),
      ...[...unlistedModelFindings(client, after, resolved, gatewayInfo)].filter(isNew),
      ...lostModelFindings(setup, client, after, input),
    ],
  }
}

/** Whether a problem is reported with the plan. A fix and a consent have lines of their own. */
function isReportedWithPlan({ fix, consent, isReported }: Finding): boolean {
  return isReported ?? (!fix && !consent)
}

/** What saved gateways and earlier runs have written, so that the plan can remove it. */
async function targetFromRecords(
  { session, access, runs }: ProvenSetup,
  files: LoadedFiles,
): Promise<Partial<SetupTarget>> {
  const saved = savedExtras(session)
  const records = { runs, files, baseUrl: access.baseUrl }
  return {
    formerHeaders: saved.headers,
    formerQueries: saved.query,
    isFromOtherGateway: (header) => isFromOtherGateway(session, records, header),
    earlier: await earlierContents(session, runs, files),
  }
}

/** Earlier contents of the files. Loads the code only if there are runs. */
async function earlierContents(
  { platform }: Session,
  runs: Runs,
  files: LoadedFiles,
): Promise<SetupTarget['earlier']> {
  if (runs.length === 0) return undefined
  const { earlierVersions } = await import('../../transaction/earlier-states.ts')
  return (fileKind) => earlierVersions(platform, fileOf(files, fileKind).path)
}

/** The chosen models without the other facts from the catalog. */
function withoutCatalog({
  contextWindow: _,
  modelsFile: __,
  ...models
}: ResolvedOptions): ResolvedOptions {
  return { ...models, offered: [], offersWholeCatalog: false }
}

/**
 * Reports models in the client's list that the gateway does not list. repoint did not write them: the edits
 * already removed those that it wrote.
 */
function* unlistedModelFindings(
  client: Client,
  after: LoadedFiles,
  resolved: ResolvedOptions,
  { catalog }: GatewayInfo,
): Generator<Finding> {
  const unlisted =
    catalog && resolved.offersWholeCatalog ? unlistedModels(client, after, catalog, resolved) : []
  if (unlisted.length > 0)
    yield {
      code: 'model-not-listed',
      message: `${client.label} also offers models that the gateway does not list: ${unlisted.join(', ')}`,
      hint: 'repoint did not write these models and keeps them.',
    }
}

/** Reports previous choices that no longer apply: models, and the window or protocol of models that stay. */
function* lostModelFindings(
  { previous, request }: ProvenSetup,
  client: Client,
  after: LoadedFiles,
  input: ResolveInput,
): Generator<Finding> {
  const before = request.flags.defaults || request.isKeyOnly ? undefined : previous.get(client)
  if (before === undefined) return

  const code = 'choice-not-kept'
  const now = optionsToKeep(client, client.read(after), true)
  const models = modelsIn(now)
  const lost = unavailableModels(client, before, input.gatewayInfo).filter(
    (id) => !models.includes(id),
  )
  if (lost.length > 0)
    yield {
      code,
      message: `The gateway no longer has ${lost.join(' and ')}, so repoint chose another model for ${client.label}`,
      hint: `Choose another: repoint ${client.id} --model`,
    }
  if (lost.length > 0 || !keepsModels(input)) return

  // The models are the same, but the window or protocol may change although nobody requested it.
  const keepHint = (flag: string) => `To keep it: repoint ${client.id} ${flag}`
  const { requested } = input
  const { contextWindow: window } = before.options
  const isOtherWindow = window !== undefined && window !== now.contextWindow
  if (isOtherWindow && requested.contextWindow === undefined)
    yield {
      code,
      message: `The context window of ${client.label} changes from ${window} tokens to ${now.contextWindow ?? 'the default'}`,
      hint: keepHint(`--context-window ${window}`),
    }

  const oldProtocol = protocolOf(client, before.options)
  const newProtocol = protocolOf(client, now)
  if (oldProtocol !== newProtocol && requested.protocol === undefined)
    yield {
      code,
      message: `The protocol of ${client.label} changes from ${oldProtocol} to ${newProtocol}`,
      hint: keepHint(`--protocol ${oldProtocol}`),
    }
}

/**
 * @throws UserError `config-conflict` for a problem that blocks the client and has neither a fix nor
 *   consent
 */
function refuseUnfixable({ label }: Client, problems: readonly Finding[]): void {
  const blocking = problems.find(blocksSetup)
  if (blocking === undefined) return
  throw new UserError({
    code: 'config-conflict',
    message: `${label} would not work with the gateway: ${messageWithLocation(blocking)}`,
    hint: blocking.hint,
  })
}

/** @throws UserError `internal` if the client would not read what was planned or written */
export function refuseMismatch(client: Client, files: LoadedFiles, access: GatewayAccess): void {
  const after = client.read(files)
  const { baseUrl, key, alsoSendsTo } = after.endpoint
  const protocol = protocolOf(client, after.options)
  const expectedBaseUrl = baseUrlFor(access, protocol)

  const hasAddress = baseUrl === expectedBaseUrl && alsoSendsTo === undefined
  const hasKey =
    key === access.key &&
    keyHeaderOf(client, protocol, after.endpoint) === keyHeaderOf(client, protocol, access)
  const { headers = [], query = [] } = access
  const hasExtras =
    headers.every((header) => includesHeader(header, after.endpoint.headers)) &&
    query.every((parameter) => includesHeader(parameter, after.endpoint.query))

  if (hasAddress && hasKey && hasExtras) return
  const reason = whyUnreadable(after) ?? after.login ?? 'address, key or headers differ'
  throw new UserError({
    code: 'internal',
    message: `${client.label} would not read the planned files as intended: ${reason}`,
    hint: 'Please report this bug.',
  })
}

/** Reports a file mode that the run changes, or that shows that someone wanted the file left alone. */
function* modeFindings({ platform }: Session, edit: FileEdit): Generator<Finding> {
  const { files, machine } = platform
  if (machine.os === 'win32' || actionOf(edit) !== 'updated') return

  const { mode } = files.stat(edit.path)
  const octal = (bits: number) => bits.toString(8).padStart(3, '0')
  const privateMode = mode & ~0o077
  if (edit.holdsSecret && mode !== privateMode)
    yield {
      code: 'mode-closed',
      message: `${edit.path} will contain the key, so only you will be able to read it (mode ${octal(mode)} becomes ${octal(privateMode)})`,
    }

  if ((mode & 0o200) === 0)
    yield {
      code: 'read-only-file',
      message: `${edit.path} is read-only (mode ${octal(mode)}). repoint replaces it, and it stays read-only`,
    }
}
