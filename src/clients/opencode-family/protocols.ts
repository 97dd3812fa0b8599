/**
 * The protocol of a provider, or of one of its models: `npm` names the package that sends the requests.
 * The client contains these three; any other one hangs offline (opencode 1.18.33). A model's own package
 * overrides the provider's (run with opencode 1.2.27, 1.14.41, 1.18.3, 1.18.34 and Kilo 7.0.33, 7.7.9,
 * 2026-11-26).
 */
import { nativeProtocol } from '../../gateway/models/rules.ts'
import { type BaseUrls, type Protocol, protocols } from '../../gateway/types.ts'
import type { OfferedModel, SetupTarget } from '../contract/setup.ts'
import { withoutTrailingSlash } from '../files/addresses.ts'
import { textIn } from '../files/tables.ts'
import type { ConfiguredProvider } from './config.ts'

const packages: Readonly<Record<Protocol, string>> = {
  chat: '@ai-sdk/openai-compatible',
  responses: '@ai-sdk/openai',
  messages: '@ai-sdk/anthropic',
}

/** The package of the provider that a setup writes. */
export const usualPackage = packages.chat

/** In the entry of a model: its package. */
export const npmPath = ['provider', 'npm']

/** One `baseURL` serves all protocols: the packages append `/chat/completions` and `/messages` to it. */
export function isOneBaseUrl({ chat, messages }: BaseUrls): boolean {
  return chat === `${messages}/v1`
}

/** The provider's `baseURL` for the model that the client starts with. */
export function sdkBaseUrl({ baseUrl, resolved }: SetupTarget): string {
  return resolved.protocol === 'messages' ? `${baseUrl}/v1` : baseUrl
}

/**
 * The package of a model. Undefined if the provider's is right, and either the model was made for it or the
 * client used it so far without a name.
 */
export function packageOf(
  { input: { earlier } }: SetupTarget,
  { id, protocol }: OfferedModel,
): string | undefined {
  const wasUnnamed =
    earlier?.unsetOptions?.includes('protocol') && earlier.options.protocol === protocol
  const isUnnamed = protocol === 'chat' && (nativeProtocol(id) === 'chat' || wasUnnamed)
  return isUnnamed ? undefined : packages[protocol]
}

/** The protocol and the base URL of the model that the client starts with. */
export function readProtocol(
  { table, url }: ConfiguredProvider,
  model: string | undefined,
): {
  readonly baseUrl?: string
  readonly protocol?: Protocol
  /** Whose package says so. `provider`: the model has none. */
  readonly source?: 'model' | 'provider'
} {
  if (url === undefined) return {}
  const modelPackage = textIn(table, ['models', model ?? '', ...npmPath])
  const name = modelPackage ?? textIn(table, ['npm']) ?? usualPackage
  const protocol = protocols.find((candidate) => packages[candidate] === name) ?? 'chat'
  const baseUrl = withoutTrailingSlash(url)
  return {
    baseUrl: protocol === 'messages' ? baseUrl.replace(/\/v1$/, '') : baseUrl,
    protocol,
    source: modelPackage === undefined ? 'provider' : 'model',
  }
}
