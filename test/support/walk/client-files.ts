/**
 * The clients' files as the walk reads them: without the code of src, so that a bug there is not in the model too.
 * Only what the walk's homes contain is read.
 */
import json5 from 'json5'
import { parse as parseToml } from 'smol-toml'

/** The files of a home, by name: `file MODE BASE64`, as `Home.snapshot` returns them. */
export type Files = Readonly<Record<string, string>>

/** Where a client sends what. `credential` is a key, or `login`. */
export interface Connection {
  readonly address: string | undefined
  readonly credential: string | undefined
  /** The client starts with it. */
  readonly isActive: boolean
}

// biome-ignore lint/suspicious/noExplicitAny: a parsed file can have any shape
type Value = any

/** The folders of each client that the walk sets up. */
const folders: Readonly<Record<string, readonly string[]>> = {
  codex: ['.codex'],
  claude: ['.claude'],
  opencode: ['.config/opencode', '.local/share/opencode'],
  kilo: ['.config/kilo', '.local/share/kilo'],
  pi: ['.pi'],
  openclaw: ['.openclaw'],
  qwen: ['.qwen'],
  droid: ['.factory'],
  cline: ['.cline'],
}

export const clients = Object.keys(folders)

export function clientOfFile(name: string): string | undefined {
  return clients.find((client) => isOfClient(client, name))
}

function isOfClient(client: string, name: string): boolean {
  return folders[client]!.some((folder) => name === folder || name.startsWith(`${folder}/`))
}

/** The entries in the folders of a client, with the folders themselves. */
export function filesOf(client: string, files: Files): Files {
  return Object.fromEntries(Object.entries(files).filter(([name]) => isOfClient(client, name)))
}

export function textIn(files: Files, name: string): string | undefined {
  const [kind, , bytes = ''] = files[name]?.split(' ') ?? []
  return kind === 'file' ? Buffer.from(bytes, 'base64').toString() : undefined
}

function parsed(files: Files, name: string): Value {
  const text = textIn(files, name)
  if (text === undefined || text.trim() === '') return {}
  try {
    return name.endsWith('.toml') ? parseToml(text) : json5.parse(text.replace(/^\uFEFF/, ''))
  } catch {
    return undefined
  }
}

/** Whether each file of the client can be parsed. */
export function isReadable(client: string, files: Files): boolean {
  return Object.keys(filesOf(client, files)).every((name) => parsed(files, name) !== undefined)
}

/** Each value in a file by its path. Elements of lists are found by their ID. Undefined: it cannot be parsed. */
export function leavesOf(files: Files, name: string): ReadonlyMap<string, string> | undefined {
  const root = parsed(files, name)
  if (root === undefined) return undefined
  const leaves = new Map<string, string>()
  const visit = (value: Value, path: string) => {
    if (Array.isArray(value) && value.some((item) => item && typeof item === 'object')) {
      const seen = new Map<string, number>()
      for (const item of value) {
        const id = String(item?.id ?? item?.model ?? item?.name ?? '')
        const nth = (seen.get(id) ?? 0) + 1
        seen.set(id, nth)
        visit(item, `${path}[${id}#${nth}]`)
      }
    } else if (value !== null && typeof value === 'object' && !(value instanceof Date)) {
      if (Array.isArray(value)) leaves.set(path, JSON.stringify(value))
      else for (const [key, member] of Object.entries(value)) visit(member, `${path}/${key}`)
    } else leaves.set(path, JSON.stringify(value))
  }
  visit(root, '')
  return leaves
}

/** Every connection that the files of a client describe. A key without an address has a connection too. */
export function connectionsOf(client: string, files: Files): readonly Connection[] {
  const read = (name: string) => parsed(files, name) ?? {}
  const members = (value: Value): [string, Value][] => Object.entries(value ?? {})
  switch (client) {
    case 'codex': {
      const config = read('.codex/config.toml')
      const auth = read('.codex/auth.json')
      const id = config.model_provider ?? 'openai'
      const table = config.model_providers?.[id]
      const login = auth.tokens ? 'login' : undefined
      const isLogin = auth.auth_mode === 'chatgpt'
      const credential = isLogin ? login : (auth.OPENAI_API_KEY ?? login)
      const inTable = table?.experimental_bearer_token ?? credential
      const address = id === 'openai' ? config.openai_base_url : table?.base_url
      return [
        { address, credential: inTable, isActive: true },
        ...(config.openai_base_url ? [{ address: config.openai_base_url, credential }] : []).map(
          (connection) => ({ ...connection, isActive: false }),
        ),
      ]
    }
    case 'claude': {
      const { env = {} } = read('.claude/settings.json')
      const address = env.ANTHROPIC_BASE_URL
      return [env.ANTHROPIC_AUTH_TOKEN, env.ANTHROPIC_API_KEY].map((credential) => ({
        address,
        credential,
        isActive: true,
      }))
    }
    case 'opencode':
    case 'kilo': {
      const names = ['config.json', 'opencode.json', 'opencode.jsonc']
      const own = client === 'kilo' ? ['kilo.json', 'kilo.jsonc'] : []
      const configs = [...names, ...own].map((name) => read(`.config/${client}/${name}`))
      const auth = read(`.local/share/${client}/auth.json`)
      const provider = Object.assign({}, ...configs.map((config) => config.provider))
      const { model } = Object.assign({}, ...configs)
      const ids = new Set([...Object.keys(provider), ...Object.keys(auth)])
      return [...ids].map((id) => ({
        address: provider[id]?.options?.baseURL,
        credential: provider[id]?.options?.apiKey ?? auth[id]?.key ?? (auth[id] && 'login'),
        isActive: String(model).startsWith(`${id}/`),
      }))
    }
    case 'pi': {
      const { providers } = read('.pi/agent/models.json')
      const auth = read('.pi/agent/auth.json')
      const { defaultProvider } = read('.pi/agent/settings.json')
      return members(providers).flatMap(([id, { baseUrl, apiKey, models = [] }]) => {
        const credential = auth[id]?.key ?? apiKey
        const isActive = defaultProvider === id
        const ofModels = models.filter((model: Value) => model.baseUrl !== undefined)
        return [baseUrl, ...ofModels.map((model: Value) => model.baseUrl)].map((address) => ({
          address,
          credential,
          isActive,
        }))
      })
    }
    case 'openclaw': {
      const { models, agents } = read('.openclaw/openclaw.json')
      const primary = agents?.defaults?.model?.primary ?? agents?.defaults?.model
      return members(models?.providers).flatMap(([id, { baseUrl, apiKey, models: list = [] }]) => {
        const isActive = String(primary).startsWith(`${id}/`)
        const ofModels = list.filter((model: Value) => model.baseUrl !== undefined)
        return [baseUrl, ...ofModels.map((model: Value) => model.baseUrl)].map((address) => ({
          address,
          credential: apiKey,
          isActive,
        }))
      })
    }
    case 'qwen': {
      const { env = {}, modelProviders, security, model } = read('.qwen/settings.json')
      const entries = members(modelProviders).flatMap(([type, list]) =>
        (Array.isArray(list) ? list : []).map((entry: Value) => ({
          address: entry.baseUrl,
          credential: env[entry.envKey],
          isActive: security?.auth?.selectedType === type && model?.name === entry.id,
        })),
      )
      const used = new Set(entries.map(({ credential }) => credential))
      const others = Object.values(env).filter((value) => !used.has(value))
      return [
        ...entries,
        ...others.map((value) => ({
          address: undefined,
          credential: String(value),
          isActive: false,
        })),
      ]
    }
    case 'droid': {
      const { customModels, sessionDefaultSettings } = read('.factory/settings.json')
      const used = sessionDefaultSettings?.model
      return (Array.isArray(customModels) ? customModels : []).map((entry: Value) => ({
        address: entry.baseUrl,
        credential: entry.apiKey,
        isActive: used !== undefined && entry.id === used,
      }))
    }
    case 'cline': {
      const { providers, lastUsedProvider } = read('.cline/data/settings/providers.json')
      return members(providers).map(([id, { settings }]) => ({
        address: settings?.baseUrl,
        credential: settings?.apiKey,
        isActive: lastUsedProvider === id,
      }))
    }
    default:
      throw new Error(`unknown client ${client}`)
  }
}
