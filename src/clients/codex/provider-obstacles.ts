import type { KeyPath } from '../../edits/plan.ts'
import type { Choice, Obstacles, Scene } from '../client.ts'
import { lostVersion, obstacleAt, otherAddress } from '../obstacles.ts'
import {
  isOwnAddress,
  isTable,
  mayNeedNoKey,
  type ReadFile,
  rootOf,
  shownUrl,
  type Table,
} from '../texts.ts'
import { harmfulLayers, othersInTheWay, othersWrongNow } from './other-providers.ts'
import {
  authKeys,
  configRepair,
  harmfulKeys,
  hasOwnKey,
  isNameOfBedrock,
  isSetAside,
  marks,
  ownAddressPath,
  providerInUse,
  reservedIds,
  takesAuthFile,
} from './provider.ts'

const codexName = { id: 'codex', label: 'Codex' }

/** A table of `model_providers`. */
interface Provider {
  readonly id: string
  readonly table: Table
  readonly path: KeyPath
}

function providersOf(config: ReadFile): readonly Provider[] {
  return config
    .members(['model_providers'])
    .flatMap(([id, table]) =>
      isTable(table) ? [{ id, table, path: ['model_providers', id] }] : [],
    )
}

/**
 * What keeps Codex from starting, whichever provider is in use (0.169.0, 2026-11-21).
 *
 * @param planned the provider whose table a setup is about to write; its faults go with that
 */
export function* startObstacles(config: ReadFile, planned?: string): Obstacles {
  for (const one of whatStopsIt(config, planned)) yield { ...one, covers: 'broken' }
}

function* whatStopsIt(config: ReadFile, planned: string | undefined): Obstacles {
  yield* rootFaults(config, planned)
  for (const provider of providersOf(config)) {
    if (reservedIds.includes(provider.id)) yield* reserved(config, provider)
    else if (provider.id !== planned) yield* unstartable(config, provider)
  }
}

/** What in the provider tables would defeat the pair about to be written. */
export function* providersInTheWay(scene: Scene, config: ReadFile, choice: Choice): Obstacles {
  yield* otherOwnAddress(scene, config, choice)
  for (const { id, table, path } of providersOf(config)) {
    if (id !== choice.providerId) continue
    const address = [...path, 'base_url']
    yield* otherAddress(scene, choice, {
      code: 'codex-provider-conflict',
      what: `[model_providers.${id}]`,
      url: config.text(address),
      place: config.place(address),
    })
    const url = config.text(address)
    const isOtherAddress = url !== undefined && rootOf(url) !== choice.root
    yield* harmfulSettings(config, { id, table, path }, isOtherAddress)
    const marked: readonly unknown[] = Object.values(marks)
    const others = Object.entries(table).filter(([, value]) => !marked.includes(value))
    yield* ownAuth(config, { id, path, table: Object.fromEntries(others) })
  }

  yield* harmfulLayers(scene.texts, choice.providerId)
  yield* othersInTheWay(scene, config, choice)
}

/** What is wrong with the provider in use. */
export function* providersWrongNow(scene: Scene, config: ReadFile): Obstacles {
  const provider = providersOf(config).find(({ id }) => id === providerInUse(config)?.id)
  if (provider === undefined || reservedIds.includes(provider.id)) return
  const url = config.text([...provider.path, 'base_url'])

  yield* withoutVersion(scene, config, provider)
  if (url !== undefined && isOwnAddress(url, scene)) {
    yield* harmfulSettings(config, provider)
    yield* harmfulLayers(scene.texts, provider.id)
  }
  if (isSetAside(provider.table)) {
    yield* setAsideInUse(config, provider)
    return
  }
  if (url !== undefined && isOwnAddress(url, scene) && takesAuthFile(config))
    yield* othersWrongNow(scene.texts, config, rootOf(url))

  if (provider.table['requires_openai_auth'] === true) {
    yield* ownAuth(config, provider)
    if (!url) yield* withoutAddress(config, provider)
  } else if (!mayNeedNoKey(url, scene)) yield* withoutAuth(config, provider)
}

function* rootFaults(config: ReadFile, planned: string | undefined): Obstacles {
  if (config.problem !== undefined)
    yield {
      code: 'codex-config-invalid',
      message: `Codex does not start: ${config.problem}`,
      place: config.path,
      cure: 'Correct the file by hand: it cannot be edited safely as it is.',
      weight: 'blocks',
    }

  if (config.get(['profile']) !== undefined)
    yield obstacleAt(config, ['profile'], {
      code: 'codex-legacy-profile',
      message: 'profile at the root: Codex refuses to start with it',
      cure: 'Remove the line; choose a profile with `codex --profile` instead.',
      becomes: { value: undefined },
    })

  const inUse = planned === undefined ? providerInUse(config) : undefined
  if (inUse && !inUse.table && !reservedIds.includes(inUse.id))
    yield obstacleAt(config, ['model_provider'], {
      code: 'codex-provider-missing',
      message: `model_provider = ${JSON.stringify(inUse.id)} names no table of model_providers: Codex does not start`,
      cure: 'Run `repoint codex`, or remove the line.',
    })
}

const bedrockKeys = ['base_url', 'auth', 'http_headers', 'aws']

/** What the tables of built-in providers may contain (0.169.0, 2026-11-24). */
const builtInKeys: Readonly<Record<string, readonly string[]>> = {
  'amazon-bedrock': bedrockKeys,
  'amazon-bedrock-runtime': bedrockKeys,
  gcp: ['base_url', 'auth', 'http_headers', 'project_id', 'location', 'credential_file'],
}

function* reserved(config: ReadFile, { id, table, path }: Provider): Obstacles {
  const allowed = builtInKeys[id]
  if (allowed && Object.keys(table).every((key) => allowed.includes(key))) return
  yield obstacleAt(config, path, {
    code: 'codex-reserved-provider',
    message: `[model_providers.${id}]: the id belongs to Codex, which refuses to start`,
    cure: 'Remove the table or give it another id.',
    becomes: { value: undefined },
    needsConsent: `The table [model_providers.${id}] is removed from config.toml.`,
  })
}

function* unstartable(config: ReadFile, { id, table, path }: Provider): Obstacles {
  const wire = table['wire_api']
  if (wire !== undefined && wire !== 'responses')
    yield obstacleAt(config, [...path, 'wire_api'], {
      code: 'codex-chat-wire',
      message: `wire_api = ${typeof wire === 'string' ? JSON.stringify(wire) : typeof wire} in [model_providers.${id}]: Codex refuses to start, whichever provider is in use`,
      cure: 'Set it to "responses".',
      becomes: { value: 'responses' },
    })

  const name = table['name']
  if (name === undefined || (typeof name === 'string' && name.trim() === ''))
    yield obstacleAt(config, path, {
      code: 'codex-nameless-provider',
      message: `[model_providers.${id}] has no name: Codex refuses to start, whichever provider is in use`,
      cure: 'Give it a name, or remove the table.',
      repair: configRepair({ path: [...path, 'name'], value: id }),
    })
}

/** By hand: its address need not be that of the key in auth.json, so nothing is taken out. */
function* setAsideInUse(config: ReadFile, { id, path }: Provider): Obstacles {
  yield obstacleAt(config, [...path, 'env_key'], {
    code: 'codex-set-aside',
    message: `[model_providers.${id}] is in use, and was set aside when Codex went to another gateway: it sends nothing`,
    cure: 'Run `repoint codex` with its address and key, or `repoint rollback codex`.',
    covers: 'key-missing',
  })
}

/** The table that a setup writes is repoint's: what is not known to be harmless is removed. */
function* harmfulSettings(
  config: ReadFile,
  { id, table, path }: Provider,
  isOtherAddress = false,
): Obstacles {
  const [first, ...others] = harmfulKeys(table, isOtherAddress)
  if (first !== undefined) {
    const keys = [first, ...others]
    const changes = keys.map((key) => ({
      path: [...path, key],
      value: undefined,
      isSecret: true,
      isBound: true,
    }))
    yield obstacleAt(config, [...path, first], {
      code: 'codex-provider-setting',
      message: `${keys.join(', ')} in [model_providers.${id}]: Codex may send the key to another address, or not start`,
      cure: `Remove ${keys.length === 1 ? 'it' : 'them'}.`,
      repair: configRepair(...changes),
    })
  }

  if (isNameOfBedrock(table['name']))
    yield obstacleAt(config, [...path, 'name'], {
      code: 'codex-provider-setting',
      message: `name = ${JSON.stringify(table['name'])} in [model_providers.${id}]: Codex sends no key`,
      cure: 'Give it another name.',
      becomes: { value: 'Gateway' },
    })
}

function* ownAuth(config: ReadFile, { id, table, path }: Provider): Obstacles {
  for (const key of authKeys) {
    if (table[key] === undefined) continue
    const isSecret = key === 'experimental_bearer_token'
    yield obstacleAt(config, [...path, key], {
      code: 'codex-provider-auth',
      message: `${key} in [model_providers.${id}] wins over auth.json`,
      cure: 'Remove it.',
      becomes: { value: undefined, isSecret },
      needsConsent: `${key} is removed from [model_providers.${id}].`,
    })
  }
}

function* withoutAddress(config: ReadFile, { id, path }: Provider): Obstacles {
  yield obstacleAt(config, path, {
    code: 'codex-no-address',
    message: `[model_providers.${id}] has no base_url: Codex sends the key of auth.json to OpenAI`,
    cure: 'Run `repoint codex`, or remove the table and model_provider.',
  })
}

function* withoutAuth(config: ReadFile, { id, table, path }: Provider): Obstacles {
  if (hasOwnKey(table) || table['http_headers'] !== undefined) return
  yield obstacleAt(config, path, {
    code: 'codex-no-auth',
    message: `[model_providers.${id}] has no requires_openai_auth = true: Codex sends no key`,
    cure: 'Set requires_openai_auth = true.',
    repair: configRepair({ path: [...path, 'requires_openai_auth'], value: true }),
    covers: 'key-missing',
  })
}

/** Codex appends `/responses` to the address as it stands (0.169.0): without `/v1` a web page answers. */
function* withoutVersion(scene: Scene, config: ReadFile, { id, path }: Provider): Obstacles {
  const addresses = [
    { name: `base_url of ${id}`, path: [...path, 'base_url'] },
    { name: 'openai_base_url', path: ownAddressPath },
  ]
  for (const { name, path: address } of addresses)
    yield* lostVersion(codexName, scene, config, {
      url: config.text(address),
      path: address,
      name,
    })
}

function* otherOwnAddress(scene: Scene, config: ReadFile, choice: Choice): Obstacles {
  const url = config.text(ownAddressPath)
  if (url === undefined || isOwnAddress(url, scene, choice)) return
  yield obstacleAt(config, ownAddressPath, {
    code: 'codex-openai-base-url',
    message: `openai_base_url already stands for another address, ${shownUrl(url)}`,
    cure: 'To keep it, give this setup a folder of its own in CODEX_HOME.',
    needsConsent: `openai_base_url will be the gateway's address, else conversations of before would send the key to ${shownUrl(url)}; rollback brings it back.`,
    weight: 'may-block',
  })
}
