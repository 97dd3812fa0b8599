import type { Bytes, ConfigValue } from '../../edits/types.ts'
import type { LoadedFile, LoadedFiles } from '../contract/files.ts'
import type { SentKey } from '../contract/state.ts'
import { fileOf, filesOfKind, parseFile, withoutValues, wordsIn } from '../files/parse-file.ts'
import { readStrictly, type StrictFile } from '../files/strict-json.ts'
import { isTable, type Table, tableIn, textIn, valueIn } from '../files/tables.ts'
import { piName } from '../names.ts'
import { harmlessInBoth, type ProviderFormat, providerOf } from '../pi-family/providers.ts'

/**
 * pi sends its instructions to a reasoning model with the role `developer`, which only OpenAI's models know
 * (0.73.1). It also gives each one a reasoning budget, which Claude's newer models reject (run on 0.87.1,
 * 2026-11-23).
 */
export const providerFormat: ProviderFormat = {
  client: piName,
  path: ['providers'],
  always: {},
  namesModels: false,
  harmless: [
    ...harmlessInBoth,
    ...['compat.requires*', 'compat.forceAdaptiveThinking'].flatMap((member) => [
      member,
      `models.*.${member}`,
    ]),
    ...['models.*.inputLimits', 'models.*.promptCache'],
  ],
  unlisted: ': pi starts with the first that it has a key for',
  compat: {
    chat: () => ({ supportsDeveloperRole: false }),
    messages: (id) =>
      /claude-[a-z]+-(?:4[-.][6-9]|[5-9])\b/.test(id) ? { forceAdaptiveThinking: true } : undefined,
  },
}

/**
 * Reads models.json. From 0.73.1 on pi accepts `//` comments and trailing commas, but no block comments, and a byte
 * order mark only in 0.87.1. With one wrong type anywhere, pi ignores the whole file, and `pi -p` does not report
 * that.
 */
export function readModels(files: LoadedFiles): StrictFile {
  const file = fileOf(files, 'models')
  const models = readPi(file, file.bytes && withoutLeniencies(file.bytes))
  if (file.bytes === null || (models.whyIgnored !== undefined && !models.isRepairable))
    return models
  const whyIgnored = problemOfModels(models.root)
  return whyIgnored === undefined
    ? models
    : { ...withoutValues(models), whyIgnored, isRepairable: false }
}

/**
 * Reads settings.json, which is plain JSON. If pi cannot read it, it reports that and uses the first model that it
 * has a key for. An empty file counts as missing.
 */
export function readSettings(files: LoadedFiles): StrictFile {
  return readPlain(fileOf(files, 'settings'))
}

/**
 * Reads auth.json, which is plain JSON, if it exists: pi creates it at its first start. Its entry for a provider
 * overrides that provider's key in models.json. If pi cannot read it, 0.60.0 and 0.73.1 continue without it, and
 * 0.87.1 finds no key at all.
 */
export function readAuth(files: LoadedFiles): StrictFile | undefined {
  return filesOfKind(files, 'auth').map(readPlain)[0]
}

function readPlain(file: LoadedFile): StrictFile {
  return readPi(file, file.bytes?.length === 0 ? null : file.bytes)
}

/**
 * Reads a file as pi does. If pi cannot read it, the values are those that it would read after a repair.
 *
 * @param accepted the bytes that pi parses as JSON, after its own changes to the file's bytes
 */
function readPi(file: LoadedFile, accepted: Bytes | null): StrictFile {
  const { whyIgnored } = readStrictly({ ...file, bytes: accepted })
  const read = parseFile(file)
  if (whyIgnored === undefined) return { ...read, isRepairable: false }
  const { isRepairable } = readStrictly(file)
  return { ...(isRepairable ? read : withoutValues(read)), whyIgnored, isRepairable }
}

/** Follows pi: dist/core/model-registry.js of 0.73.1, dist/utils/json.js of 0.87.1. */
function withoutLeniencies(bytes: Bytes): Bytes {
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
  const isText = (match: string) => match.startsWith('"')
  const plain = text
    .replace(/"(?:\\.|[^"\\])*"|\/\/[^\n]*/g, (match) => (isText(match) ? match : ''))
    .replace(/"(?:\\.|[^"\\])*"|,(\s*[}\]])/g, (match, end) => end ?? (isText(match) ? match : ''))
  return new TextEncoder().encode(plain)
}

/** The first value with a type that pi's schema does not allow. Rarer keys of the schema are not checked. */
function problemOfModels({ providers }: Table): string | undefined {
  if (!isTable(providers)) return 'providers is not an object'
  for (const [id, provider] of Object.entries(providers)) {
    const at = `providers.${id}`
    if (!isTable(provider)) return `${at} is not an object`
    const problem = problemOfProvider(at, provider)
    if (problem !== undefined) return problem
  }
  return undefined
}

function problemOfProvider(at: string, provider: Table): string | undefined {
  const { headers, authHeader, models } = provider
  const wrong = ['name', 'baseUrl', 'apiKey', 'api'].find((name) => !isTextOrAbsent(provider[name]))
  if (wrong !== undefined) return `${at}.${wrong} is not text`
  if (!isHeaders(headers)) return `${at}.headers contains a value that is not text`
  if (authHeader !== undefined && typeof authHeader !== 'boolean')
    return `${at}.authHeader is neither true nor false`

  if (models === undefined) return undefined
  if (!Array.isArray(models)) return `${at}.models is not a list`
  for (const model of models as readonly ConfigValue[]) {
    if (!isTable(model) || typeof model['id'] !== 'string' || model['id'] === '')
      return `a model of ${at} has no id`
    const name = `the model ${model['id']} of ${at}`
    const text = ['name', 'api', 'baseUrl'].find((key) => !isTextOrAbsent(model[key]))
    if (text !== undefined) return `${text} of ${name} is not text`
    const size = ['contextWindow', 'maxTokens'].find((key) => !isSizeOrAbsent(model[key]))
    if (size !== undefined) return `${size} of ${name} is not a number above 0`
    if (!isHeaders(model['headers'])) return `headers of ${name} contain a value that is not text`
  }
  return undefined
}

/**
 * Why pi rejects a provider, as shown to the user: 0.73.1 then ignores the whole models.json, 0.87.1 only this
 * provider. Faults that only one of them rejects are left out.
 *
 * @param except the provider that a setup is about to write
 */
export function incompleteProvider({ root }: StrictFile, except?: string): string | undefined {
  const [first] = Object.entries(tableIn(root, ['providers'])).flatMap(([id, provider]) => {
    const lack = id === except || reservedIds.includes(id) ? undefined : missingPartOf(provider)
    return lack === undefined ? [] : [`the provider ${id} ${lack}`]
  })
  return first
}

function missingPartOf(provider: ConfigValue): string | undefined {
  if (!isTable(provider)) return undefined
  const models = Array.isArray(provider['models']) ? provider['models'].filter(isTable) : []
  if (models.length === 0)
    return essentialSettings.some((name) => provider[name] !== undefined)
      ? undefined
      : 'says nothing'
  const lacking = ['baseUrl', 'api'].find(
    (name) => !provider[name] && models.some((model) => !model[name]),
  )
  return lacking && `has models and no ${lacking}`
}

/** The settings of which a provider without models must have one. */
const essentialSettings = [
  'baseUrl',
  'headers',
  'compat',
  'modelOverrides',
  'apiKey',
  'oauth',
  'authHeader',
]

/** Where pi requires a text, it also rejects an empty one. */
function isTextOrAbsent(value: ConfigValue | undefined): boolean {
  return value === undefined || (typeof value === 'string' && value !== '')
}

function isSizeOrAbsent(value: ConfigValue | undefined): boolean {
  return value === undefined || (typeof value === 'number' && value > 0)
}

function isHeaders(value: ConfigValue | undefined): boolean {
  if (value === undefined) return true
  return isTable(value) && Object.values(value).every((member) => typeof member === 'string')
}

/** The model that pi starts with. Absent: the first model that it has a key for. */
export function startingModel({ root }: StrictFile): {
  readonly providerId?: string
  readonly model?: string
} {
  const providerId = textIn(root, ['defaultProvider'])
  const model = textIn(root, ['defaultModel'])
  return providerId === undefined || model === undefined ? {} : { providerId, model }
}

/**
 * The texts in a key or in the value of a header that pi interprets. Up to 0.76 it first looks for a variable
 * with that name; from 0.77 on `$NAME` and `${NAME}` are variables. In both, `!` starts a command.
 */
export const interpretedValue = /^!|\$|^[A-Z][A-Z0-9]*_[A-Z0-9_]*$/

/** The key that pi would send to a provider, and the file that holds it, as far as the files tell. */
export function readPiKey(files: LoadedFiles, providerId: string): SentKey | undefined {
  const login = loginOf(files, providerId)
  const { table } = providerOf(providerFormat, readModels(files), providerId)
  const key = login === undefined ? table['apiKey'] : login['key']
  if (typeof key !== 'string' || interpretedValue.test(key)) return undefined
  const kind = login === undefined ? 'models' : 'auth'
  return { key, keyPath: fileOf(files, kind).path }
}

/** The entry of a provider in auth.json. */
export function loginOf(files: LoadedFiles, providerId: string): Table | undefined {
  const login = valueIn(readAuth(files)?.root, [providerId])
  return isTable(login) ? login : undefined
}

/**
 * The IDs of the providers that pi ships: those of 0.60.0, 0.73.1 and 0.87.1. pi merges its own settings for an ID
 * with the configured ones.
 */
export const reservedIds = wordsIn(`
  amazon-bedrock ant-ling anthropic azure-openai-responses baseten cerebras cloudflare-ai-gateway
  cloudflare-workers-ai deepseek fireworks github-copilot google google-antigravity
  google-gemini-cli google-vertex groq huggingface kimi-coding meta minimax minimax-cn mistral
  moonshotai moonshotai-cn nvidia openai openai-codex opencode opencode-go openrouter
  qwen-token-plan qwen-token-plan-cn qwen-token-plan-individual radius together vercel-ai-gateway
  xai xiaomi xiaomi-token-plan-ams xiaomi-token-plan-cn xiaomi-token-plan-sgp zai zai-coding-cn`)
