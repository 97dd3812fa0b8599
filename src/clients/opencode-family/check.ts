import { addToList, removeFromList } from '../../edits/types.ts'
import type { Findings } from '../../finding.ts'
import { proxyFindings, variableFindings } from '../checks/environment.ts'
import { findingAt, relativePathFindings, unreadFileFinding } from '../checks/findings.ts'
import { placeholderOf } from '../checks/other-tools.ts'
import type { ClientContext } from '../contract/client.ts'
import type { LoadedFiles } from '../contract/files.ts'
import type { SetupTarget } from '../contract/setup.ts'
import { isOwnAddress } from '../files/addresses.ts'
import { fileOf, parseKind } from '../files/parse-file.ts'
import { isTable, valueIn } from '../files/tables.ts'
import {
  checkFormerProviders,
  checkProviderForSetup,
  checkProviderNow,
  type OpencodeView,
  viewOf,
} from './check-provider.ts'
import { loginOf, readAuth, userFiles } from './config.ts'
import type { Fork } from './fork.ts'
import { harmfulVariables } from './fork.ts'

/** Reports what would defeat the address and key that a setup is about to write. */
export function* checkSetup(fork: Fork, context: ClientContext, target: SetupTarget): Findings {
  const { model, smallModel = model } = target.resolved
  const view = viewOf(fork, context, target.providerId)
  yield* checkSurroundings(fork, context)
  yield* checkOtherKey(view, target)
  yield* checkLists(view, [model, smallModel])
  yield* checkProviderForSetup(view, target)
  yield* checkFormerProviders(view, target)
  yield* checkOverridden(view)
  yield* checkProxy(fork, context, target.baseUrl)
}

/**
 * At a dead proxy both wait without end. They obey HTTP_PROXY and http_proxy, also for 127.0.0.1, and not ALL_PROXY
 * (opencode 1.18.34, Kilo 7.7.9, 2026-11-29).
 */
function checkProxy(fork: Fork, { machine }: ClientContext, url: string): Findings {
  return proxyFindings(fork, url, machine.env)
}

/** Reports what is wrong with the effective configuration of the client. */
export function* checkNow(fork: Fork, context: ClientContext): Findings {
  const view = viewOf(fork, context)
  const { config, idInUse, provider, providerId } = view
  yield* checkSurroundings(fork, context)

  // With a provider that the client ships, the user may configure it freely.
  const isCustom = provider.url !== undefined && !fork.reservedProviderIds.includes(providerId)
  if (isCustom || idInUse !== undefined) {
    const inUse = [config['model'], config['small_model']].flatMap((model) =>
      typeof model === 'string' && model.startsWith(`${providerId}/`)
        ? [model.slice(providerId.length + 1)]
        : [],
    )
    yield* checkLists(view, inUse)
  }
  if (!isCustom) return

  if (provider.url !== undefined) yield* checkProxy(fork, context, provider.url)
  yield* checkProviderNow(view)
  yield* checkOverridden(view)
}

/** Reports files that the client does not read or find. */
function* checkSurroundings(fork: Fork, { files, machine }: ClientContext): Findings {
  const { id, label, variables } = fork
  const folders = ['XDG_CONFIG_HOME', 'XDG_DATA_HOME', `${variables}_CONFIG`]

  yield* checkReadable(fork, files)
  yield* relativePathFindings(fork, machine, { names: folders })
  yield* unreadFileFinding(readAuth(fileOf(files, 'auth')), {
    code: `${id}-auth-unreadable`,
    effect: `${label} ignores auth.json and every login in it`,
    topic: 'key-missing',
  })
}

/** Reports what keeps the client from starting, whatever variables it gets. */
export function* checkReadable(
  { id, label, refusesPermissionsAs }: Fork,
  files: LoadedFiles,
): Findings {
  for (const file of userFiles(files)) {
    if (file.error !== undefined)
      yield {
        code: `${id}-config-invalid`,
        message: `${label} does not start, and prints the whole file: ${file.error.message}`,
        location: file.path,
        hint: 'Fix the file.',
        severity: 'error',
        topic: 'broken',
      }

    if (refusesPermissionsAs && file.get(['permissions']) !== undefined)
      yield findingAt(file, ['permissions'], {
        code: `${id}-newer-keys`,
        message: `"permissions" is for another major version: ${refusesPermissionsAs} does not start with it`,
        hint: 'Remove it, or rename it to "permission".',
        topic: 'broken',
      })
  }
}

function* checkOtherKey(view: OpencodeView, target: SetupTarget): Findings {
  const { id, context, providerId, provider } = view
  const entry = loginOf(context.files, providerId)
  if (!isTable(entry) || entry['key'] === target.key) return

  const isKey = entry['type'] === 'api'
  const isPlaceholder = typeof entry['key'] === 'string' && placeholderOf(entry['key'])
  if (isKey && (isOwnAddress(provider.url, context, target) || isPlaceholder)) return

  const kind = isKey ? 'API key' : 'login'
  yield findingAt(parseKind(context.files, 'auth'), [providerId], {
    code: `${id}-other-key`,
    message: `auth.json contains an entry for ${providerId} that repoint did not write`,
    hint: 'To keep it, choose another ID: {--provider-id ID}',
    needsConsentTo: `Replace the ${kind} for ${providerId} in auth.json. repoint rollback restores it.`,
    severity: 'warning',
  })
}

/** Reports lists that hide a provider or a model. In each, the stronger file's list replaces the weaker's. */
function* checkLists(
  { id, label, context, config, configFile, providerId }: OpencodeView,
  models: readonly string[],
): Findings {
  const lists = [
    { path: ['enabled_providers'], mustContain: true, ids: [providerId] },
    { path: ['disabled_providers'], mustContain: false, ids: [providerId] },
    { path: ['provider', providerId, 'whitelist'], mustContain: true, ids: models },
    { path: ['provider', providerId, 'blacklist'], mustContain: false, ids: models },
  ]

  for (const { path, mustContain, ids } of lists) {
    const list = valueIn(config, path)
    if (!Array.isArray(list)) continue
    const hidden = [...new Set(ids)].filter((id) => list.includes(id) !== mustContain)
    if (hidden.length === 0) continue

    const name = path.at(-1)
    const file = userFiles(context.files).findLast((own) => own.get(path) !== undefined)
    const fixed = mustContain ? [...list, ...hidden] : list.filter((id) => !hidden.includes(id))
    const changes =
      file?.path === configFile.path
        ? hidden.map((id) => (mustContain ? addToList : removeFromList)(path, id))
        : [{ path, value: fixed }]
    yield findingAt(file ?? configFile, path, {
      code: `${id}-hidden`,
      message: `${name} hides ${hidden.join(', ')} from ${label}`,
      hint: mustContain ? `Add it to ${name}.` : `Remove it from ${name}.`,
      fix: { fileKind: 'config', changes },
    })
  }
}

/** Reports settings that override the files, or bypass them. */
function* checkOverridden(view: OpencodeView): Findings {
  const { context } = view
  yield* checkAgents(view)
  yield* variableFindings(context, harmfulVariables(view))
}

/** An agent that sets a model does not use the default model. */
function* checkAgents({ id, context, providerId }: OpencodeView): Findings {
  const agents = userFiles(context.files).flatMap((file) =>
    ['agent', 'mode'].flatMap((kind) =>
      file.members([kind]).map(([name, agent]) => ({
        name,
        model: isTable(agent) ? agent['model'] : undefined,
        place: file.place([kind, name, 'model']),
      })),
    ),
  )

  for (const { name, model, place: location } of agents) {
    if (typeof model !== 'string' || model.startsWith(`${providerId}/`)) continue
    yield {
      code: `${id}-agent-model`,
      message: `the agent ${name} uses its own model, ${model}, and not the gateway`,
      location,
      hint: 'To use the gateway for that agent, remove its model.',
      severity: 'warning',
    }
  }
}
