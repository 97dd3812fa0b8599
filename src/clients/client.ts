import type { Bytes, FileEdit } from '../edits/plan.ts'
import type { UserError } from '../errors.ts'
import type { FileFix, Finding, Findings } from '../finding.ts'
import type { ChosenModel } from '../gateway/models/rules.ts'
import type {
  Catalog,
  CertificateStores,
  ExtraHeader,
  FirstRequest,
  KeyHeader,
  Protocol,
  QueryParameter,
} from '../gateway/types.ts'
import type { Machine, Platform } from '../platform/platform.ts'

/** By what a client is called; from its row in the list. */
export interface ClientName {
  /** The word of the command line: `codex`, `claude`, `claude-gpt`, `opencode`. */
  readonly id: string
  /** Clients that share files share a family: `claude` and `claude-gpt`. */
  readonly family: string
  readonly label: string
}

export interface Client extends ClientName, ClientModule {}

/**
 * A client describes which files it reads, what they mean, and what a setup changes in them. It never
 * writes a file and never sends a request: the commands do. Its functions are pure, except those with
 * a `SystemReader`.
 */
export interface ClientModule {
  /** The installed program: its command, its versions, how to start it with one prompt. */
  readonly program: Program
  /** The protocols that it supports, the usual one first. */
  readonly protocols: readonly [Protocol, ...Protocol[]]
  /** What it can send besides `authorization: Bearer KEY`. Absent: nothing. */
  readonly sends?: {
    readonly headers: boolean
    /** Headers that can hold the key instead. */
    readonly keyHeaders: readonly KeyHeader[]
    /** Query parameters. Absent: none. */
    readonly queries?: true
  }
  /** Facts about its config format. */
  readonly config: ConfigRules

  /**
   * The files that it reads: the editable ones in write order (they may not exist yet), then the
   * existing layers, the weakest first.
   */
  files(machine: Machine, disk: DiskReader): readonly ConfigFile[]

  /**
   * What its files say now. Layers above the editable files (project, managed, environment) are
   * reported by `check`. Never throws.
   */
  read(files: LoadedFiles): ClientState

  /** The files that set the values of `read`. Absent: the last editable file sets all of them. */
  sources?(files: LoadedFiles): Sources

  /** The model IDs in its picker, for the provider in use. Absent: it has no picker. */
  offeredModels?(files: LoadedFiles): readonly string[]

  /**
   * The options that the next setup keeps. Absent: `optionsToKeep` of every client.
   *
   * @param isOwn whether it was set up as this client of its family. Absent: as far as the state tells
   */
  toOptions?(state: ClientState, isOwn?: boolean): PreviousOptions

  /** Whether this client of its family is the one that the files are set up for. */
  isConfigured?(state: ClientState): boolean

  /**
   * Decides every option.
   *
   * @param version of the installed client. Absent: not installed, or unknown
   * @throws UserError `model-unknown` with the nearest IDs, or `usage` if no rule decides and only
   *   the user can choose
   */
  resolve(input: ResolveInput, version?: string): ResolvedOptions

  /** What the rules would use each model of a catalog for. */
  previewModels(catalog: Catalog): readonly ModelUse[]

  /**
   * The edits that make the files say what `target` says, in write order. A file that already says it
   * has the same bytes before and after.
   *
   * @throws UserError `config-invalid`, `config-conflict`
   */
  plan(files: LoadedFiles, target: SetupTarget): readonly FileEdit[]

  /**
   * With a target: what would keep the client from using the gateway after that setup. Without: what is
   * wrong now.
   */
  check(context: ClientContext, target?: SetupTarget): Findings

  /**
   * What its first request carries besides the messages: the probe sends the same. What the client
   * leaves out by itself after a rejection is not in it.
   */
  firstRequest(files: LoadedFiles, input: FirstRequestInput): FirstRequest

  /**
   * How `repoint run` points one process at the gateway without changing a file. The key is in the
   * variable `runKeyVariable`, never in the arguments. Absent: by the variables that programs usually
   * read.
   *
   * @throws UserError `usage` if the command line already says otherwise
   */
  launchSettings?(files: LoadedFiles, target: SetupTarget, process: ProcessToStart): LaunchSettings

  /** A server that still runs with an earlier key. Absent: the client has no server. */
  leftRunning?(system: SystemReader): LeftRunning | undefined

  /** What a change of the files means for conversations that the client has recorded. */
  conversationFindings?(
    system: SystemReader,
    change: { readonly before: LoadedFiles; readonly after: LoadedFiles },
  ): readonly Finding[]

  /** The client's own copies of its files, which neither undo nor `forget` reaches. */
  storedCopies?(system: SystemReader, files: LoadedFiles): readonly Finding[]

  /** Example files, by path below the home folder, for `repoint demo`. */
  readonly demoFiles?: Readonly<Record<string, string>>
}

/** Facts about a client's config format. */
export interface ConfigRules {
  /** The settings that decide where its key goes. */
  readonly sensitiveSettings: SensitiveSettings
  /** The files that configure it in the folder where it starts. */
  readonly folderFiles: readonly FolderFiles[]
  /** The texts that it replaces when it reads its files. */
  readonly interpolation: Interpolation
  /** Provider IDs that mean something to it already. Absent: its providers have no ID. */
  readonly reservedProviderIds?: readonly string[]
}

/** A request of a client's. */
export interface FirstRequestInput {
  readonly model: string
  readonly protocol: Protocol
  /** Of the installed client. Absent: not installed, or unknown; the newest is meant. */
  readonly version?: string | undefined
  /** As `GatewayInfo.modelTable`. */
  readonly modelTable?: string | undefined
  readonly env: Machine['env']
}

/** What decides where a client's key goes: of this every check of files that are not the user's is made. */
export interface SensitiveSettings {
  /** How the codes of its obstacles call a file of the client's: `claude-project-settings`. */
  readonly fileWord: 'settings' | 'config'
  readonly rows: readonly SensitiveSetting[]
  /** Under which name a provider of this id stands. Absent: under its id. */
  readonly providerTable?: (providerId: string) => string
}

export interface SensitiveSetting {
  /**
   * The keys that lead to it, joined by dots; a `*` stands for any name or any part of one, and
   * `:provider` for any in a file of the folder, elsewhere for the provider in use. In a .env file
   * `env.NAME` is the variable, in an agent's file a key is one of its head.
   */
  readonly path: string
  readonly role: 'address' | 'key' | 'provider' | 'proxy' | 'trust' | 'model'
  /** The roles of the files in which it counts. */
  readonly fileKinds: readonly string[]
  /** The versions that were run, or read for it, and the date. */
  readonly source: string
}

/** Files that a client reads in the folder where it starts. Instructions for the model are left out. */
export interface FolderFiles {
  /**
   * Paths below a folder, with slashes. A name that ends in `*` matches every name with this
   * beginning; `/**` at the end matches every file below that folder.
   */
  readonly patterns: readonly string[]
  /**
   * Which folders it looks in. `folder`: only the one where it starts. `repository`: also those above
   * it, up to the root of the repository. `all`: every folder above it.
   */
  readonly reach: 'folder' | 'repository' | 'all'
  /** The versions that were observed, and the date. */
  readonly source: string
}

/** null: it takes every text as it stands. */
export interface Interpolation {
  /** In ids and names of models and in addresses. */
  readonly names: RegExp | null
  /** In keys and values of headers. */
  readonly values: RegExp | null
  /** It reads keys of a file so too, not values alone. */
  readonly isInKeys?: true
}

/** Holds the key for one process of a client: its arguments can be read by others. */
export const runKeyVariable = 'REPOINT_RUN_KEY'

/** A process as it is to be started. */
export interface LaunchSettings {
  readonly args: readonly string[]
  readonly env: Machine['env']
  /**
   * Texts of files that are there for it alone, by their names in `AskedRun.folder`. Never with the key;
   * of all clients that a shell may start, each has names of its own.
   */
  readonly files?: Readonly<Record<string, string>>
  /** What an old conversation keeps there, in words. Absent: nothing. */
  readonly resumeKeeps?: string
}

export interface ProcessToStart extends LaunchSettings {
  /** Absolute. It is there as long as the process, where that has `files`. */
  readonly tempFolder: string
}

/** A flag of a client's own command. */
export interface ClientFlag {
  /** As help shows it: `--slot <slot>`. */
  readonly flag: string
  readonly help: string
  readonly choices?: readonly string[]
  /** Absent: text, or no value at all. */
  readonly takes?: 'tokens' | 'model'
  /** What it says to a setup; `value` is true or false for a flag without one. */
  readonly toOptions: (value: string | number | boolean) => ClientOptions
}

export interface ModelUse extends ChosenModel {
  /** Absent: the client has one model. */
  readonly role?: string
}

/** A server of a client. */
export interface LeftRunning {
  readonly pid: number
  /** What a person can type to end it. */
  readonly stopCommand: string
  /** Ends it. Returns why it may still run; undefined: it has ended. */
  stop(): Promise<string | undefined>
}

/** What a client's hooks may look at beside the texts of its files. */
export type SystemReader = Pick<Platform, 'files' | 'processes' | 'machine'>

export interface Program {
  /** What the user must do so that a running client sees a change. */
  readonly restartAdvice: string
  /** Which IDs it sends depends on its version. */
  readonly needsVersion?: boolean
  /** The command that continues an old conversation, and what that keeps. Absent: nothing is kept. */
  readonly resume?: { readonly command: string; readonly keeps: string }
  readonly command: string
  /**
   * The npm packages that contain the program. `*` at the end is a system: `@openai/codex-*` is
   * `@openai/codex-linux-x64` and the like.
   */
  readonly packages: readonly string[]
  /** The program replaces itself, so it can be newer than its package says. */
  readonly updatesItself?: true
  /** Versions of the client that our tests run against. */
  readonly testedVersions: readonly string[]
  /** The folders that arguments of its own tell it to work in, as they are typed. Absent: none can. */
  readonly foldersIn?: (args: readonly string[]) => readonly string[]
  /** The oldest that works with what a setup writes; older ones that were run do not. Absent: all of those do. */
  readonly minVersion?: string
  /** The oldest that `launchSettings` works with. Absent: as a setup. */
  readonly minVersionForRun?: string
  /**
   * Arguments that make it answer `prompt` once without a terminal.
   *
   * @param version of the installed client. Absent: unknown; the newest is meant
   */
  readonly pingArgs: (prompt: string, version?: string) => readonly string[]
  /** Arguments that make it print the models that it knows. Absent: nothing does. */
  readonly modelTableArgs?: readonly string[]
  /** The answer in what that run prints, where it is not all of it. */
  readonly answerIn?: (stdout: string) => string | undefined
  /** Each can name a PEM file of further authorities, read at its start: the first that is set. */
  readonly caFileVariables: readonly [string, ...string[]]
  /** Where it looks for authorities beside the public ones. Pure. */
  readonly certificateStores: (env: Machine['env']) => CertificateStores
  /** Added to the environment of that run, so that it fails fast. */
  readonly pingEnv: Readonly<Record<string, string>>
}

export interface ConfigFile {
  /** Short name inside the client's module: `config`, `auth`, `settings`. */
  readonly kind: string
  /** Absolute. */
  readonly path: string
  readonly format: FileEdit['format']
  readonly holdsSecret: boolean
  /** `target`: a setup may write it. `layer`: the client reads it too, and it is only looked at. */
  readonly use: 'target' | 'layer'
  /** A target that most setups do without: nothing is said of it where it is not there. */
  readonly isOptional?: true
}

/** What `files` may ask the disk. */
export interface DiskReader {
  exists(path: string): boolean
  /** The names in a folder, sorted; none where there is no such folder. */
  entries(folder: string): readonly string[]
  /** The first kB of a file as text; empty where there is none. */
  readStart(path: string): string
}

/** The files of one client, read. */
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

/** What the user can choose for a client: by flags, a team's file, an import link or a prompt. */
export interface ClientOptions {
  readonly model?: string | undefined
  readonly slot?: Slot | undefined
  readonly slotModels?: Readonly<Partial<Record<Slot, string>>> | undefined
  readonly subagentModel?: string | undefined
  readonly discoverModels?: boolean | undefined
  readonly disableAttribution?: boolean | undefined
  /** In tokens. */
  readonly contextWindow?: number | undefined
  /** In tokens. */
  readonly maxOutputTokens?: number | undefined
  readonly images?: boolean | undefined
  readonly reasoning?: boolean | undefined
  /** How long the model reasons. Absent: the client's default. */
  readonly reasoningEffort?: ReasoningEffort | undefined
  /** A client with a table of models of its own is given one that says what the gateway has. */
  readonly writeModelCatalog?: boolean | undefined
  /** A provider that had its key where the new one goes is given it for itself, and works on. */
  readonly keepOldGateway?: boolean | undefined
  readonly providerId?: string | undefined
  /** For a client that speaks several. */
  readonly protocol?: Protocol | undefined
}

/** What a client's files say: as repoint has set it up, or its user since. */
export interface PreviousOptions extends ClientOptions {
  /** What a client with slots starts with, where it is none of them. */
  readonly startModel?: string | undefined
  readonly smallModel?: string | undefined
  /** Nothing names `slot`: it is what the client's newest version takes. */
  readonly isSlotUnnamed?: boolean | undefined
  /** They were chosen for another gateway than the one that is asked. */
  readonly isElsewhere?: boolean | undefined
}

/** What the gateway has said so far. */
export interface GatewayInfo {
  readonly catalog: Catalog | undefined
  /** Why it has no list that can be read. */
  readonly catalogError?: UserError | undefined
  /** Ids that it does not list, and has refused. */
  readonly rejected: readonly string[]
  /** Its list is all that will be heard: it is asked for no model. */
  readonly catalogOnly?: boolean | undefined
  /** What the installed client prints of the models that it knows. Absent: it prints none. */
  readonly modelTable?: string | undefined
}

/** What a choice of models goes by. What is named now wins over what is kept. */
export interface ResolveInput {
  readonly requested: ClientOptions
  /** As far as it still holds. Absent: the client was not set up, or the rules choose anew. */
  readonly previous?: PreviousOptions | undefined
  /** The rules choose anew for a client that was set up: what was chosen before goes. */
  readonly resetToDefaults?: boolean
  readonly gatewayInfo: GatewayInfo
}

/** opus, sonnet, haiku and, in newer versions, fable in the messages client. */
export const slots = ['opus', 'sonnet', 'haiku', 'fable'] as const
export type Slot = (typeof slots)[number]
export const defaultSlot: Slot = 'sonnet'

export interface ResolvedOptions {
  /** The very id that the client asks for first; the live check asks for it too. */
  readonly probeModel: string
  /** Absent: the client's one. */
  readonly protocol?: Protocol
  /** What to do where the gateway does not serve it. Absent: nothing but to name another. */
  readonly probeCure?: string
  /** What the client will ask for beside it, by the setup. Absent: nothing. */
  readonly alsoSent?: readonly string[]
  /** What is shown as "model". */
  readonly model: string
  readonly slot?: Slot
  /** What is started with in the place of a slot. */
  readonly startModel?: string
  readonly slotModels?: Readonly<Partial<Record<Slot, string>>>
  readonly subagentModel?: string
  readonly smallModel?: string
  /** The models that a client with a list of its own is given. */
  readonly offered?: Catalog['models']
  /** They are all that the gateway has for the client. */
  readonly offersWholeCatalog?: boolean
  /** The text of a file that describes models to the client, and the ids in it. */
  readonly catalog?: { readonly text: string; readonly ids: readonly string[] }
  /** In tokens; absent: unknown, or known to the client itself: left alone. */
  readonly contextWindow?: number
  /** Things to say about the choice. */
  readonly findings: readonly Finding[]
}

/** All that a plan needs to know. */
export interface SetupTarget {
  /**
   * Where the client's protocol hangs, as its configuration takes it: before `/chat/completions` and
   * `/responses`, mostly ending in `/v1`; before `/v1/messages`. No slash at the end.
   */
  readonly baseUrl: string
  readonly key: string
  /** Where the key goes alone. Absent: `authorization: Bearer`. */
  readonly keyHeader?: KeyHeader | undefined
  readonly headers?: readonly ExtraHeader[] | undefined
  /** Headers of other setups, and of earlier ones: they go where they still stand as written. */
  readonly formerHeaders?: readonly ExtraHeader[] | undefined
  /** Whether a setup for another address has put a header there. Costs some parses for each run. */
  readonly isFromElsewhere?: (header: Pick<ExtraHeader, 'name' | 'value'>) => boolean
  readonly query?: readonly QueryParameter[] | undefined
  /** Of other setups, and of earlier ones, as `formerHeaders`. */
  readonly formerQueries?: readonly QueryParameter[] | undefined
  /** Absolute path of a PEM file with further authorities, where the gateway needs one. */
  readonly caFile?: string | undefined
  readonly providerId: string
  readonly resolved: ResolvedOptions
  readonly input: Omit<ResolveInput, 'gatewayInfo'>
  /** Whether the gateway answers the client's `safeguards` (see `Carried`). Absent: it was not asked. */
  readonly answersSafeguards?: boolean | undefined
  /**
   * Repairs of obstacles, carried out in the same edits: a setup passes those of every obstacle that
   * it found, once what needs consent has it. What the choice itself sets wins over a repair.
   */
  readonly fixes?: readonly FileFix[]
  /**
   * The file of a role as it was before the newest run, before the newest two, and so on, each with
   * what others have written since. None where the records cannot tell. Asked for only where it
   * matters: each costs a few parses.
   */
  readonly earlier?: ((role: string) => Iterable<Bytes | null>) | undefined
}

/** What a client believes. Absent: not set, or not readable for the client. */
export interface ClientState {
  /** As configured, without slashes at the end: the client appends its route to it. */
  readonly baseUrl?: string
  /** Absent: the client's one. */
  readonly protocol?: Protocol
  readonly model?: string
  /** Nothing names the model: it is what the client's newest version takes then. */
  readonly isModelUnnamed?: boolean
  readonly key?: string
  /** The file the key comes from. */
  readonly keyPath?: string
  /** Where the key goes. Absent: `authorization: Bearer`. */
  readonly keyHeader?: KeyHeader
  /** What its files send along to that address. */
  readonly headers?: readonly ExtraHeader[]
  /** The same of what its files put behind the address. */
  readonly query?: readonly QueryParameter[]
  /** The PEM file with further authorities that its files name; absent: its environment decides. */
  readonly caFile?: string
  readonly providerId?: string
  readonly slotModels?: Readonly<Partial<Record<Slot, string>>>
  readonly subagentModel?: string
  readonly smallModel?: string
  /** In tokens. */
  readonly contextWindow?: number
  readonly reasoningEffort?: ReasoningEffort
  /** It takes its models from the file that a setup has made of the gateway's list. */
  readonly writeModelCatalog?: boolean
  /** It lists the gateway's models by itself. */
  readonly isDiscovering?: boolean
  /** It leaves its attribution block out. */
  readonly hidesAttribution?: boolean
  /** Another address that the client sends the key to, as conversations of before do. */
  readonly alsoSendsTo?: string
  /** Another login that the client would use in the place of our key, in words. */
  readonly login?: string
  /** Why the client would not read its file, in words. */
  readonly broken?: string
}

/** Absolute paths of files. Absent: the value stands in no file. */
export interface Sources {
  readonly baseUrl?: string
  readonly model?: string
  readonly smallModel?: string
}

/** A client's files, and what around them decides what becomes of a setup. */
export interface ClientContext {
  readonly files: LoadedFiles
  readonly machine: Machine
  /** Roots that repoint has written for this client before, from its records. */
  readonly ownRoots: readonly string[]
  /** Ids of the last catalog that a command has read; none where there was none. */
  readonly knownModels: readonly string[]
  /** Files that a shell reads at its start, where they exist: see `shellProfilePaths`. */
  readonly shellProfiles: readonly { readonly path: string; readonly text: string }[]
}

/** The protocol of the options, or the client's usual one. */
export function protocolOf(
  client: Pick<ClientModule, 'protocols'>,
  options: { readonly protocol?: Protocol | undefined },
): Protocol {
  return options.protocol ?? client.protocols[0]
}
