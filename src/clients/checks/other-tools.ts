import type { Findings } from '../../finding.ts'
import type { ClientContext } from '../contract/client.ts'
import { isLoopbackUrl, isOwnAddress, shownUrl } from '../files/addresses.ts'
import type { ParsedFile } from '../files/parse-file.ts'
import { type AddressInUse, type ClientLabel, missingVersionFinding } from './findings.ts'

/** Reports problems with the address in use and its key. */
export function* addressFindings(
  client: ClientLabel,
  context: ClientContext,
  file: ParsedFile,
  found: AddressInUse & Pick<OtherToolSettings, 'key' | 'keyPlace'>,
): Findings {
  yield* missingVersionFinding(client, context, file, found)
  yield* leftoverFindings(client, context, {
    ...found,
    urlPlace: () => file.place(found.path),
  })
}

/**
 * Placeholders that other tools write instead of a key, because their proxy holds the real one. Sources:
 * farion1231/cc-switch#3191, SaladDay/cc-switch-cli#161, kaitranntt/ccs#618 (2026-11-21).
 */
const placeholders: Readonly<Record<string, string>> = {
  proxy_managed: 'cc-switch',
  'proxy-placeholder': 'cc-switch',
  'ccs-internal-managed': 'ccs',
}

/** Ports at which other tools run a proxy on this machine. */
const proxies: Readonly<Record<string, string>> = {
  '15721': 'cc-switch',
  '3456': 'claude-code-router',
  '8317': 'CLIProxyAPI',
}

/** The tool that writes this placeholder. */
export function placeholderOf(key: string | undefined): string | undefined {
  const name = key?.toLowerCase()
  return name !== undefined && Object.hasOwn(placeholders, name) ? placeholders[name] : undefined
}

interface OtherToolSettings {
  readonly url: string | undefined
  /** Called only for a finding: to find a line in a large file takes long. */
  readonly urlPlace: () => string
  readonly key: string | undefined
  readonly keyPlace: string
}

/** Reports what another tool left in a client's settings. A setup replaces it. */
export function* leftoverFindings(
  { id, label }: ClientLabel,
  context: ClientContext,
  left: OtherToolSettings,
): Findings {
  const { url } = left
  const holder = placeholderOf(left.key)
  if (holder !== undefined) {
    yield {
      code: `${id}-placeholder-key`,
      message: `${holder} replaced the key with a placeholder that only ${holder}'s proxy accepts`,
      location: left.keyPlace,
      hint: `Start ${holder}. Or set ${label} up with your key: repoint ${id}. Or use ${label}'s own service: repoint off ${id}`,
      severity: 'error',
    }
  }

  if (url === undefined || !isLoopbackUrl(url) || isOwnAddress(url, context)) return
  const tool = proxies[new URL(url).port]
  if (tool === undefined) return

  yield {
    code: `${id}-local-proxy`,
    message: `${label} points at ${shownUrl(url)}, the local proxy of ${tool}: it works only while ${tool} runs`,
    location: left.urlPlace(),
    hint: `Start ${tool}. Or set ${label} up: repoint ${id}. Or use ${label}'s own service: repoint off ${id}`,
    severity: 'warning',
  }
}
