import { ifPossible } from '../../errors.ts'
import type { Finding, Findings } from '../../finding.ts'
import { listWords } from '../../text.ts'
import type { ClientContext, ClientName, ClientWorld } from '../contract/client.ts'
import type { LoadedFile, LoadedFiles } from '../contract/files.ts'
import type { ClientState } from '../contract/state.ts'
import { isLoopbackUrl, isOwnAddress, shownUrl } from '../files/addresses.ts'
import { type ParsedFile, textOf } from '../files/parse-file.ts'
import { pathsOf } from '../files/paths.ts'
import { type AddressInUse, type ClientLabel, missingVersionFinding } from './findings.ts'

/** Another tool that configures clients, and the marks by which its settings are known. */
interface OtherTool {
  readonly name: string
  /** The ports of its proxy on this machine. The client works only while the proxy runs. */
  readonly ports?: readonly string[]
  /** In lower case: what it writes instead of a key, because its proxy holds the real one. */
  readonly placeholders?: readonly string[]
  /** The IDs of the providers that it writes. */
  readonly providers?: readonly string[]
  /** The base URLs that it writes, if no other tool writes them. */
  readonly addresses?: RegExp
  /** A text that only this tool writes into the files of clients. */
  readonly text?: string
  /** Its folder in the home, and the families of clients that it configures without any other mark. */
  readonly folder?: { readonly name: string; readonly families: readonly string[] }
  /** What writes its settings again: the subject of a sentence. */
  readonly writer: string
}

/**
 * The sources, by name:
 *
 *     cc-switch            its source, 3.20.0 (not run); farion1231/cc-switch#3191
 *     cc-switch-cli        its source, 5.10.2 (not run); SaladDay/cc-switch-cli#161
 *     claude-code-router   2.0.0 run; the program of 3.1.1 (not run)
 *     opencodex            2.63.0 run
 *     zcf                  3.7.3 run
 *     ccs                  7.79.1 run; kaitranntt/ccs#618
 *     Vercel's CLI         60.1.3 run
 *     Ollama               its source, cmd/launch (not run)
 *     CLIProxyAPI, 9router their manuals
 *
 * All 2026-11-29.
 */
const tools: readonly OtherTool[] = [
  // It shares the folder, the placeholder and the port of Claude Code with cc-switch, and so comes first.
  {
    name: 'cc-switch-cli',
    ports: ['15722', '15723', '15724'],
    writer: 'a switch in cc-switch-cli',
  },
  {
    name: 'cc-switch',
    ports: ['15721'],
    placeholders: ['proxy_managed', 'proxy-placeholder'],
    providers: ['ccswitch', 'cc-switch-official'],
    text: 'cc-switch-model-catalog.json',
    folder: { name: '.cc-switch', families: ['claude', 'codex', 'opencode', 'openclaw'] },
    writer: 'a switch in cc-switch',
  },
  {
    name: 'claude-code-router',
    ports: ['3456'],
    providers: ['claude-code-router'],
    text: 'CLAUDE_AGENT_API_BASE_URL',
    writer: 'a global profile of claude-code-router',
  },
  {
    name: 'opencodex',
    ports: ['10100'],
    providers: ['opencodex'],
    text: '# Auto-injected by opencodex',
    writer: '`ocx start`',
  },
  {
    name: 'zcf',
    text: 'temp_env_key',
    folder: { name: '.ufomiao', families: ['claude', 'codex'] },
    writer: '`zcf init`',
  },
  {
    name: 'ccs',
    placeholders: ['ccs-internal-managed'],
    text: 'CCS_DROID_PROVIDER',
    folder: { name: '.ccs', families: ['claude'] },
    writer: '`ccs persist`',
  },
  {
    name: "Vercel's CLI",
    addresses: /^https:\/\/ai-gateway\.vercel\.sh\/(?:claude-code|codex|coding-agent)(?:\/|$)/,
    writer: '`vercel ai-gateway setup`',
  },
  {
    name: 'Ollama',
    providers: ['ollama-launch', 'ollama-launch-codex-app'],
    addresses: /^http:\/\/(?:127\.0\.0\.1|localhost):11434(?:\/|$)/,
    writer: '`ollama launch`',
  },
  { name: 'CLIProxyAPI', ports: ['8317'], writer: 'CLIProxyAPI' },
  { name: '9router', ports: ['20128'], writer: '9router' },
]

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

export function placeholderOf(key: string | undefined): string | undefined {
  const text = key?.toLowerCase()
  return tools.find(({ placeholders = [] }) => placeholders.some((one) => one === text))?.name
}

/** The tool whose proxy on this machine has this address. */
function proxyAt(url: string | undefined): OtherTool | undefined {
  if (url === undefined || !isLoopbackUrl(url)) return undefined
  const { port } = new URL(url)
  return tools.find(({ ports = [] }) => ports.includes(port))
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
      topic: 'other-tool',
    }
  }

  if (url === undefined || isOwnAddress(url, context)) return
  const tool = proxyAt(url)?.name
  if (tool === undefined) return

  yield {
    code: `${id}-local-proxy`,
    message: `${label} points at ${shownUrl(url)}, the local proxy of ${tool}: it works only while ${tool} runs`,
    location: left.urlPlace(),
    hint: `Start ${tool}. Or set ${label} up: repoint ${id}. Or use ${label}'s own service: repoint off ${id}`,
    severity: 'warning',
    topic: 'other-tool',
  }
}

/** Where the settings of a client come from, as far as marks can tell. */
export interface ForeignOrigin {
  /** The tool, or several. */
  readonly name: string
  /** Absent: no mark is in the client's files, but the tool's folder is on this machine. */
  readonly mark?: string
  /** The file or folder with the mark. */
  readonly location: string
  /** What writes these settings again. */
  readonly writer: string
}

/**
 * The tool that wrote the gateway in a client's files. Undefined: none is known.
 *
 * @param state must have a gateway that repoint did not write
 */
export function foreignOrigin(
  { family }: Pick<ClientName, 'family'>,
  files: LoadedFiles,
  state: ClientState,
  world: Pick<ClientWorld, 'files' | 'machine'>,
): ForeignOrigin | undefined {
  const own = files.filter(({ use, bytes }) => use === 'editable' && bytes !== null)
  for (const tool of tools) {
    const found = markOf(tool, own, state)
    if (found === undefined) continue
    const { mark, location = state.origins.baseUrl ?? '' } = found
    return { name: tool.name, mark, location, writer: tool.writer }
  }

  const { join } = pathsOf(world.machine)
  const present = tools.flatMap(({ name, folder, writer }) => {
    const path = join(world.machine.home, folder?.name ?? '')
    const isHere =
      folder?.families.includes(family) && ifPossible(() => world.files.readdir(path)) !== undefined
    return isHere ? [{ name, path, writer }] : []
  })
  const [first] = present
  if (first === undefined) return undefined
  const name = listWords(
    present.map((tool) => tool.name),
    'or',
  )
  return { name, location: first.path, writer: first.writer }
}

function markOf(
  { ports, placeholders, providers = [], addresses, text }: OtherTool,
  files: readonly LoadedFile[],
  { endpoint: { baseUrl = '', key = '' }, options: { providerId = '' } }: ClientState,
): { readonly mark: string; readonly location?: string } | undefined {
  const isProxy = isLoopbackUrl(baseUrl) && ports?.includes(new URL(baseUrl).port)
  if (isProxy || addresses?.test(baseUrl)) return { mark: shownUrl(baseUrl) }
  if (providers.includes(providerId)) return { mark: `provider ${providerId}` }
  if (placeholders?.includes(key.toLowerCase())) return { mark: 'its placeholder' }

  const file = text && files.find((candidate) => textOf(candidate).includes(text))
  return file ? { mark: text, location: file.path } : undefined
}

/** Names the tool that wrote the settings in use, in `status` and `doctor`. */
export function originFinding(origin: ForeignOrigin): Finding {
  return {
    code: 'other-tool',
    severity: 'ok',
    message: `the gateway ${comesFrom(origin)}`,
    location: origin.location,
    topic: 'other-tool',
  }
}

/** Names the tool that wrote the settings that a run replaces: it may write them again. */
export function replacedOriginFinding(
  { label }: Pick<ClientName, 'label'>,
  origin: ForeignOrigin,
): Finding {
  const { writer } = origin
  return {
    code: 'other-tool',
    severity: 'note',
    message: `The present gateway of ${label} ${comesFrom(origin)}`,
    hint: `${writer.charAt(0).toUpperCase()}${writer.slice(1)} writes it again.`,
  }
}

function comesFrom({ name, mark }: ForeignOrigin): string {
  return mark === undefined ? `may come from ${name}` : `comes from ${name} (${mark})`
}
