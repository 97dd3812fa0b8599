import { configuredGateway, overrideFindings } from '../../src/clients/checks/overrides.ts'
import type { Client, ClientContext, ClientWorld } from '../../src/clients/contract/client.ts'
import type { LoadedFiles } from '../../src/clients/contract/files.ts'
import type { ClientOptions } from '../../src/clients/contract/options.ts'
import {
  type FirstRequestInput,
  launchKeyVariable,
  type ProcessToStart,
  type ProgramFacts,
} from '../../src/clients/contract/program.ts'
import type {
  EarlierOptions,
  GatewayInfo,
  ResolveInput,
  SetupHistory,
  SetupTarget,
} from '../../src/clients/contract/setup.ts'
import {
  type ClientState,
  type Endpoint,
  shownModel,
  whyUnreadable,
} from '../../src/clients/contract/state.ts'
import { pathsOf } from '../../src/clients/files/paths.ts'
import { loadClients } from '../../src/clients/list.ts'
import { protocolOf } from '../../src/clients/models/protocols.ts'
import { optionsToKeep } from '../../src/clients/options/chosen-options.ts'
import { planFixes } from '../../src/clients/plan/edit-file.ts'
import { foreignSettingFindings } from '../../src/clients/plan/foreign-settings.ts'
import { compact } from '../../src/compact.ts'
import type { FileEdit } from '../../src/edits/types.ts'
import type { Finding } from '../../src/finding.ts'
import { baseUrlFor, usualBaseUrls } from '../../src/gateway/base-urls.ts'
import { unusualKeyHeader } from '../../src/gateway/input/header.ts'
import type { Catalog, OtherKeyHeader } from '../../src/gateway/types.ts'
import type { Machine } from '../../src/platform/platform.ts'

export const baseUrl = 'https://gw.example'
export const key = 'sk-test-0123456789abcdef'

/** A catalog in the form of a gateway's response, with GPT models and Claude Code's own models. */
export const catalog: Catalog = {
  models: [
    ...['gpt-5.6', 'gpt-5.6-sol', 'gpt-5.6-terra', 'gpt-5.6-luna', 'gpt-5.4', 'gpt-5.4-mini'].map(
      (id) => ({ id, endpointTypes: ['openai', 'openai-response'] }),
    ),
    ...['claude-opus-5-5', 'claude-sonnet-5', 'claude-sonnet-5-5', 'claude-haiku-5-5'].map(
      (id) => ({ id, endpointTypes: ['anthropic', 'openai'] }),
    ),
    { id: 'gpt-image-2', endpointTypes: ['image-generation', 'openai'] },
    { id: 'text-embedding-4', endpointTypes: ['embeddings'] },
  ],
}

/** The same catalog from a gateway that reports context windows. */
export const catalogWithWindows: Catalog = {
  models: catalog.models.map((model) => ({
    ...model,
    contextWindow: model.id.startsWith('gpt-5.4') ? 272_000 : 400_000,
    outputLimit: 128_000,
  })),
}

export const windows: Pick<Machine, 'os' | 'home' | 'cwd'> = {
  os: 'win32',
  home: 'C:\\Users\\Ada',
  cwd: 'C:\\Users\\Ada\\work',
}

export function aMachine(changes: Partial<Machine> = {}): Machine {
  return { os: 'linux', env: {}, home: '/home/ada', cwd: '/home/ada/work', ...changes }
}

/** Files by absolute path, or by a path below the home folder. */
export type Disk = Readonly<Record<string, string | Uint8Array>>

/** Loads the files that a client would read, from a disk in memory. */
export function filesOf(client: Client, machine: Machine, disk: Disk): LoadedFiles {
  const files = new Map(
    Object.entries(absolute(disk, machine)).map(([path, content]) => [
      path,
      typeof content === 'string' ? new TextEncoder().encode(content) : content,
    ]),
  )
  const paths = [...files.keys()]
  const slash = machine.os === 'win32' ? '\\' : '/'
  const listed = client.files(machine, {
    exists: (path) => paths.some((one) => one === path || one.startsWith(path + slash)),
    entries: (folder) =>
      paths
        .filter((path) => path.startsWith(folder + slash))
        .map((path) => path.slice(folder.length + 1).split(slash)[0]!)
        .sort(),
    readStart: (path) => new TextDecoder().decode(files.get(path)),
  })
  return listed.map((file) => ({ ...file, bytes: files.get(file.path) ?? null }))
}

function absolute(disk: Disk, machine: Machine): Disk {
  const { isAbsolute, join } = pathsOf(machine)
  return Object.fromEntries(
    Object.entries(disk).map(([path, content]) => [
      isAbsolute(path) ? path : join(machine.home, path),
      content,
    ]),
  )
}

export interface Setup {
  readonly options?: ClientOptions
  readonly earlier?: EarlierOptions
  readonly catalog?: Catalog
  readonly gatewayInfo?: Partial<GatewayInfo>
  readonly program?: ProgramFacts
  readonly machine?: Machine
  readonly target?: Partial<SetupTarget>
  readonly context?: Partial<ClientContext>
}

/** What earlier setups wrote: nothing, except these. */
export function aHistory(more: Partial<SetupHistory>): SetupHistory {
  return {
    headers: [],
    query: [],
    earlierVersionsOf: () => [],
    ...more,
  }
}

/** Every protocol of a client with every header that can hold the key over it. */
export function waysOf({ protocols, sends }: Client) {
  return protocols.flatMap((protocol) =>
    (['authorization', ...(sends.otherKeyHeaders?.[protocol] ?? [])] as const).map((keyHeader) => ({
      way: `${protocol}, the key in ${keyHeader}`,
      protocol,
      keyHeader,
      // Only clients with several protocols accept the option.
      options: protocols.length > 1 ? { protocol } : {},
    })),
  )
}

/** The input of `resolve`. */
export function inputFor(
  catalog: Catalog | undefined,
  requested: ClientOptions = {},
  earlier?: EarlierOptions,
  gatewayInfo: Partial<GatewayInfo> = {},
): ResolveInput {
  return {
    requested,
    earlier,
    gatewayInfo: {
      catalogAnswer:
        catalog === undefined ? { kind: 'not-requested' } : { kind: 'received', catalog },
      rejections: [],
      ...gatewayInfo,
    },
  }
}

/** The values of a client's files that a setup keeps. */
export function earlierIn(client: Client, state: ClientState): EarlierOptions {
  return {
    options: optionsToKeep(client, state, state.configuredAs ?? client.family),
    unsetOptions: state.unsetOptions,
  }
}

function targetFor(client: Client, setup: Setup = {}): SetupTarget {
  const { options = {}, earlier, gatewayInfo, program } = setup
  const list = 'catalog' in setup ? setup.catalog : catalog
  const input = inputFor(list, options, earlier, gatewayInfo)
  const resolved = client.resolve(input, program)
  return {
    baseUrl: baseUrlFor({ address: baseUrl }, protocolOf(client, resolved)),
    baseUrls: usualBaseUrls(baseUrl),
    key,
    keyHeader: 'authorization',
    safeguards: 'not-requested',
    providerId: options.providerId ?? 'gateway',
    resolved,
    input,
    ...setup.target,
  }
}

/** Plans a setup as the program does: the findings, then the edits with their fixes. */
export function planOn(client: Client, disk: Disk, setup: Setup = {}) {
  const machine = setup.machine ?? aMachine()
  const target = targetFor(client, setup)
  const context = aContext(client, machine, disk, setup.context)
  const { files } = context
  const { baseUrl, providerId, resolved } = target
  const findings = [
    ...client.checkSetup(context, target),
    ...overrideFindings(client, files, { baseUrl, providerId, model: resolved.model }),
  ]
  const fixes = findings.flatMap(({ fix }) => (fix ? [fix] : []))
  const edits = client.plan(files, { ...target, fixes })
  findings.push(...foreignSettingFindings(client, edits, fixes))
  return { machine, files: files, target, findings, edits }
}

/** The first file that a setup writes, as text. */
export function textAfter(client: Client, disk: Disk, setup: Setup = {}): string {
  return text(planOn(client, disk, setup).edits[0]!.after)
}

/** What a run of a client with these files passes to it. */
export function launchOn(
  client: Client,
  disk: Disk,
  { machine = aMachine(), ...setup }: Setup = {},
  process: Partial<ProcessToStart> = {},
) {
  return client.launchSettings(filesOf(client, machine, disk), targetFor(client, setup), {
    args: [],
    env: { [launchKeyVariable]: key },
    tempFolder: '/run',
    ...process,
  })
}

/** The first request of a client with these files. */
export async function requestOf(
  client: Client,
  disk: Disk,
  input: Omit<FirstRequestInput, 'protocol' | 'env'> & Partial<FirstRequestInput>,
) {
  const files = filesOf(client, aMachine(), disk)
  return client.firstRequest(files, { protocol: 'chat', env: {}, ...input })
}

/** The disk after a plan. */
export function written(disk: Disk, machine: Machine, edits: readonly FileEdit[]): Disk {
  const files = new Map(Object.entries(absolute(disk, machine)))
  for (const { path, after } of edits) {
    if (after === null) files.delete(path)
    else files.set(path, after)
  }
  return Object.fromEntries(files)
}

/** A world with no files and no processes. */
export function emptyWorld(machine: Machine): ClientWorld {
  const missing = () => {
    throw Object.assign(new Error('no such file'), { code: 'ENOENT' })
  }
  const files = { read: missing, readStart: missing, readdir: missing, stat: missing }
  const processes = { which: () => undefined, startTime: () => undefined }
  return { machine, files, processes } as unknown as ClientWorld
}

/** What the checks of a client get. */
export function aContext(
  client: Client,
  machine: Machine,
  disk: Disk,
  changes: Partial<ClientContext> = {},
): ClientContext {
  return {
    files: filesOf(client, machine, disk),
    machine,
    writtenBaseUrls: [],
    knownModels: [],
    shellProfiles: [],
    world: emptyWorld(machine),
    ...changes,
  }
}

/** The findings that `checkNow` finds on a disk. */
export function findingsOn(
  client: Client,
  disk: Disk,
  machine: Machine = aMachine(),
  context: Partial<ClientContext> = {},
) {
  const fullContext = aContext(client, machine, disk, context)
  const { files } = fullContext
  const state = client.read(files)
  const own = configuredGateway(state)
  return [...client.checkNow(fullContext), ...(own ? overrideFindings(client, files, own) : [])]
}

export function codesOf(findings: readonly Finding[]): readonly string[] {
  return findings.map(({ code }) => code)
}

/** The codes that `checkNow` finds after the fix of a finding. */
export function codesAfterFix(
  client: Client,
  disk: Disk,
  { fix }: Finding,
  machine: Machine = aMachine(),
  context: Partial<ClientContext> = {},
) {
  const edits = planFixes(client, filesOf(client, machine, disk), [fix!])
  return codesOf(findingsOn(client, written(disk, machine, edits), machine, context))
}

/** The values of a state, in one table. */
export interface StateValues
  extends Omit<Endpoint, 'keyHeader'>,
    ClientOptions,
    Pick<ClientState, 'unsetOptions' | 'login'> {
  /** Absent: the usual one. */
  readonly keyHeader?: OtherKeyHeader
  readonly keyPath?: string
  readonly broken?: string
}

export function valuesOf(state: ClientState): StateValues {
  const { endpoint, options, unsetOptions, origins, login } = state
  const [model, broken, keyPath] = [shownModel(state), whyUnreadable(state), origins.key]
  const keyHeader = unusualKeyHeader(endpoint.keyHeader)
  return compact({
    ...endpoint,
    keyHeader,
    ...options,
    unsetOptions,
    model,
    keyPath,
    login,
    broken,
  })
}

/** The values that a client reads from its files. */
export function readValues(client: Client, machine: Machine, disk: Disk): StateValues {
  return valuesOf(client.read(filesOf(client, machine, disk)))
}

export function text(bytes: Uint8Array | null | undefined): string {
  return bytes ? new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes) : ''
}

const clients = await loadClients()

export function byId(id: string): Client {
  return clients.find((client) => client.id === id)!
}
