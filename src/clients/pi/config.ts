import type { Bytes, ConfigValue } from '../../edits/plan.ts'
import type { LoadedFile, LoadedFiles } from '../client.ts'
import {
  fileOf,
  isTable,
  layersOf,
  readFile,
  type Table,
  tableIn,
  textIn,
  valueIn,
  wordsIn,
} from '../loaded-files.ts'
import { type ProviderTable, providerOf } from '../pi-family/providers.ts'
import { readStrictly, type StrictFile } from '../strict-json.ts'

/**
 * To a model that reasons pi calls its own words the developer's, which only OpenAI's models know (0.73.1);
 * and it gives each a budget to think, which Claude's newer models refuse (run on 0.87.1, 2026-11-23; 0.73.1
 * makes nothing of that member, and goes by ids that it knows).
 */
export const providers: ProviderTable = {
  client: { id: 'pi', label: 'pi' },
  role: 'models',
  at: ['providers'],
  always: {},
  namesModels: false,
  unlisted: ': pi starts with the first that it has a key for',
  compat: {
    chat: () => ({ supportsDeveloperRole: false }),
    messages: (id) =>
      /claude-[a-z]+-(?:4[-.][6-9]|[5-9])\b/.test(id) ? { forceAdaptiveThinking: true } : undefined,
  },
}

/**
 * models.json. From 0.73.1 on `//` comments and trailing commas may stand in it, block comments may
 * not, and a byte order mark only in 0.87.1. One wrong type anywhere, and pi goes on without any of it,
 * which it does not say to `pi -p` (run with 0.60.0, 0.73.1 and 0.87.1, 2026-11-22).
 */
export function readModels(files: LoadedFiles): StrictFile {
  const text = fileOf(files, 'models')
  const file = readPi(text, text.bytes && withoutLeniencies(text.bytes))
  if (text.bytes === null || (file.ignored !== undefined && !file.isRepairable)) return file
  const ignored = problemOfModels(file.root)
  return ignored === undefined ? file : { ...file, root: {}, ignored, isRepairable: false }
}

/**
 * settings.json, plain JSON. pi says that it cannot read it, and goes on with the first model that it
 * has a key for (0.60.0, 0.73.1, 0.87.1, 2026-11-22). An empty file is none.
 */
export function readSettings(files: LoadedFiles): StrictFile {
  return readPlain(fileOf(files, 'settings'))
}

/**
 * auth.json, plain JSON; where it is there at all: pi makes it at its first start. What it holds for a
 * provider wins over that provider's key in models.json. Where it cannot be read, 0.60.0 and 0.73.1 go
 * on without it, and 0.87.1 finds no key at all (2026-11-22).
 */
export function readAuth(files: LoadedFiles): StrictFile | undefined {
  return layersOf(files, 'auth').map(readPlain)[0]
}

function readPlain(text: LoadedFile): StrictFile {
  return readPi(text, text.bytes?.length === 0 ? null : text.bytes)
}

/**
 * `root` holds also what pi would read once the file is repaired.
 *
 * @param plain what pi makes of the file's bytes before it reads them as JSON
 */
function readPi(text: LoadedFile, plain: Bytes | null): StrictFile {
  const file = readStrictly(text)
  const { root, ignored } = readStrictly({ ...text, bytes: plain })
  if (ignored === undefined) return { ...readFile(text), root, isRepairable: false }
  return { ...file, root: (file.isRepairable && file.document?.root) || {}, ignored }
}

/** As pi does it: dist/core/model-registry.js of 0.73.1, dist/utils/json.js of 0.87.1. */
function withoutLeniencies(bytes: Bytes): Bytes {
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
  const isText = (match: string) => match.startsWith('"')
  const plain = text
    .replace(/"(?:\\.|[^"\\])*"|\/\/[^\n]*/g, (match) => (isText(match) ? match : ''))
    .replace(/"(?:\\.|[^"\\])*"|,(\s*[}\]])/g, (match, end) => end ?? (isText(match) ? match : ''))
  return new TextEncoder().encode(plain)
}

/** What is of another type than pi's schema says; of what that says of rarer keys nothing is looked at. */
function problemOfModels({ providers }: Table): string | undefined {
  if (!isTable(providers)) return 'providers is no object'
  for (const [id, provider] of Object.entries(providers)) {
    const at = `providers.${id}`
    if (!isTable(provider)) return `${at} is no object`
    const problem = problemOfProvider(at, provider)
    if (problem !== undefined) return problem
  }
  return undefined
}

function problemOfProvider(at: string, provider: Table): string | undefined {
  const { headers, authHeader, models } = provider
  const wrong = ['name', 'baseUrl', 'apiKey', 'api'].find((name) => !isTextOrAbsent(provider[name]))
  if (wrong !== undefined) return `${at}.${wrong} is no text`
  if (!isHeaders(headers)) return `${at}.headers holds what is no text`
  if (authHeader !== undefined && typeof authHeader !== 'boolean')
    return `${at}.authHeader is neither true nor false`

  if (models === undefined) return undefined
  if (!Array.isArray(models)) return `${at}.models is no list`
  for (const model of models as readonly ConfigValue[]) {
    if (!isTable(model) || typeof model['id'] !== 'string' || model['id'] === '')
      return `a model of ${at} has no id`
    const name = `the model ${model['id']} of ${at}`
    const text = ['name', 'api', 'baseUrl'].find((key) => !isTextOrAbsent(model[key]))
    if (text !== undefined) return `${text} of ${name} is no text`
    const size = ['contextWindow', 'maxTokens'].find((key) => !isSizeOrAbsent(model[key]))
    if (size !== undefined) return `${size} of ${name} is no number above 0`
    if (!isHeaders(model['headers'])) return `headers of ${name} hold what is no text`
  }
  return undefined
}

/**
 * What a provider lacks, so that pi refuses it, in words: 0.73.1 goes on without any of models.json
 * then, 0.87.1 without this one (run with both, 2026-11-22). What only one of them refuses is left out.
 *
 * @param besides the provider that is about to be written
 */
export function incompleteProvider({ root }: StrictFile, besides?: string): string | undefined {
  const [found] = Object.entries(tableIn(root, ['providers'])).flatMap(([id, provider]) => {
    const lack = id === besides || reservedIds.includes(id) ? undefined : lackOf(provider)
    return lack === undefined ? [] : [`the provider ${id} ${lack}`]
  })
  return found
}

function lackOf(provider: ConfigValue): string | undefined {
  if (!isTable(provider)) return undefined
  const models = Array.isArray(provider['models']) ? provider['models'].filter(isTable) : []
  if (models.length === 0)
    return saying.some((name) => provider[name] !== undefined) ? undefined : 'says nothing'
  const lacking = ['baseUrl', 'api'].find(
    (name) => !provider[name] && models.some((model) => !model[name]),
  )
  return lacking && `has models and no ${lacking}`
}

/** What a provider without models may be there for. */
const saying = ['baseUrl', 'headers', 'compat', 'modelOverrides', 'apiKey', 'oauth', 'authHeader']

/** Where pi wants a text, an empty one is an error too. */
function isTextOrAbsent(value: ConfigValue | undefined): boolean {
  return value === undefined || (typeof value === 'string' && value !== '')
}

function isSizeOrAbsent(value: ConfigValue | undefined): boolean {
  return value === undefined || (typeof value === 'number' && value > 0)
}

function isHeaders(value: ConfigValue | undefined): boolean {
  if (value === undefined) return true
  return isTable(value) && Object.values(value).every((one) => typeof one === 'string')
}

/** What pi starts with; absent: the first model that it has a key for. */
export function startingModel({ root }: StrictFile): {
  readonly providerId?: string
  readonly model?: string
} {
  const providerId = textIn(root, ['defaultProvider'])
  const model = textIn(root, ['defaultModel'])
  return providerId === undefined || model === undefined ? {} : { providerId, model }
}

/**
 * What pi does not take as it stands, of a key or a header's value: up to 0.76 a text is first looked
 * up among the variables, from 0.77 on `$NAME` and `${NAME}` are variables; in both `!` begins a command.
 */
export const interpretedValue = /^!|\$|^[A-Z][A-Z0-9]*_[A-Z0-9_]*$/

/** The key that pi would send to a provider, and where it stands, as far as files tell. */
export function readPiKey(
  files: LoadedFiles,
  providerId: string,
): { readonly key: string; readonly keyPath: string } | undefined {
  const login = loginOf(files, providerId)
  const { table } = providerOf(providers, readModels(files), providerId)
  const key = login === undefined ? table['apiKey'] : login['key']
  if (typeof key !== 'string' || interpretedValue.test(key)) return undefined
  const role = login === undefined ? 'models' : 'auth'
  return { key, keyPath: fileOf(files, role).path }
}

/** What auth.json holds for a provider. */
export function loginOf(files: LoadedFiles, providerId: string): Table | undefined {
  const login = valueIn(readAuth(files)?.root, [providerId])
  return isTable(login) ? login : undefined
}

/**
 * Ids of providers that pi ships: those of 0.60.0, 0.73.1 and 0.87.1 (2026-11-22). It mixes what it
 * ships under an id with what is written there.
 */
export const reservedIds = wordsIn(`
  amazon-bedrock ant-ling anthropic azure-openai-responses baseten cerebras cloudflare-ai-gateway
  cloudflare-workers-ai deepseek fireworks github-copilot google google-antigravity
  google-gemini-cli google-vertex groq huggingface kimi-coding meta minimax minimax-cn mistral
  moonshotai moonshotai-cn nvidia openai openai-codex opencode opencode-go openrouter
  qwen-token-plan qwen-token-plan-cn qwen-token-plan-individual radius together vercel-ai-gateway
  xai xiaomi xiaomi-token-plan-ams xiaomi-token-plan-cn xiaomi-token-plan-sgp zai zai-coding-cn`)
