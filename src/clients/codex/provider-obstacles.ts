import type { KeyChange } from '../../edits/plan.ts'
import type { FileTexts, Obstacle, ObstacleContext, Repair } from '../client.ts'
import { isHere } from '../leftovers.ts'
import {
  isOwnAddress,
  isTable,
  layersOf,
  placeOf,
  type ReadFile,
  readFile,
  rootOf,
  shownUrl,
  tableAt,
  textAt,
} from '../texts.ts'
import { ownAddressPath, providerInUse, reservedIds, strayAddress, type Table } from './provider.ts'

export function configRepair(...changes: readonly KeyChange[]): Repair {
  return { role: 'config', changes }
}

/** What in the provider tables would defeat the pair (Codex 0.169.0, 2026-11-21). */
export function providerObstacles(
  texts: FileTexts,
  config: ReadFile,
  context: ObstacleContext,
): readonly Obstacle[] {
  const providers = Object.entries(tableAt(config, ['model_providers']) ?? {}).flatMap(
    ([id, table]) => (isTable(table) ? [{ id, table }] : []),
  )
  return [
    ...missing(config, context),
    ...withoutVersion(config, context),
    ...ownProvider(config, context),
    ...providers.flatMap((provider) =>
      reservedIds.includes(provider.id)
        ? reserved(config, provider)
        : [
            ...unstartable(config, context, provider),
            ...former(texts, config, context, provider),
            ...conflicting(config, context, provider),
          ],
    ),
  ]
}

interface Provider {
  readonly id: string
  readonly table: Table
}

function missing(config: ReadFile, context: ObstacleContext): readonly Obstacle[] {
  const inUse = providerInUse(config)
  if (context.choice || !inUse || inUse.table) return []
  if (reservedIds.includes(inUse.id)) return []
  return [
    {
      code: 'codex-provider-missing',
      message: `model_provider = ${JSON.stringify(inUse.id)} names no table of model_providers: Codex does not start`,
      place: placeOf(config, ['model_provider']),
      cure: 'Run `repoint codex`, or remove the line.',
      weight: 'blocks',
    },
  ]
}

/** Codex appends `/responses` to the address as it stands (0.169.0): without `/v1` a web page answers. */
function withoutVersion(config: ReadFile, context: ObstacleContext): readonly Obstacle[] {
  const inUse = providerInUse(config)
  if (context.choice || !inUse?.table) return []
  const paths = [['model_providers', inUse.id, 'base_url'], ownAddressPath]
  return paths.flatMap((path): Obstacle[] => {
    const url = textAt(config, path)
    if (url === undefined || !isOwnAddress(url, context) || /\/v1\/*$/.test(url)) return []
    const name = path === ownAddressPath ? path.join() : `base_url of ${inUse.id}`
    return [
      {
        code: 'codex-base-url-version',
        message: `${name} does not end in /v1: every request misses`,
        place: placeOf(config, path),
        cure: 'Add /v1.',
        repair: configRepair({ path, value: `${rootOf(url)}/v1`, isBound: true }),
        weight: 'blocks',
      },
    ]
  })
}

/**
 * A conversation goes on with the provider that it was recorded with, also where that is Codex's own,
 * and sends it the key of auth.json (0.146.0 to 0.169.0, 2026-11-22).
 */
function ownProvider(config: ReadFile, context: ObstacleContext): readonly Obstacle[] {
  const path = ownAddressPath
  const set = textAt(config, path)
  if (context.choice) {
    if (set === undefined || isOwnAddress(set, context)) return []
    return [
      {
        code: 'codex-openai-base-url',
        message: `openai_base_url already stands for another address, ${shownUrl(set)}`,
        place: placeOf(config, path),
        cure: 'To keep it, give this setup a folder of its own in CODEX_HOME.',
        needsConsent: `openai_base_url will be the gateway's address, else conversations of before would send the key to ${shownUrl(set)}; rollback brings it back.`,
        weight: 'may-block',
      },
    ]
  }
  const url = textAt(config, ['model_providers', providerInUse(config)?.id ?? '', 'base_url'])
  const stray = strayAddress(config)
  if (url === undefined || stray === undefined || !isOwnAddress(url, context)) return []
  return [
    {
      code: 'codex-old-conversations',
      message: `a conversation from before, when it is resumed, sends the key of auth.json to ${shownUrl(stray)}`,
      place: set === undefined ? config.path : placeOf(config, path),
      cure: `Set openai_base_url = ${JSON.stringify(url)}.`,
      repair: configRepair({ path, value: url, isBound: true }),
      weight: 'blocks',
    },
  ]
}

/** What may stand in the table of `amazon-bedrock`, the one built-in provider that has settings. */
const bedrockKeys = ['base_url', 'auth', 'http_headers', 'aws']

function reserved(config: ReadFile, { id, table }: Provider): readonly Obstacle[] {
  const path = ['model_providers', id]
  const isSettings =
    id === 'amazon-bedrock' && Object.keys(table).every((key) => bedrockKeys.includes(key))
  if (isSettings) return []
  return [
    {
      code: 'codex-reserved-provider',
      message: `[model_providers.${id}]: the id belongs to Codex, which refuses to start`,
      place: placeOf(config, path),
      cure: 'Remove the table or give it another id.',
      repair: configRepair({ path, value: undefined }),
      needsConsent: `The table [model_providers.${id}] is removed from config.toml.`,
      weight: 'blocks',
    },
  ]
}

/** What keeps Codex from starting, whichever provider is in use. */
function unstartable(
  config: ReadFile,
  context: ObstacleContext,
  { id, table }: Provider,
): readonly Obstacle[] {
  if (context.choice && id === context.providerId) return []
  const path = ['model_providers', id]
  const found: Obstacle[] = []
  const wire = table['wire_api']
  if (wire !== undefined && wire !== 'responses') {
    found.push({
      code: 'codex-chat-wire',
      message: `wire_api = ${typeof wire === 'string' ? JSON.stringify(wire) : typeof wire} in [model_providers.${id}]: Codex refuses to start, whichever provider is in use`,
      place: placeOf(config, [...path, 'wire_api']),
      cure: 'Set it to "responses".',
      repair: configRepair({ path: [...path, 'wire_api'], value: 'responses' }),
      weight: 'blocks',
    })
  }
  const name = table['name']
  if (name === undefined || (typeof name === 'string' && name.trim() === '')) {
    found.push({
      code: 'codex-nameless-provider',
      message: `[model_providers.${id}] has no name: Codex refuses to start, whichever provider is in use`,
      place: placeOf(config, path),
      cure: 'Give it a name, or remove the table.',
      repair: configRepair({ path: [...path, 'name'], value: id }),
      weight: 'blocks',
    })
  }
  return found
}

/**
 * The table of an earlier setup under another id. There is one auth.json: chosen by a profile or on
 * the command line, the table would send the new key to the old address.
 */
function former(
  texts: FileTexts,
  config: ReadFile,
  context: ObstacleContext,
  { id, table }: Provider,
): readonly Obstacle[] {
  const url = table['base_url']
  const isAsWeWrite =
    table['requires_openai_auth'] === true &&
    table['supports_websockets'] === false &&
    table['wire_api'] === 'responses' &&
    typeof url === 'string' &&
    isOwnAddress(url, context)
  if (!context.choice || id === context.providerId || !isAsWeWrite) return []
  const isChosenByProfile = layersOf(texts, 'profile').some(
    (layer) => textAt(readFile(layer), ['model_provider']) === id,
  )
  if (isChosenByProfile) return []
  const path = ['model_providers', id]
  return [
    {
      code: 'codex-former-provider',
      message: `[model_providers.${id}] is left of an earlier setup, for ${shownUrl(url)}: it would send it the new key`,
      place: placeOf(config, path),
      cure: 'Remove the table.',
      repair: configRepair({ path, value: undefined, isBound: true }),
      needsConsent: `[model_providers.${id}] of an earlier setup will be removed; rollback brings it back.`,
      weight: 'may-block',
    },
  ]
}

function conflicting(
  config: ReadFile,
  context: ObstacleContext,
  { id, table }: Provider,
): readonly Obstacle[] {
  const { choice, providerId } = context
  const isInUse = choice ? id === providerId : id === providerInUse(config)?.id
  if (!isInUse) return []
  const path = ['model_providers', id]
  const found: Obstacle[] = []
  const url = table['base_url']
  if (choice && typeof url === 'string' && !isOwnAddress(url, context)) {
    found.push({
      code: 'codex-provider-conflict',
      message: `[model_providers.${id}] already stands for another address, ${shownUrl(url)}`,
      place: placeOf(config, [...path, 'base_url']),
      cure: 'To keep it, choose another id with --provider-id.',
      needsConsent: `[model_providers.${id}] will be overwritten; rollback brings it back.`,
      weight: 'may-block',
    })
  }
  const takesAuthFile = choice !== undefined || table['requires_openai_auth'] === true
  const ownAuth = providerAuthKeys(table)
  for (const key of takesAuthFile ? ownAuth : []) {
    found.push({
      code: 'codex-provider-auth',
      message: `${key} in [model_providers.${id}] wins over auth.json`,
      place: placeOf(config, [...path, key]),
      cure: 'Remove it.',
      repair: configRepair({
        path: [...path, key],
        value: undefined,
        isBound: true,
        ...(key === 'experimental_bearer_token' ? { isSecret: true } : {}),
      }),
      needsConsent: `${key} is removed from [model_providers.${id}].`,
      weight: 'blocks',
    })
  }
  if (choice) return found
  if (!takesAuthFile) {
    const isForeign = typeof url === 'string' && isHere(url) && !isOwnAddress(url, context)
    if (ownAuth.length > 0 || table['http_headers'] !== undefined || isForeign) return found
    found.push({
      code: 'codex-no-auth',
      message: `[model_providers.${id}] has no requires_openai_auth = true: Codex sends no key`,
      place: placeOf(config, path),
      cure: 'Set requires_openai_auth = true.',
      repair: configRepair({ path: [...path, 'requires_openai_auth'], value: true, isBound: true }),
      weight: 'blocks',
      covers: 'key-missing',
    })
  } else if (typeof url !== 'string' || url === '') {
    found.push({
      code: 'codex-no-address',
      message: `[model_providers.${id}] has no base_url: Codex sends the key of auth.json to OpenAI`,
      place: placeOf(config, path),
      cure: 'Run `repoint codex`, or remove the table and model_provider.',
      weight: 'blocks',
    })
  }
  return found
}

/**
 * The keys of a provider table that carry a credential of their own, which wins over auth.json. An
 * Authorization in `http_headers` does not: beside requires_openai_auth it is not sent. Run against
 * 0.169.0, 2026-11-21.
 */
function providerAuthKeys(provider: Table): readonly string[] {
  return ['env_key', 'experimental_bearer_token', 'auth'].filter(
    (key) => provider[key] !== undefined,
  )
}
