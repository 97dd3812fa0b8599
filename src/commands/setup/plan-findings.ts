/**
 * A part of step 5: what the user should know about the plan of one client.
 *
 * In: the client's choice, its problems, and its files before and after the edits. Out: findings.
 */
import { replacedOriginFinding } from '../../clients/checks/other-tools.ts'
import type { LoadedFiles } from '../../clients/contract/files.ts'
import { catalogIn } from '../../clients/contract/setup.ts'
import { smallWindowHint } from '../../clients/models/context-window.ts'
import { unlistedModels } from '../../clients/models/picker.ts'
import { protocolOf } from '../../clients/models/protocols.ts'
import { keepsModels, modelsIn, optionsToKeep } from '../../clients/options/chosen-options.ts'
import { actionOf, type FileEdit } from '../../edits/types.ts'
import { asNoteWithLocation, type Finding, hasTopic, shownAs } from '../../finding.ts'
import { catalogEntry } from '../../gateway/models/rules.ts'
import { certificateFindings } from '../client-state/certificates.ts'
import { originOf } from '../client-state/client-facts.ts'
import type { ResolvedChoice } from '../resolve/client-choice.ts'
import { unavailableModels } from '../resolve/resolve-input.ts'
import type { Session } from '../screen/session.ts'
import type { ProvenSetup } from './prove/prove-clients.ts'

interface PlannedFiles {
  /** What would keep the client from using the gateway. The edits contain the fixes. */
  readonly problems: readonly Finding[]
  readonly edits: readonly FileEdit[]
  readonly before: LoadedFiles
  readonly after: LoadedFiles
}

/** About the files, the problems and the models of one client. */
export function planFindings(
  proven: ProvenSetup,
  final: ResolvedChoice,
  { problems, edits, before, after }: PlannedFiles,
): readonly Finding[] {
  const { session, access, runs } = proven
  const { client, resolved } = final
  const { endpoint } = client.read(after)

  // A setup that changes nothing does not repeat what the first one reported.
  const isChanged = edits.some((edit) => actionOf(edit) !== 'unchanged')
  const stateBefore = { client, files: before, state: client.read(before) }
  const origin = isChanged ? originOf(session, stateBefore, runs) : undefined
  const tooSmall = [...windowFindings(final)]
  const ofModels = resolved.findings.filter(({ code }) =>
    tooSmall.every((one) => one.code !== code),
  )
  const modelFindings = [...tooSmall, ...ofModels, ...unlistedModelFindings(final, after)]
  const newFindings = modelFindings
    .filter(({ topic }) => isChanged && !hasTopic(topic, problems))
    .map((finding) => hintedFor(session, client.id, finding))

  return [
    ...edits.flatMap((edit) => [...modeFindings(session, edit)]),
    // The plan shows fixes, and what needs consent, in lines of their own.
    ...problems.filter((problem) => shownAs(problem) === 'finding').map(asNoteWithLocation),
    ...certificateFindings(session, client, endpoint, access.caFile),
    ...(origin === undefined ? [] : [replacedOriginFinding(client, origin)]),
    ...(client.sideEffects?.(session.platform, { by: 'setup', before, after }) ?? []),
    ...newFindings,
    ...lostModelFindings(proven, final, after),
  ]
}

/** The finding with the client in its hint. Only a finding that names the client: others are shown once for all. */
function hintedFor(session: Session, client: string, finding: Finding): Finding {
  const { hint, topic } = finding
  if (hint === undefined || topic !== 'context-window-unknown') return finding
  return { ...finding, hint: session.completeHint(hint, client) }
}

/** Reports a window in the gateway's list in which not even the client's first request fits. */
function* windowFindings({ client, input, resolved }: ResolvedChoice): Generator<Finding> {
  const { contextWindow } = catalogEntry(catalogIn(input.gatewayInfo), resolved.probeModel) ?? {}
  const { firstRequest } = client.program.tokens
  if (contextWindow !== undefined && contextWindow < firstRequest)
    yield {
      code: 'context-window-small',
      severity: 'warning',
      message: `${resolved.probeModel} has a context window of ${contextWindow} tokens, and the first request of ${client.label} needs about ${firstRequest}`,
      hint: smallWindowHint,
    }
}

/**
 * Reports models in the client's list that the gateway does not list. repoint did not write them: the edits
 * already removed those that it wrote.
 */
function* unlistedModelFindings(
  { client, input, resolved }: ResolvedChoice,
  after: LoadedFiles,
): Generator<Finding> {
  const catalog = catalogIn(input.gatewayInfo)
  const unlisted =
    catalog && resolved.offersWholeCatalog ? unlistedModels(client, after, catalog, resolved) : []
  if (unlisted.length > 0)
    yield {
      code: 'model-not-listed',
      severity: 'note',
      message: `${client.label} also offers models that the gateway does not list: ${unlisted.join(', ')}`,
      hint: 'repoint did not write these models and keeps them.',
    }
}

/** Reports earlier choices that no longer apply: models, and the window or protocol of models that stay. */
function* lostModelFindings(
  { earlierSetups, policy }: ProvenSetup,
  { client, input }: ResolvedChoice,
  after: LoadedFiles,
): Generator<Finding> {
  const before = policy.replacesModels ? earlierSetups.get(client.id) : undefined
  if (before === undefined) return

  const code = 'choice-not-kept'
  const now = optionsToKeep(client, client.read(after))
  const models = modelsIn(now)
  const lost = unavailableModels(client, before, input.gatewayInfo).filter(
    (id) => !models.includes(id),
  )
  if (lost.length > 0)
    yield {
      code,
      severity: 'note',
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
      severity: 'note',
      message: `The context window of ${client.label} changes from ${window} tokens to ${now.contextWindow ?? 'the default'}`,
      hint: keepHint(`--context-window ${window}`),
    }

  const oldProtocol = protocolOf(client, before.options)
  const newProtocol = protocolOf(client, now)
  if (oldProtocol !== newProtocol && requested.protocol === undefined)
    yield {
      code,
      severity: 'note',
      message: `The protocol of ${client.label} changes from ${oldProtocol} to ${newProtocol}`,
      hint: keepHint(`--protocol ${oldProtocol}`),
    }
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
      severity: 'note',
      message: `${edit.path} will contain the key, so only you will be able to read it (mode ${octal(mode)} becomes ${octal(privateMode)})`,
    }

  if ((mode & 0o200) === 0)
    yield {
      code: 'read-only-file',
      severity: 'note',
      message: `${edit.path} is read-only (mode ${octal(mode)}). repoint replaces it, and it stays read-only`,
    }
}
