import { maxConfigBytes } from '../../edits/text.ts'
import type { SettingChange, SettingPath } from '../../edits/types.ts'
import { ifPossible } from '../../errors.ts'
import type { Finding, Findings } from '../../finding.ts'
import type { Protocol } from '../../gateway/types.ts'
import type { Machine } from '../../platform/platform.ts'
import type { ClientContext, ClientName, ClientWorld } from '../contract/client.ts'
import type { SetupTarget } from '../contract/setup.ts'
import {
  isOwnAddress,
  shownUrl,
  withLostVersion,
  withoutTrailingSlash,
} from '../files/addresses.ts'
import type { ParsedFile } from '../files/parse-file.ts'
import { pathsOf } from '../files/paths.ts'
import { type StrictFile, syntaxNames, syntaxToRemove } from '../files/strict-json.ts'

/**
 * Findings that several clients share. `id` is the first part of their codes, and the word on the command
 * line.
 */
export type ClientLabel = Pick<ClientName, 'id' | 'label'>

/** A finding at a setting of a file. Its severity is `error` unless it says otherwise. */
interface FindingAtSetting extends Omit<Finding, 'location' | 'severity'> {
  readonly severity?: Finding['severity']
  /** The value that fixes the setting. Absent: nothing does, or `fix` says how. */
  readonly becomes?: Omit<SettingChange, 'path'>
}

export function findingAt(file: ParsedFile, path: SettingPath, found: FindingAtSetting): Finding {
  const { becomes, ...finding } = found
  const fix = becomes && { fileKind: file.kind, changes: [{ path, ...becomes }] }
  return { severity: 'error', fix, ...finding, location: file.place(path) }
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
    topic: 'key-missing',
  }
}

interface UnreadFile extends Pick<Finding, 'code' | 'topic'> {
  /** The behaviour of the client then: the beginning of a sentence that ends with the reason. */
  readonly effect: string
}

/** Reports that the client cannot read its file, for example because of comments. */
export function* unreadFileFinding(file: StrictFile, { effect, ...found }: UnreadFile): Findings {
  const { kind, path, whyIgnored, isRepairable, reader } = file
  if (whyIgnored === undefined) return

  const message = `${effect}: ${whyIgnored}`
  const shared = { ...found, message, location: path, severity: 'error' } as const
  if (!isRepairable) {
    yield { ...shared, hint: 'Fix the file.' }
    return
  }

  const removesSyntax = syntaxToRemove(reader)
  const syntax = syntaxNames[removesSyntax]
  yield {
    ...shared,
    hint: `Remove ${syntax}.`,
    fix: { fileKind: kind, changes: [], removesSyntax },
    needsConsentTo: `Remove ${syntax} from ${path}. Then the client reads the whole file.`,
  }
}

/** The address that a client uses, and the setting that holds it. */
export interface AddressInUse {
  readonly url: string | undefined
  /** The protocol, for a client with several. Absent: it has one. */
  readonly protocol?: Protocol
  readonly path: SettingPath
  readonly name: string
  /** The additional effect of a missing `/v1`. */
  readonly effect?: string
}

/** Reports that an address that repoint wrote lost its `/v1`. An address of others is not checked. */
export function* missingVersionFinding(
  { id }: ClientLabel,
  context: ClientContext,
  file: ParsedFile,
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
  const { hint = 'To keep it, choose another ID: {--provider-id ID}' } = found

  if (url === undefined || isOwnAddress(url, context, target)) return

  yield {
    code,
    message: `${what} already has another address, ${shownUrl(url)}`,
    location,
    hint,
    needsConsentTo: `Overwrite ${what}. repoint rollback restores it.`,
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
  file: ParsedFile,
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
    needsConsentTo: `Remove the provider ${providerId} of an earlier setup${hasKey ? ', with its key' : ''}. repoint rollback restores it.`,
  }
}

/** The same for each provider, with its key, that is at an address which repoint has written. */
export function* formerProviderFindings(
  client: ClientLabel,
  { writtenBaseUrls }: ClientContext,
  target: SetupTarget,
  file: ParsedFile,
  providers: readonly {
    readonly providerId: string
    readonly url: string | undefined
    readonly path: SettingPath
  }[],
): Findings {
  for (const { providerId, url, path } of providers) {
    if (providerId === target.providerId || url === undefined) continue
    if (!writtenBaseUrls.includes(withoutTrailingSlash(url))) continue
    const change = { path, isSecret: true, role: 'key' } as const
    yield formerProviderFinding(client, target, file, { providerId, url, change, hasKey: true })
  }
}

/** Variables of a client that name a folder or a file. */
interface PathVariables {
  readonly names: readonly string[]
  /** The code of the finding. Absent: the client's ID and `-relative-folder`. */
  readonly code?: string
  /** The client replaces `~` with the home folder. */
  readonly takesTilde?: true
}

/** Reports variables with a relative path: they name another place in every folder where the client starts. */
export function* relativePathFindings(
  { id, label }: ClientLabel,
  machine: Machine,
  { names, code = `${id}-relative-folder`, takesTilde }: PathVariables,
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

/** Reports copies of the client's files that still hold a key. */
export function* keyCopyFindings(
  { label }: Pick<ClientLabel, 'label'>,
  files: ClientWorld['files'],
  key: string,
  copies: readonly string[],
): Findings {
  for (const copy of copies) {
    const text = ifPossible(() => new TextDecoder().decode(files.read(copy, maxConfigBytes)))
    if (!text?.includes(key)) continue
    yield {
      code: 'key-copied',
      severity: 'note',
      message: `${label} keeps a copy of the key in ${copy}, which repoint does not change`,
      hint: `To remove it: delete ${copy}`,
    }
  }
}
