import { existsSync } from 'node:fs'
import parseJson5 from 'json5/lib/parse.js'
import { parse } from 'smol-toml'
import { slots } from '../../src/clients/claude/flags.ts'
import { sentFirst, tableVersions } from '../../src/clients/claude/settings.ts'
import type { Client } from '../../src/clients/contract/client.ts'
import type { Protocol } from '../../src/serve/index.ts'
import type { Home } from '../support/home.ts'

/** The request that a client would send with its files after a setup. */
export interface ClientRequest {
  readonly protocol: Protocol
  /** The base URL and the route, joined as the client does. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Every model ID that the client may request. */
  readonly models: readonly string[]
}

type Env = Readonly<Record<string, string>>

/**
 * Reads a client's files as the client does, without repoint's code, so that it can check repoint. It follows the
 * newest versions of 2026-11-22. test/clients runs the real ones.
 */
export function clientRequestOf({ id, family }: Client, home: Home, env: Env): ClientRequest {
  const read = readers[family]
  if (read === undefined)
    throw new Error(`test/providers/as-client.ts has no reader for the files of ${id}`)
  return read(home, env)
}

/** By family. */
export const readers: Readonly<Record<string, (home: Home, env: Env) => ClientRequest>> = {
  codex(home, env) {
    const config = tomlIn(home, '.codex/config.toml')
    const provider = config.model_providers[config.model_provider]
    const key = jsonIn(home, '.codex/auth.json')?.OPENAI_API_KEY
    const fromEnv = Object.entries<string>(provider.env_http_headers ?? {})
    return {
      protocol: 'responses',
      url: `${provider.base_url}/responses`,
      headers: {
        ...bearer(key),
        ...provider.http_headers,
        ...Object.fromEntries(fromEnv.map(([name, variable]) => [name, env[variable] ?? ''])),
      },
      models: [config.model],
    }
  },

  claude(home) {
    const settings = JSON.parse(home.text('.claude/settings.json'))
    const own = settings.env
    const lines: string[] = own.ANTHROPIC_CUSTOM_HEADERS?.split('\n') ?? []
    const ids = slots.map((slot) => {
      const pinned: string | undefined = own[`ANTHROPIC_DEFAULT_${slot.toUpperCase()}_MODEL`]
      return pinned ?? sentFirst(tableVersions.newest, slot)
    })
    const subagent: readonly string[] = [own.CLAUDE_CODE_SUBAGENT_MODEL ?? []].flat()
    return {
      protocol: 'messages',
      url: `${own.ANTHROPIC_BASE_URL}/v1/messages?beta=true`,
      headers: {
        'anthropic-version': '2023-06-01',
        ...(own.ANTHROPIC_API_KEY
          ? { 'x-api-key': own.ANTHROPIC_API_KEY }
          : bearer(own.ANTHROPIC_AUTH_TOKEN)),
        ...Object.fromEntries(lines.map((line) => line.split(/:\s*(.*)/s).slice(0, 2))),
      },
      models: [...ids, ...subagent].map((model) => model.replace(/\[1m\]$/i, '')),
    }
  },

  qwen(home) {
    const { env, modelProviders, model, security } = JSON.parse(home.text('.qwen/settings.json'))
    const type: string = security.auth.selectedType
    const entry = modelProviders[type].find(({ id }: { id: string }) => id === model.name)
    const protocol = qwenProtocols[type]!
    return {
      protocol,
      url: entry.baseUrl + routes[protocol],
      headers: {
        ...bearer(env[entry.envKey]),
        ...entry.generationConfig?.customHeaders,
      },
      models: [model.name],
    }
  },

  opencode: (home) =>
    opencodeIn(home, '.config/opencode/opencode.json', '.local/share/opencode/auth.json'),
  kilo: (home) => opencodeIn(home, '.config/kilo/kilo.jsonc', '.local/share/kilo/auth.json'),

  droid(home) {
    const settings = JSON.parse(home.text('.factory/settings.json'))
    const { model } = settings.sessionDefaultSettings
    const entry = settings.customModels.find(({ id }: { id: string }) => id === model)
    const protocol = droidProtocols[entry.provider]!
    return {
      protocol,
      url: entry.baseUrl + routes[protocol],
      headers: {
        ...(protocol === 'messages' ? withApiKey(entry.apiKey) : bearer(entry.apiKey)),
        ...entry.extraHeaders,
      },
      models: [entry.model],
    }
  },

  cline(home) {
    const { lastUsedProvider, providers } = JSON.parse(
      home.text('.cline/data/settings/providers.json'),
    )
    const { baseUrl, apiKey, headers, model } = providers[lastUsedProvider].settings
    return {
      protocol: 'chat',
      url: `${baseUrl}/chat/completions`,
      headers: { ...bearer(apiKey), ...headers },
      models: [model],
    }
  },

  kimi(home) {
    const { default_model, providers, models } = tomlIn(home, '.kimi-code/config.toml')
    const { provider: id, model, protocol: ofModel, base_url: url } = models[default_model]
    const { type, base_url, api_key, custom_headers } = providers[id]
    const protocol = kimiProtocols[ofModel ?? type]!
    // It needs no `/v1` over messages.
    const base = url ?? base_url
    return {
      protocol,
      url:
        protocol === 'messages'
          ? base.replace(/\/v1$/, '') + routes.messages
          : base + routes[protocol],
      headers: {
        ...(protocol === 'messages' ? withApiKey(api_key) : bearer(api_key)),
        ...custom_headers,
      },
      models: [model],
    }
  },

  grok(home) {
    const config = tomlIn(home, '.grok/config.toml')
    const { model_provider, model, api_backend, base_url } = config.model[config.models.default]
    const provider = config.model_providers[model_provider]
    const protocol = grokProtocols[api_backend]!
    // Over messages it appends no version, and sends the key as in the other protocols.
    const route = protocol === 'messages' ? '/messages' : routes[protocol]
    const query = new URLSearchParams(provider.query_params).toString()
    return {
      protocol,
      url: (base_url ?? provider.base_url) + route + (query && `?${query}`),
      headers: { ...bearer(provider.api_key), ...provider.extra_headers },
      models: [model],
    }
  },

  pi(home) {
    const { defaultProvider, defaultModel } = JSON.parse(home.text('.pi/agent/settings.json'))
    const { providers } = JSON.parse(home.text('.pi/agent/models.json'))
    return ofPi(providers[defaultProvider], defaultModel)
  },

  openclaw(home) {
    const { models, agents } = parseJson5(home.text('.openclaw/openclaw.json'))
    const [, id, model] = /^([^/]+)\/(.+)$/s.exec(agents.defaults.model.primary)!
    const { auth, ...provider } = models.providers[id!]
    // Otherwise OpenClaw may send a login from its database instead of the key.
    if (auth !== 'api-key') throw new Error('OpenClaw may send another key')
    return ofPi(provider, model!)
  },
}

interface PiModel {
  readonly baseUrl?: string
  readonly api?: string
}

interface PiProvider extends Required<PiModel> {
  readonly models: readonly (PiModel & { readonly id: string })[]
  readonly apiKey: string
  readonly authHeader?: boolean
  readonly headers?: Env
}

function ofPi(provider: PiProvider, model: string): ClientRequest {
  const { apiKey, authHeader, headers } = provider
  const { baseUrl, api } = { ...provider, ...provider.models.findLast(({ id }) => id === model) }
  const protocol = piProtocols[api]
  if (protocol === undefined)
    throw new Error(`test/providers/as-client.ts does not know the protocol ${api}`)
  const isMessages = protocol === 'messages'
  return {
    protocol,
    url: baseUrl + routes[protocol],
    headers: {
      ...(isMessages && withApiKey(apiKey)),
      ...(!isMessages || authHeader ? bearer(apiKey) : {}),
      ...headers,
    },
    models: [model],
  }
}

/** The routes below the base URL of a client with several protocols. opencode adds only `/messages`. */
const routes: Readonly<Record<Protocol, string>> = {
  responses: '/responses',
  chat: '/chat/completions',
  messages: '/v1/messages',
}

type Names = Readonly<Record<string, Protocol>>

const piProtocols: Names = {
  'openai-responses': 'responses',
  'openai-completions': 'chat',
  'anthropic-messages': 'messages',
}
const droidProtocols: Names = {
  openai: 'responses',
  'generic-chat-completion-api': 'chat',
  anthropic: 'messages',
}
const kimiProtocols: Names = {
  openai: 'chat',
  openai_responses: 'responses',
  anthropic: 'messages',
}
const grokProtocols: Names = {
  chat_completions: 'chat',
  responses: 'responses',
  messages: 'messages',
}
const qwenProtocols: Names = {
  openai: 'chat',
  'openai-responses': 'responses',
  anthropic: 'messages',
}
const opencodeProtocols: Names = {
  '@ai-sdk/openai': 'responses',
  '@ai-sdk/openai-compatible': 'chat',
  '@ai-sdk/anthropic': 'messages',
}

function withApiKey(key: string | undefined): Env {
  return { 'anthropic-version': '2023-06-01', ...(key !== undefined && { 'x-api-key': key }) }
}

/** Returns no header without a key: then the key is in a custom header. */
function bearer(key: string | undefined): Env {
  return key === undefined ? {} : { authorization: `Bearer ${key}` }
}

/** The parsed file, untyped like one in JSON. */
// biome-ignore lint/suspicious/noExplicitAny: each reader names the members that it needs
function tomlIn(home: Home, path: string): any {
  return parse(home.text(path))
}

/** The parsed file, or undefined if it does not exist. */
function jsonIn(home: Home, path: string) {
  return existsSync(home.at(path)) ? JSON.parse(home.text(path)) : undefined
}

/** Reads the files of opencode or one of its forks. */
function opencodeIn(home: Home, configPath: string, authPath: string): ClientRequest {
  const config = JSON.parse(home.text(configPath))
  const [id] = config.model.split('/')
  const { options, npm, models } = config.provider[id]
  const key = jsonIn(home, authPath)?.[id]?.key
  const nameOf = (model: string) => model.slice(id.length + 1)
  const protocolOf = (model: string) =>
    opencodeProtocols[models[nameOf(model)]?.provider?.npm ?? npm]!

  const protocol = protocolOf(config.model)
  const isMessages = protocol === 'messages'
  return {
    protocol,
    url: options.baseURL + (isMessages ? '/messages' : routes[protocol]),
    headers: { ...(isMessages ? withApiKey(key) : bearer(key)), ...options.headers },
    models: [config.model, config.small_model].flatMap((model?: string) =>
      model === undefined || protocolOf(model) !== protocol ? [] : nameOf(model),
    ),
  }
}

/** Sends a streamed request, as the clients of a protocol do. */
export async function exchange(request: ClientRequest, model: string) {
  const answered = await fetch(request.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...request.headers },
    body: JSON.stringify({ model, stream: true, ...bodies[request.protocol] }),
  })
  return { status: answered.status, text: await answered.text() }
}

const messages = [{ role: 'user', content: 'ping' }]
const bodies: Readonly<Record<Protocol, object>> = {
  chat: { messages },
  messages: { messages, max_tokens: 32 },
  responses: {
    input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'ping' }] }],
    store: false,
  },
}
