import type { Client, Notice, SetupOptions } from '../clients/client.ts'
import { loadClients, rowOf } from '../clients/list.ts'
import { windowNotices } from '../clients/models.ts'
import { actionOf, type Plan } from '../edits/plan.ts'
import { exitStatus, UserError } from '../errors.ts'
import type { GatewayAccess } from '../gateway/types.ts'
import { applyPlan } from '../transaction/apply.ts'
import { checkTargets } from '../transaction/check.ts'
import type { Applied } from '../transaction/types.ts'
import { readClientFiles } from './client-files.ts'
import { expectInstalled, type Tried, tryClient } from './client-program.ts'
import { stopCodexServer } from './codex-server.ts'
import { configuredGateways } from './configured-gateway.ts'
import { type FoundGateway, findGateway, type GatewayOptions, type Known } from './credentials.ts'
import { runsSoFar, settleFirst } from './history.ts'
import { rememberModels } from './model-cache.ts'
import type { Session } from './screen/session.ts'
import { type Draft, draftSetup, expectReadBack } from './setup/draft.ts'
import { type Chooser, type Proof, prove, proveModels } from './setup/prove.ts'
import { reportDryRun, reportSetup, showPlan } from './setup/report.ts'

export interface SetupRequest {
  /** The word of the command line; `setup` when several clients are set up in one run. */
  readonly command: string
  readonly clients: readonly string[]
  readonly gateway: GatewayOptions
  readonly options: SetupOptions
  readonly isDryRun: boolean
  /** Everything that would be asked is accepted. */
  readonly yes: boolean
  /** False: the network is left alone. */
  readonly verify: boolean
  readonly tryClient: boolean
}

/** Carries out a setup from the first question to the last proof. Returns the exit status. */
export async function setup(session: Session, request: SetupRequest): Promise<number> {
  const warnings: Notice[] = settleFirst(session)
  const clients = await loadClients(request.clients.map(rowOf))
  for (const client of clients) client.checkOptions?.(request.options)
  if (request.tryClient) for (const client of clients) expectInstalled(session, client)
  const runs = runsSoFar(session, warnings)
  const { access, proof } = await findProvenGateway(session, request, clients, {
    lastBaseUrl: runs[0]?.baseUrl,
    configured: session.canAsk ? await configuredGateways(session, runs) : [],
  })
  warnings.push(...proof.notices)

  const drafts = clients.map((client) =>
    draftSetup(session, access, client, proof.models.get(client)!, request.options, runs),
  )
  warnings.push(...drafts.flatMap(({ notices }) => notices))
  warnings.push(...windowNotices(drafts.flatMap(({ unknownWindows }) => unknownWindows)))
  const plan: Plan = {
    command: request.command,
    baseUrl: access.baseUrl,
    model: drafts[0]!.models.model,
    edits: drafts.flatMap((one) => one.edits),
  }
  showPlan(session, access, drafts, warnings)
  const consents = consentsOf(drafts)
  for (const { message } of consents) session.say(`  ! ${message}`)
  warnings.push(...consents)
  checkTargets(session.platform, plan)
  if (request.isDryRun) {
    reportDryRun(session, plan, warnings, request.verify)
    return 0
  }
  if (plan.edits.some((edit) => actionOf(edit) !== 'unchanged'))
    await confirm(session, request, consents)
  session.platform.ask.release()
  if (session.platform.interrupt.aborted)
    throw new UserError({ code: 'cancelled', message: 'Cancelled' })

  const applied = applyPlan(session.platform, plan)
  session.noteApplied(applied)
  if (proof.catalog !== undefined) rememberModels(session, proof.catalog)
  await proveWritten(session, request, access, drafts)
  const toDo = isCodexChanged(applied) ? await stopCodexServer(session, request) : []
  const tried: Tried[] = []
  if (request.tryClient) for (const client of clients) tried.push(await tryClient(session, client))
  reportSetup(session, {
    plan,
    applied,
    isVerified: request.verify,
    warnings,
    tried,
    next: applied.run
      ? [...toDo, ...clients.map(({ restartAdvice }) => restartAdvice), 'Undo: repoint rollback']
      : [],
  })
  return 0
}

/** How often a person may type an address or a key that does not work. */
const maxTries = 3

/**
 * Finds the gateway and proves it. What a person typed and the gateway refuses is asked again; what
 * came from a flag or the environment is an error at once.
 */
async function findProvenGateway(
  session: Session,
  request: SetupRequest,
  clients: readonly Client[],
  start: Known,
): Promise<{ access: GatewayAccess; proof: Proof }> {
  let known = start
  for (let tries = 1; ; tries++) {
    const found = await findGateway(session, request.gateway, known)
    try {
      const proof = await proofOf(session, request, found.access, clients)
      return {
        access: found.access,
        proof: { ...proof, notices: [...found.notices, ...proof.notices] },
      }
    } catch (error) {
      const next = tries < maxTries ? knownAfter(error, found) : undefined
      if (next === undefined) throw error
      session.remark(`That did not work: ${(error as UserError).message}`)
      known = { ...known, ...next }
    }
  }
}

/** What stays known when something is asked again; undefined: nothing that was typed is at fault. */
function knownAfter(
  error: unknown,
  { access, asked, isKeyInUse }: FoundGateway,
): Known | undefined {
  if (!(error instanceof UserError)) return undefined
  const status = exitStatus[error.code]
  if (status === exitStatus['key-rejected'] && asked.key)
    return { baseUrl: access.baseUrl, configured: [] }
  const isAddress = status === exitStatus['not-an-api'] || status === exitStatus.refused
  if (isAddress && asked.baseUrl)
    return { key: isKeyInUse ? undefined : access.key, lastBaseUrl: access.baseUrl }
  return undefined
}

async function proofOf(
  session: Session,
  request: SetupRequest,
  access: GatewayAccess,
  clients: readonly Client[],
): Promise<Proof> {
  if (request.verify) return prove(session, access, clients, request.options, chooserFor(session))
  const models = new Map(
    clients.map((client) => [client, client.choose(undefined, request.options)] as const),
  )
  return { models, catalog: undefined, notices: [] }
}

/** By the rules; on a terminal a person chooses where no rule fits. */
function chooserFor(session: Session): Chooser {
  return async (client, catalog, options) => {
    try {
      return client.choose(catalog, options)
    } catch (error) {
      const canAsk = session.canAsk && catalog !== undefined
      if (!(error instanceof UserError) || error.code !== 'usage' || !canAsk) throw error
      const model = await session.platform.ask.search({
        message: `${error.message}. Which model should ${client.label} use?`,
        choices: catalog.models.map(({ id }) => ({ value: id, name: id })),
      })
      return client.choose(catalog, { ...options, model })
    }
  }
}

/** What of a person's own goes out of use. */
function consentsOf(drafts: readonly Draft[]): readonly Notice[] {
  return drafts.flatMap(({ obstacles }) =>
    obstacles.flatMap(({ code, needsConsent }) =>
      needsConsent === undefined ? [] : [{ code, message: needsConsent }],
    ),
  )
}

/**
 * One question for the whole run.
 *
 * @throws UserError `confirmation-needed` where nobody can be asked, `cancelled` on a no
 */
async function confirm(
  session: Session,
  request: SetupRequest,
  consents: readonly Notice[],
): Promise<void> {
  if (request.yes) return
  if (!session.canAsk)
    throw new UserError({
      code: 'confirmation-needed',
      message: [
        'There is no terminal to ask whether to apply the plan',
        ...consents.map(({ message }) => `it needs your consent: ${message.replace(/\.$/, '')}`),
      ].join('; '),
      hint: 'Add --yes to accept the plan, or --dry-run to see it.',
    })
  const isAccepted = await session.platform.ask.confirm({
    message: consents.length > 0 ? 'Apply this, with what is marked "!"?' : 'Apply this?',
    default: consents.length === 0,
  })
  if (!isAccepted) throw new UserError({ code: 'cancelled', message: 'Cancelled' })
}

/** Reads the files back as the clients will, and proves what they say. */
async function proveWritten(
  session: Session,
  request: SetupRequest,
  access: GatewayAccess,
  drafts: readonly Draft[],
): Promise<void> {
  for (const { client } of drafts) expectReadBack(client, readClientFiles(session, client), access)
  if (!request.verify) return
  try {
    await proveModels(session, access, new Map(drafts.map((one) => [one.client, one.models])))
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    throw new UserError({
      code: error.code,
      message:
        error.code === 'cancelled'
          ? 'Cancelled after the files were written, before the last proof'
          : `The files are written, but the last proof failed: ${error.message}`,
      hint: error.hint,
      cause: error,
    })
  }
}

function isCodexChanged({ files }: Applied): boolean {
  return files.some(({ client, action }) => client === 'codex' && action !== 'unchanged')
}
