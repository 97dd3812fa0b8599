import type { ConfigValue, SettingPath } from '../../edits/types.ts'
import type { LoadedFiles } from '../contract/files.ts'
import type { SentKey } from '../contract/state.ts'
import { fileOf, parseFile, textOf, withoutValues, wordsIn } from '../files/parse-file.ts'
import type { StrictFile } from '../files/strict-json.ts'
import { isTable, type Table, tableIn, textIn, valueIn } from '../files/tables.ts'
import { openclawName } from '../names.ts'
import { harmlessInBoth, type ProviderFormat, providerOf } from '../pi-family/providers.ts'

/** The key precedes a login in OpenClaw's database only with `auth`. */
export const providerFormat: ProviderFormat = {
  client: openclawName,
  path: ['models', 'providers'],
  always: { auth: 'api-key' },
  namesModels: true,
  harmless: [...harmlessInBoth, 'maxTokens', 'contextWindow', 'models.*.contextTokens'],
  unlisted: ', and OpenClaw does not know it',
}

/**
 * Reads openclaw.json, which is JSON5. With an empty file, an unknown key anywhere or a value of another type,
 * OpenClaw does not start. repoint checks only the part of the schema that a setup writes.
 */
export function readConfig(files: LoadedFiles): StrictFile {
  const text = fileOf(files, 'config')
  const read = { ...parseFile(text), isRepairable: false }
  if (text.bytes === null) return read

  const isEmpty = textOf(text).trim() === ''
  const whyIgnored = isEmpty
    ? 'an empty file'
    : (read.error?.reason ?? problemOfProviders(read.root))
  return whyIgnored === undefined ? read : { ...withoutValues(read), whyIgnored }
}

function problemOfProviders(root: Table): string | undefined {
  for (const [id, provider] of Object.entries(tableIn(root, providerFormat.path))) {
    const at = `models.providers.${id}`
    if (!isTable(provider)) return `${at} is not an object`
    const { baseUrl, api, models } = provider
    if (baseUrl !== undefined && typeof baseUrl !== 'string') return `${at}.baseUrl is not text`
    if (api !== undefined && typeof api !== 'string') return `${at}.api is not text`

    if (models === undefined) {
      if (!reservedIds.includes(id)) return `${at} has no models`
      continue
    }
    if (!Array.isArray(models)) return `${at}.models is not a list`
    const isComplete = (model: ConfigValue) =>
      ['id', 'name'].every((name) => Boolean(textIn(model, [name])))
    if (!models.every(isComplete)) return `a model of ${at} has no id or no name`
  }
  return undefined
}

/** A model that OpenClaw starts with, and the setting that holds it. */
interface StartingModel {
  readonly path: SettingPath
  readonly providerId?: string | undefined
  readonly model?: string | undefined
}

/** The setting for every agent that does not set a model. */
export function defaultModelPath(root: Table): SettingPath {
  const path = ['agents', 'defaults', 'model']
  return typeof valueIn(root, path) === 'string' ? path : [...path, 'primary']
}

/** The model of the agent that answers if the user names none. */
export function startingModel({ root }: Pick<StrictFile, 'root'>): StartingModel {
  const agentModel = agentsWithModel(root).find(({ agent }) => agent === usualAgent(root))
  if (agentModel !== undefined) return splitModel(agentModel.path, agentModel.model)

  const path = defaultModelPath(root)
  return splitModel(path, textIn(root, path))
}

function splitModel(path: SettingPath, reference = ''): StartingModel {
  const [, providerId, model] = /^([^/]+)\/(.+)$/s.exec(reference) ?? []
  return { path, providerId, model }
}

/** The agents that set a model, each with the path of that setting. */
export function agentsWithModel(
  root: Table,
): readonly { readonly agent: string; readonly path: SettingPath; readonly model: string }[] {
  return Object.entries(tableIn(root, ['agents', 'entries'])).flatMap(([agent, entry]) => {
    const model = textIn(entry, ['model']) ?? textIn(entry, ['model', 'primary'])
    return model === undefined
      ? []
      : [{ agent, path: ['agents', 'entries', agent, 'model'], model }]
  })
}

/** The agent for a prompt that names none (read in agent-scope-config of 2026.9.6). */
export function usualAgent(root: Table): string {
  const entries = Object.entries(tableIn(root, ['agents', 'entries']))
  const [marked] = entries.filter(([, entry]) => valueIn(entry, ['default']) === true)
  const system = textIn(root, ['agents', 'defaults', 'systemAgent', 'agentId'])
  return system ?? marked?.[0] ?? (entries.length === 1 ? entries[0]![0] : 'main')
}

/**
 * In any text: `${NAME}`. In the name of a model also a reference to a login, `model@login`, unless it is a date or
 * a quantization.
 */
export const interpretedName =
  /\$\{[A-Z_][A-Z0-9_]*\}|@(?!(?:\d{8}|[iI]?[qQ]\d+(?:_[A-Za-z0-9]+)*|\d+bit)$)[^/]*$/

/**
 * In a key or a header also the name of a variable, alone or after `$`, and words that refer to another login.
 * OpenClaw knows some 150 names without `$`.
 */
export const interpretedValue =
  /\$\{[A-Z_][A-Z0-9_]*\}|^\$[A-Z]|^[A-Z][A-Z0-9]*_[A-Z0-9_]*$|^(?:oauth:|secretref-)|^(?:custom-local|ollama-local|lmstudio-local|codex-app-server|gcp-vertex-credentials|minimax-oauth)$/

/**
 * The key that OpenClaw would send to a provider, and the file that holds it, as far as the configuration
 * tells.
 */
export function readKey(file: StrictFile, providerId: string): SentKey | undefined {
  const { table } = providerOf(providerFormat, file, providerId)
  const { apiKey } = table
  const isKeyElsewhere =
    typeof apiKey !== 'string' ||
    interpretedValue.test(apiKey) ||
    valueIn(file.root, ['auth', 'profiles', apiKey]) !== undefined
  return isKeyElsewhere ? undefined : { key: apiKey, keyPath: file.path }
}

/** The logins that the file names; OpenClaw keeps them in a database, each with its provider. */
export function loginsFor({ root }: Pick<StrictFile, 'root'>, providerId: string): string[] {
  return Object.entries(tableIn(root, ['auth', 'profiles'])).flatMap(([name, profile]) =>
    textIn(profile, ['provider']) === providerId ? [name] : [],
  )
}

/** Whether a provider's key comes before every login. */
export function prefersKey(table: Table): boolean {
  return table['auth'] === 'api-key' && table['apiKey'] !== undefined
}

/**
 * The IDs of providers that OpenClaw or a plugin of its vendor ships: for them a variable overrides the file's key.
 * Those of 2026.9.5 and 2026.9.6.
 */
export const reservedIds = wordsIn(`
  alibaba amazon-bedrock amazon-bedrock-mantle anthropic anthropic-openai anthropic-vertex apple-fm
  arcee azure azure-speech bailian-token-plan baseten byteplus cerebras chutes claude-cli clawrouter
  cloudflare-ai-gateway cohere comfy copilot-proxy deepgram deepinfra deepseek elevenlabs fal
  featherless fireworks github-copilot gmi google google-gemini-cli google-vertex groq huggingface
  kilocode kimi litellm lmstudio longcat meta microsoft-foundry minimax minimax-cn minimax-portal
  minimax-portal-cn mistral moonshot novita nvidia ollama ollama-cloud openai opencode opencode-go
  openrouter pixverse qianfan qwen qwen-dashscope qwen-token-plan radius runway senseaudio sglang
  stepfun stepfun-plan synthetic tencent tencent-tokenhub tencent-tokenplan together venice
  vercel-ai-gateway vllm volcengine volcengine-plan voyage vydra x-ai xai xiaomi xiaomi-token-plan zai`)
