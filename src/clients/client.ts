import type { Bytes, FileEdit, SettingPath } from '../edits/plan.ts'
import type { UserError } from '../errors.ts'
import type { FileFix, Finding, Findings } from '../finding.ts'
import type { ChosenModel } from '../gateway/models/rules.ts'
import type {
  AcceptedResponses,
  BaseUrls,
  Catalog,
  CatalogModel,
  CertificateStores,
  ExtraHeader,
  FirstRequest,
  Gateway,
  KeyHeader,
  ModelRoute,
  Protocol,
  QueryParameter,
} from '../gateway/types.ts'
import type { Machine, Platform } from '../platform/platform.ts'
import type { Recordings } from './recorded-request.ts'

/** The names of a client, from its row in the list. */
export interface ClientName {
  /** The word of the command line: `codex`, `claude`, `claude-gpt`, `opencode`. */
  readonly id: string
  /** Clients that share files share a family: `claude` and `claude-gpt`. */
  readonly family: string
  readonly label: string
}

export interface Client extends ClientName, ClientModule {}

/**
 * A client describes which files it reads, what they mean, and what a setup changes in them. Its functions
 * return edits, findings and requests; the commands write the files and send the requests. The functions are
 * pure, except those with a `ClientWorld`: they may also look at processes and at files that no setup writes,
 * and return a function that stops the client's background server.
 */
export interface ClientModule {
  /** The installed program: its command, its versions, how to start it with one prompt. */
  readonly program: Program
  /** The protocols that the client supports, the usual one first. */
  readonly protocols: readonly [Protocol, ...Protocol[]]
  /** The headers and parameters that the client can send in addition to the key. */
  readonly sends?: SendingRules
  /** How the client handles unusual responses. */
  readonly accepts?: Partial<Readonly<Record<Protocol, AcceptedResponses>>>
  /** Facts about its config format. */
  readonly config: ConfigRules

  /**
   * The files that the client reads: the editable ones in write order (they may not exist yet), then the
   * existing layers, the weakest first.
   */
  files(machine: Machine, disk: DiskReader): readonly ConfigFile[]

  /**
   * The settings in the client's files now. `check` reports layers above the editable files (project, managed,
   * environment). Never throws: a file that the client cannot read becomes a finding.
   */
  read(files: LoadedFiles): ClientState

  /**
   * The settings that point the client at a gateway, with the models chosen for it, by the kind of file. None
   * if the client uses its vendor's service. `repoint off` removes these settings.
   *
   * Only this list differs between clients. `planOwnService` finds for all of them what each setting was
   * before, and which edits follow.
   */
  gatewaySettings(files: LoadedFiles): GatewaySettings

  /**
   * Chooses a value for every option.
   *
   * @param version of the installed client. Absent: not installed, or unknown
   * @returns a finding if no value is possible: `model-unknown` with the nearest IDs, or `usage` if no rule decides and
   *   only the user can choose
   */
  resolve(input: ResolveInput, version?: string): ResolvedOptions | Finding

  /**
   * The edits that make the files say what `target` says, in write order. A file that already says it
   * has the same bytes before and after.
   *
   * @throws UserError `config-invalid`, `config-conflict`
   */
  plan(files: LoadedFiles, target: SetupTarget): readonly FileEdit[]

  /**
   * Reports what would keep the client from using the gateway after the setup of `target`. Without a target,
   * reports what is wrong now.
   */
  check(context: ClientContext, target?: SetupTarget): Findings

  /** The client's recorded first requests. Only a probe loads them: they are large. */
  loadRecordings(): Promise<Recordings>

  /**
   * The client's first request, which the probe sends: the recorded one, changed as the client's files, the
   * environment and the installed version would change it.
   */
  firstRequest(recordings: Recordings, files: LoadedFiles, input: FirstRequestInput): FirstRequest

  /**
   * How `repoint run` points one process at the gateway without changing a file. The key is in the
   * variable `runKeyVariable`, never in the arguments. If absent, `run` sets the variables that programs
   * usually read.
   *
   * @throws UserError `usage` if the command line already says otherwise
   */
  launchSettings?(files: LoadedFiles, target: SetupTarget, process: ProcessToStart): LaunchSettings

  /**
   * Reports what a change of the files means for data that repoint does not edit: recorded conversations,
   * the client's own copies of the key.
   */
  sideEffects?(world: ClientWorld, change: FileChange): Findings
}

/** A change of a client's files. */
export interface FileChange {
  /** `undo`: it removes what a setup wrote. `forget`: only repoint's records go, the files stay. */
  readonly by: 'setup' | 'undo' | 'forget'
  readonly before: LoadedFiles
  readonly after: LoadedFiles
}

/** Settings by the kind of their file. The empty path is the whole file. */
export type GatewaySettings = Readonly<Record<string, readonly SettingPath[]>>

/** The parts of a request that a client's settings can add. */
export interface SendingRules {
  /** Whether the client can send additional headers. */
  readonly headers: boolean
  /** The client can send query parameters. */
  readonly queries?: true
  /**
   * The headers that can hold the key instead of `authorization`, by protocol: for a gateway that accepts the
   * key only there.
   */
  readonly keyHeaders?: Partial<Readonly<Record<Protocol, readonly KeyHeader[]>>>
  /** The header that holds the key if no setting names one, by protocol. Absent: `authorization: Bearer KEY`. */
  readonly defaultKeyHeader?: Partial<Readonly<Record<Protocol, KeyHeader>>>
}

/** Facts about a client's config format. */
export interface ConfigRules {
  /** The settings that decide where the client sends its key. */
  readonly sensitiveSettings: SensitiveSettings
  /** The files that configure the client in the folder where it starts. */
  readonly folderFiles: readonly FolderFiles[]
  /** The texts that the client replaces when it reads its files. */
  readonly interpolation: Interpolation
  /** Provider IDs that the client already uses. Absent: its providers have no ID. */
  readonly reservedProviderIds?: readonly string[]
  /** The environment variables that override the client's files. */
  readonly gatewayVariables?: GatewayVariables
  /** The options that the next setup keeps. Absent: all that `read` finds. */
  readonly keptOptions?: readonly OptionName[]
  /** The options shared with the other clients of its family. Absent: all. */
  readonly familyOptions?: readonly OptionName[]
  /** The text that the files append to the ID of a model: `[1m]`. */
  readonly modelSuffix?: RegExp
}

/** Environment variables that point a client at a gateway, whatever its files say. */
export interface GatewayVariables {
  readonly addresses: readonly string[]
  /** Keys, and the models of a gateway. */
  readonly others: readonly string[]
}

/** The request that `firstRequest` describes. */
export interface FirstRequestInput {
  readonly model: string
  readonly protocol: Protocol
  /** The version of the installed client. Absent: it is not installed, or unknown; then the newest counts. */
  readonly version?: string | undefined
  /** As `GatewayInfo.modelTable`. */
  readonly modelTable?: string | undefined
  readonly env: Machine['env']
}

/** The settings that decide where a client's key is sent. Every check of files that the user did not write uses them. */
export interface SensitiveSettings {
  /** The word for the client's files in codes of findings: `claude-project-settings`. */
  readonly codeWord: 'settings' | 'config'
  readonly rows: readonly SensitiveSetting[]
  /** The name of a provider's table in the file. Absent: its ID. */
  readonly providerTable?: (providerId: string) => string
}

export interface SensitiveSetting {
  /**
   * The names on the way to the setting, joined by dots. `*` matches any name or part of one. `:provider` matches
   * every provider in a file of the folder, and the provider in use in other files. In a .env file
   * `env.NAME` is the variable; in an agent's file a key is a line of its front matter.
   */
  readonly path: string
  readonly role: 'address' | 'key' | 'provider' | 'proxy' | 'trust' | 'model'
  /** The kinds of files in which the setting can override a setup. Empty: it only has this role in our files. */
  readonly fileKinds: readonly string[]
  /** The versions that were run or read, and the date. */
  readonly source: string
}

/** Files that a client reads in the folder where it starts, except instructions for the model. */
export interface FolderFiles {
  /**
   * Paths below a folder, with slashes. A name that ends in `*` matches every name with this
   * beginning; `/**` at the end matches every file below that folder.
   */
  readonly patterns: readonly string[]
  /**
   * The folders that the client searches. `folder`: only the one where it starts. `repository`: also those
   * above, up to the root of the repository. `all`: every folder above.
   */
  readonly reach: 'folder' | 'repository' | 'all'
  /** The versions that were observed, and the date. */
  readonly source: string
}

/** The texts that a client's own reader replaces. null: none. */
export interface Interpolation {
  /** The texts in IDs, names of models and addresses. */
  readonly names: RegExp | null
  /** The texts in API keys and values of headers. */
  readonly values: RegExp | null
  /** The client also replaces them in the names of settings. */
  readonly isInKeys?: true
}

/** Holds the key of one process. Other users of the machine can read its arguments, but not this. */
export const runKeyVariable = 'REPOINT_RUN_KEY'

/** The arguments, environment and files that point one process at the gateway. */
export interface LaunchSettings {
  readonly args: readonly string[]
  readonly env: Machine['env']
  /**
   * Texts of files for this process only, by their names in `ProcessToStart.tempFolder`. Never with the
   * key. A shell may start several clients, so no two clients use the same name.
   */
  readonly files?: Readonly<Record<string, string>>
  /** The settings that an old conversation keeps if the user continues it in this process. */
  readonly resumeKeeps?: string
}

export interface ProcessToStart extends LaunchSettings {
  /** The absolute path of a folder that repoint removes when the process ends. */
  readonly tempFolder: string
}

/** A flag of a client's own command. */
export interface ClientFlag {
  /** As help shows it: `--slot <slot>`. */
  readonly flag: string
  readonly help: string
  readonly choices?: readonly string[]
  /** Absent: text, or no value. */
  readonly takes?: ValueKind
  /** @param value true or false for a flag without a value */
  readonly toOptions: (value: string | number | boolean) => ClientOptions
}

/** A kind of value that is checked before it is used: see src/commands/setup/flag-values.ts. */
export type ValueKind = 'tokens' | 'model'

export interface ModelUse extends ChosenModel {
  /** Absent: the client has one model. */
  readonly role?: string
}

/** The parts of the outside world that a client module may use. Checks only read from it. */
export type ClientWorld = Pick<Platform, 'files' | 'processes' | 'machine'>

export interface Program {
  /** The step that makes a running client read a change. */
  readonly restartAdvice: string
  /** The model IDs that the client sends depend on its version. */
  readonly needsVersion?: boolean
  /** The command that continues an old conversation, and the settings that the conversation keeps. */
  readonly resume?: { readonly command: string; readonly keeps: string }
  readonly command: string
  /**
   * The npm packages that contain the program. `*` at the end matches a platform: `@openai/codex-*` is
   * `@openai/codex-linux-x64` and others.
   */
  readonly packages: readonly string[]
  /** The program replaces itself, so it can be newer than its package says. */
  readonly updatesItself?: true
  /** Versions of the client that our tests run against. */
  readonly testedVersions: readonly string[]
  /** The working folders that the program's arguments name, as typed. */
  readonly foldersIn?: (args: readonly string[]) => readonly string[]
  /** The oldest version that works with a setup. Absent: every tested version works. */
  readonly minVersion?: string
  /** The oldest version that `launchSettings` works with. Absent: `minVersion`. */
  readonly minVersionForRun?: string
  /**
   * Arguments that make the client answer `prompt` once without a terminal.
   *
   * @param version of the installed client. Absent: unknown; then the newest
   */
  readonly pingArgs: (prompt: string, version?: string) => readonly string[]
  /** Arguments that make the client print the models that it knows. */
  readonly modelTableArgs?: readonly string[]
  /** Finds the answer in the client's output. Absent: the whole output is the answer. */
  readonly answerIn?: (stdout: string) => string | undefined
  /** Variables that name a PEM file with more certificate authorities. The first one that is set counts. */
  readonly caFileVariables: readonly [string, ...string[]]
  /** The places where the client finds certificate authorities in addition to the public ones. */
  readonly certificateStores: (env: Machine['env']) => CertificateStores
  /** Added to the environment of `pingArgs`, so that it fails fast. */
  readonly pingEnv: Readonly<Record<string, string>>
}

export interface ConfigFile {
  /** The name of the file in the client's module: `config`, `auth`, `settings`. */
  readonly kind: string
  /** Absolute. */
  readonly path: string
  readonly format: FileEdit['format']
  readonly holdsSecret: boolean
  /** `target`: a setup may write it. `layer`: the client also reads it, and repoint only looks at it. */
  readonly use: 'target' | 'layer'
  /** Most setups do not need this target. Reports leave it out if the file does not exist. */
  readonly isOptional?: true
  /** A setup replaces the whole file, because parts of two versions must not be mixed. */
  readonly isReplacedWhole?: true
}

/** The part of the disk that `files` may read. */
export interface DiskReader {
  exists(path: string): boolean
  /** The names in a folder, sorted. Empty if there is no such folder. */
  entries(folder: string): readonly string[]
  /** The first kB of a file as text. Empty if there is no such file. */
  readStart(path: string): string
}

/** The files of one client with their contents. */
export type LoadedFiles = readonly LoadedFile[]

export interface LoadedFile extends ConfigFile {
  /** null: no such file. */
  readonly bytes: Bytes | null
}

export const reasoningEfforts = ['low', 'medium', 'high'] as const
export type ReasoningEffort = (typeof reasoningEfforts)[number]

/** A value in a client's file as an effort. Undefined: the file has none, or another one. */
export function asReasoningEffort(value: unknown): ReasoningEffort | undefined {
  return reasoningEfforts.find((effort) => effort === value)
}

/** The options that the user can choose for a client: by flags, a team's file, an import link or a prompt. */
export interface ClientOptions {
  readonly model?: string | undefined
  /** For titles and other small work. */
  readonly smallModel?: string | undefined
  readonly providerId?: string | undefined
  /** For a client that supports several. */
  readonly protocol?: Protocol | undefined
  /** In tokens. */
  readonly contextWindow?: number | undefined
  /** In tokens. */
  readonly maxOutputTokens?: number | undefined
  readonly images?: boolean | undefined
  readonly reasoning?: boolean | undefined
  /** How long the model reasons. Absent: the client's default. */
  readonly reasoningEffort?: ReasoningEffort | undefined

  // Only Claude Code has the following: a model for each slot.
  /** The slot that Claude Code starts with. */
  readonly slot?: Slot | undefined
  /** The pinned models. Any other slot has the client's own model. */
  readonly slotModels?: Readonly<Partial<Record<Slot, string>>> | undefined
  /** A top-level `model` that does not name a slot. Overrides `slot`. */
  readonly startModel?: string | undefined
  readonly subagentModel?: string | undefined
  /** Claude Code lists the gateway's models in its picker. */
  readonly discoverModels?: boolean | undefined
  /** Claude Code does not send its attribution block. */
  readonly disableAttribution?: boolean | undefined

  // Only Codex has the following.
  /** repoint writes a file that describes the gateway's models. */
  readonly writeModelCatalog?: boolean | undefined
  /** The previous provider keeps its old key, in config.toml. */
  readonly keepOldGateway?: boolean | undefined
}

export type OptionName = keyof ClientOptions

/** A model that the gateway rejected over one protocol. */
export interface RejectedModel extends ModelRoute {
  readonly error: UserError
}

/** A model in a client's picker. */
export interface OfferedModel extends CatalogModel {
  /** Absent: the protocol of the model that the client starts with. */
  readonly protocol?: Protocol | undefined
}

/** The gateway's answers so far. */
export interface GatewayInfo {
  readonly catalog: Catalog | undefined
  /** Why the gateway's catalog cannot be read. */
  readonly catalogError?: UserError | undefined
  /** The route that the gateway answered last, for any client. */
  readonly proven?: ModelRoute | undefined
  /** The routes that the gateway rejected for this client. `resolve` does not choose one of them again. */
  readonly rejected: readonly RejectedModel[]
  /**
   * The base URLs and the key header, as far as the gateway has answered. Absent: repoint sent no request.
   */
  readonly gateway?: Pick<Gateway, 'baseUrls' | 'keyHeader'> | undefined
  /** No probe follows, so `resolve` must not choose what only a probe could prove. */
  readonly noProbeFollows?: boolean | undefined
  /** The list of models that the installed client prints. */
  readonly modelTable?: string | undefined
}

/** The options that an earlier setup left in the client's files. */
export interface PreviousSetup extends Pick<ClientState, 'options' | 'defaults'> {
  /** The options were chosen for another gateway. */
  readonly isOtherGateway?: boolean
}

/** The input for a client's decision about its options. Requested options override previous ones. */
export interface ResolveInput {
  readonly requested: ClientOptions
  /** The part of the previous setup that still applies. Absent: the client was not set up, or `resetToDefaults`. */
  readonly previous?: PreviousSetup | undefined
  /** `--defaults`: the rules choose again, and the setup removes what was chosen before. */
  readonly resetToDefaults?: boolean
  readonly gatewayInfo: GatewayInfo
}

/** The model slots of Claude Code. Newer versions have `fable`. */
export const slots = ['opus', 'sonnet', 'haiku', 'fable'] as const
export type Slot = (typeof slots)[number]
export const defaultSlot: Slot = 'sonnet'

/** All options of a client, decided. */
export interface ResolvedOptions {
  /** The ID in the client's first request. The probe sends it too. */
  readonly probeModel: string
  /** The protocol of that request. Absent: the client's usual one. */
  readonly protocol?: Protocol
  /** The hint if the gateway does not serve the model. Absent: choose another model. */
  readonly probeHint?: string
  /** Other models that the client will request, as the setup writes them. */
  readonly otherModels?: readonly string[]
  /** The name of the model in reports. */
  readonly model: string
  readonly slot?: Slot
  /** A model that the client starts with instead of a slot. */
  readonly startModel?: string
  readonly slotModels?: Readonly<Partial<Record<Slot, string>>>
  readonly subagentModel?: string
  readonly smallModel?: string
  /** The models that rules chose, by role. Absent: the user chose them all, now or before. */
  readonly uses?: readonly ModelUse[]
  /** The models in the client's picker. */
  readonly offered?: readonly OfferedModel[]
  /** `offered` contains every model that the gateway has for this client. */
  readonly offersWholeCatalog?: boolean
  /** The text of the file that describes the models, and the IDs in it. */
  readonly modelsFile?: { readonly text: string; readonly ids: readonly string[] }
  /** In tokens. Absent: unknown, or the client knows it; then the setup does not change it. */
  readonly contextWindow?: number
  /** The notes about these options. */
  readonly findings: readonly Finding[]
}

/** The settings that a client's files should have after a setup. */
export interface SetupTarget {
  /**
   * The base URL of the client's protocol, as its files need it, without a slash at the end. The client
   * appends `/chat/completions` or `/responses` (so it usually ends in `/v1`), or `/v1/messages`.
   */
  readonly baseUrl: string
  /** The base URLs of all protocols, for a client with several. */
  readonly baseUrls: BaseUrls
  readonly key: string
  /** The header that holds the key. Absent: `authorization: Bearer`. */
  readonly keyHeader?: KeyHeader | undefined
  readonly headers?: readonly ExtraHeader[] | undefined
  /** Headers of other and earlier setups. A plan removes those that the user has not edited. */
  readonly formerHeaders?: readonly ExtraHeader[] | undefined
  /** Whether a setup for another address wrote this header. Slow: parses files of every run. */
  readonly isFromOtherGateway?: (header: Pick<ExtraHeader, 'name' | 'value'>) => boolean
  readonly query?: readonly QueryParameter[] | undefined
  /** Query parameters of other and earlier setups, as `formerHeaders`. */
  readonly formerQueries?: readonly QueryParameter[] | undefined
  /** The absolute path of a PEM file with more certificate authorities, if the gateway needs one. */
  readonly caFile?: string | undefined
  readonly providerId: string
  readonly resolved: ResolvedOptions
  readonly input: Omit<ResolveInput, 'gatewayInfo'>
  /** Whether the gateway answers the client's `safeguards` (see `FirstRequest`). Absent: it was not asked. */
  readonly answersSafeguards?: boolean | undefined
  /**
   * The fixes of all findings, which become part of the edits. The setup's own changes win over a fix.
   */
  readonly fixes?: readonly FileFix[]
  /**
   * The file with the newest run undone, then with the newest two undone, and so on. What others have
   * written since stays. Empty if the records cannot tell. Each version costs a few parses.
   */
  readonly earlier?: ((fileKind: string) => Iterable<Bytes | null>) | undefined
}

/** How a client reaches its gateway, as its files say. A value that no file sets is absent. */
export interface Endpoint {
  /**
   * As configured, without a slash at the end. The client appends its route. Absent: it uses its own
   * service, also with a key in its files.
   */
  readonly baseUrl?: string | undefined
  readonly key?: string | undefined
  /** The header that holds the key. Absent: `authorization: Bearer`. */
  readonly keyHeader?: KeyHeader | undefined
  readonly headers?: readonly ExtraHeader[] | undefined
  readonly query?: readonly QueryParameter[] | undefined
  /** The PEM file with more certificate authorities. Absent: the environment decides. */
  readonly caFile?: string | undefined
  /** Another address that gets the key, for example from old conversations. */
  readonly alsoSendsTo?: string | undefined
}

/** The key that a client would send. */
export interface FoundKey {
  readonly key: string
  readonly keyHeader?: KeyHeader
  /** The file that holds it. */
  readonly keyPath: string
}

/** A client's settings, as its files say now. */
export interface ClientState {
  readonly endpoint: Endpoint
  /** The options, as they are in the files. Absent: no file sets them, or the client cannot read it. */
  readonly options: ClientOptions
  /** Options that no file sets: their values here are the client's default. */
  readonly defaults?: readonly OptionName[] | undefined
  /** The model as the file names it, for reports. Absent: `options.model`. */
  readonly shownModel?: string | undefined
  /** The model IDs in the client's picker, for the provider in use. Absent: the client has no picker. */
  readonly offered?: readonly string[] | undefined
  readonly sources: Sources
  /** The ID of the client whose setup wrote files that a family shares. Absent: the first one. */
  readonly configuredAs?: string | undefined
  /** Another login that the client would use instead of our key, as shown: `a ChatGPT login`. */
  readonly login?: string | undefined
  /** Why the client cannot read its files. */
  readonly findings: readonly Finding[]
}

/** The absolute paths of the files that set these values. Absent: no file does. */
export interface Sources {
  readonly baseUrl?: string | undefined
  readonly model?: string | undefined
  readonly smallModel?: string | undefined
  readonly key?: string | undefined
}

/** The state of a client whose files say nothing. */
export const emptyState: ClientState = { endpoint: {}, options: {}, sources: {}, findings: [] }

/** Why a client cannot read its files. Undefined: it can. */
export function whyUnreadable({ findings }: Pick<ClientState, 'findings'>): string | undefined {
  return findings.find(({ cause }) => cause === 'broken')?.message
}

/** Whether a client sends the same key or login to the same address. */
export function usesSameCredentials(a: ClientState, b: ClientState): boolean {
  return (
    a.endpoint.baseUrl === b.endpoint.baseUrl &&
    a.endpoint.key === b.endpoint.key &&
    a.login === b.login
  )
}

/** What reports show as the model that a client starts with. */
export function shownModel({ shownModel: shown, options }: ClientState): string | undefined {
  return shown ?? options.model
}

/** Whether the files are set up for this client of its family. */
export function isConfiguredAs(
  { id, family }: Pick<ClientName, 'id' | 'family'>,
  { configuredAs = family }: Pick<ClientState, 'configuredAs'>,
): boolean {
  return configuredAs === id
}

/** A client's files, and the machine around them: the input of its checks. */
export interface ClientContext {
  readonly files: LoadedFiles
  readonly machine: Machine
  /** The base URLs that repoint wrote for this client, from its records. */
  readonly writtenBaseUrls: readonly string[]
  /** The model IDs of the last catalog that repoint read. */
  readonly knownModels: readonly string[]
  /** Existing files that the user's shell reads at its start: see `shellProfilePaths`. */
  readonly shellProfiles: readonly { readonly path: string; readonly text: string }[]
  readonly world: ClientWorld
}

/** ` over responses`, for a client that speaks several protocols. */
export function overProtocol(
  client: Pick<ClientModule, 'protocols'>,
  options: { readonly protocol?: Protocol | undefined },
): string {
  return client.protocols.length > 1 ? ` over ${protocolOf(client, options)}` : ''
}

/** The protocol of the options, or the client's usual one. */
export function protocolOf(
  client: Pick<ClientModule, 'protocols'>,
  options: { readonly protocol?: Protocol | undefined },
): Protocol {
  return options.protocol ?? client.protocols[0]
}
