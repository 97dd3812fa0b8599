import type { KeyPath } from '../../edits/plan.ts'
import { shownRoot } from '../../gateway/roots.ts'
import { type ReadFile, rootOf, type Table, tableAt, textAt } from '../texts.ts'

/** Codex does not start with a table of such a name (0.169.0, 2026-11-21). */
export const reservedIds: readonly string[] = ['openai', 'ollama', 'lmstudio', 'amazon-bedrock']

/** The provider that config.toml chooses; without a table it is one of Codex's own, or missing. */
export function providerInUse(
  config: ReadFile,
): { readonly id: string; readonly table: Table | undefined } | undefined {
  const id = textAt(config, ['model_provider'])
  return id === undefined ? undefined : { id, table: tableAt(config, ['model_providers', id]) }
}

/**
 * Where `openai_base_url`, which moves Codex's own provider, is read: conversations that were recorded
 * with that provider go on with it, whatever provider is chosen now. Not before 0.115.0. Run against
 * 0.115.0 to 0.169.0, 2026-11-22.
 */
export const ownAddressPath: KeyPath = ['openai_base_url']

/** Where Codex sends what a new conversation asks, and where that stands. */
export function addressInUse(config: ReadFile): { readonly path: KeyPath; readonly url?: string } {
  const inUse = providerInUse(config)
  const isOwn = inUse === undefined || inUse.id === 'openai'
  const path = isOwn ? ownAddressPath : ['model_providers', inUse.id, 'base_url']
  const url = textAt(config, path)
  return url === undefined ? { path } : { path, url }
}

/** Whether the provider in use sends the key of auth.json. */
export function takesAuthFile(config: ReadFile): boolean {
  const inUse = providerInUse(config)
  return inUse === undefined || inUse.table?.['requires_openai_auth'] === true
}

/** Where Codex's own provider is while `openai_base_url` is not set. */
export const vendorUrl = 'https://api.openai.com/v1'

/** The address of Codex's own provider as it is shown, where the key goes there beside the provider in use. */
export function strayAddress(config: ReadFile): string | undefined {
  const table = providerInUse(config)?.table
  const url = table?.['base_url']
  if (typeof url !== 'string' || table?.['requires_openai_auth'] !== true) return undefined
  const own = rootOf(textAt(config, ownAddressPath) ?? vendorUrl)
  return own === rootOf(url) ? undefined : shownRoot(own, 'responses')
}
