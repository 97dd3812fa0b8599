import { compact } from '../compact.ts'
import type { SettingChange, SettingPath } from '../edits/plan.ts'
import type { Finding, Findings } from '../finding.ts'
import type { Protocol } from '../gateway/types.ts'
import type { Machine } from '../platform/platform.ts'
import type { ClientContext, ClientName, SetupTarget } from './client.ts'
import {
  isLoopbackUrl,
  isOwnAddress,
  type ReadFile,
  shownUrl,
  withLostVersion,
  withoutTrailingSlash,
} from './loaded-files.ts'
import { pathsOf } from './paths.ts'
import { removedSyntax, type StrictFile } from './strict-json.ts'

/**
 * Findings that several clients share. `id` is the first part of their codes, and the word on the command
 * line.
 */
type ClientLabel = Pick<ClientName, 'id' | 'label'>

/** A finding at a setting of a file. Its severity is `error` unless it says otherwise. */
interface FindingAtSetting extends Omit<Finding, 'location' | 'severity'> {
  readonly severity?: Finding['severity']
  /** The value that fixes the setting. Absent: nothing does, or `fix` says how. */
  readonly becomes?: Omit<SettingChange, 'path'>
}

export function findingAt(file: ReadFile, path: SettingPath, found: FindingAtSetting): Finding {
  const { becomes, ...finding } = found
  const fix = becomes && { fileKind: file.kind, changes: [{ path, ...becomes }] }
  return compact({ severity: 'error' as const, fix, ...finding, location: file.place(path) })
}

/** Reports that the client has a gateway and no key. */
export function missingKeyFinding(
  { id }: Pick<ClientLabel, 'id'>,
  location: string,
  message: string,
): Finding {
  return {
    code: `${id}-no-key`,
    message,
    location,
    hint: `Set it up again: repoint ${id}`,
    severity: 'error',
    cause: 'key-missing',
  }
}

interface UnreadFile extends Pick<Finding, 'code' | 'cause'> {
  /** The behaviour of the client then: the beginning of a sentence that ends with the reason. */
  readonly effect: string
}

/** Reports that the client cannot read its file, for example because of comments. */
export function* unreadFileFinding(file: StrictFile, { effect, ...found }: UnreadFile): Findings {
  const { kind, path, ignored, isRepairable, tolerates } = file
  if (ignored === undefined) return

  const message = `${effect}: ${ignored}`
  const shared = { ...found, message, location: path, severity: 'error' } as const
  if (!isRepairable) {
    yield { ...shared, hint: 'Fix the file.' }
    return
  }

  const syntax = removedSyntax(tolerates)
  yield {
    ...shared,
    hint: `Remove ${syntax}.`,
    fix: {
      fileKind: kind,
      changes: [],
      toStrictJson: tolerates?.allowsComments ? 'but-comments' : true,
    },
    consent: `Remove ${syntax} from ${path}. Then the client reads the whole file.`,
  }
}

/** The address that a client uses, and the setting that holds it. */
interface AddressInUse {
  readonly url: string | undefined
  /** The protocol, for a client with several. Absent: it has one. */
  readonly protocol?: Protocol | undefined
  readonly path: SettingPath
  readonly name: string
  /** The additional effect of a missing `/v1`. */
  readonly effect?: string
}

/** Reports that an address that repoint wrote lost its `/v1`. An address of others is not checked. */
export function* missingVersionFinding(
  { id }: ClientLabel,
  context: ClientContext,
  file: ReadFile,
  { url, protocol, path, name, effect = '' }: AddressInUse,
): Findings {
  const value = url && withLostVersion(url, context, protocol)
  if (!value) return

  yield findingAt(file, path, {
    code: `${id}-base-url-version`,
    message: `${name} does not end in /v1: every request fails${effect}`,
    hint: 'Add /v1.',
    ...(file.text(path) === url && { becomes: { value } }),
  })
}

/** Reports problems with the address in use and its key. */
export function* addressFindings(
  client: ClientLabel,
  context: ClientContext,
  file: ReadFile,
  found: AddressInUse & Pick<OtherToolSettings, 'key' | 'keyPlace'>,
): Findings {
  yield* missingVersionFinding(client, context, file, found)
  yield* leftoverFindings(client, context, { ...found, urlPlace: file.place(found.path) })
}

/** Reports that the setup would overwrite settings for another address that it did not write. */
export function* otherAddressFinding(
  context: ClientContext,
  target: SetupTarget,
  found: Pick<Finding, 'code'> & {
    readonly location: string
    readonly what: string
    readonly url: string | undefined
    /** Absent: to choose another provider ID. */
    readonly hint?: string
  },
): Findings {
  const { code, location, what, url } = found
  const { hint = 'To keep it, choose another ID: --provider-id ID' } = found

  if (url === undefined || isOwnAddress(url, context, target)) return

  yield {
    code,
    message: `${what} already has another address, ${shownUrl(url)}`,
    location,
    hint,
    consent: `Overwrite ${what}. repoint rollback restores it.`,
    severity: 'warning',
  }
}

/**
 * Reports a provider that an earlier setup wrote under another ID. For the same address it is the same
 * gateway, and is removed. The user may want to keep one for another address.
 */
export function formerProviderFinding(
  { id }: ClientLabel,
  { baseUrl }: SetupTarget,
  file: ReadFile,
  found: {
    readonly providerId: string
    readonly url: string
    readonly change: Omit<SettingChange, 'value'>
    readonly hasKey: boolean
    /** Another place that has settings of the provider. */
    readonly otherPlace?: string
  },
): Finding {
  const { providerId, url, change, hasKey, otherPlace } = found
  const shared = {
    code: `${id}-former-provider`,
    message: `an earlier setup left the provider ${providerId}, for ${shownUrl(url)}`,
    location: file.place(change.path),
    severity: 'warning',
  } as const

  if (withoutTrailingSlash(url) !== baseUrl) {
    const all = otherPlace === undefined ? 'it' : `it, and ${otherPlace}`
    return { ...shared, hint: `If you do not use it, delete ${all}.` }
  }

  return {
    ...shared,
    hint: 'Remove it.',
    fix: { fileKind: file.kind, changes: [{ ...change, value: undefined }] },
    consent: `Remove the provider ${providerId} of an earlier setup${hasKey ? ', with its key' : ''}. repoint rollback restores it.`,
  }
}

/**
 * Reports variables with a relative path: they name another place in every folder where the client starts.
 *
 * @param takesTilde the client replaces `~` with the home folder
 */
export function* relativePathFindings(
  machine: Machine,
  code: string,
  label: string,
  names: readonly string[],
  takesTilde = false,
): Findings {
  const { isAbsolute, named } = pathsOf(machine)
  for (const name of names) {
    const value = machine.env[name]
    if (!value || isAbsolute(value) || (takesTilde && /^~(?:[\\/]|$)/.test(value))) continue

    yield {
      code,
      message: `${name} is a relative path: ${label} finds ${named(name)} only if you start it in this folder`,
      location: 'environment',
      hint: `Set ${name} to an absolute path.`,
      severity: 'warning',
    }
  }
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
  readonly urlPlace: string
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
    location: left.urlPlace,
    hint: `Start ${tool}. Or set ${label} up: repoint ${id}. Or use ${label}'s own service: repoint off ${id}`,
    severity: 'warning',
  }
}
