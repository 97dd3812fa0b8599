import type { FileEdit } from '../../edits/types.ts'
import type { Findings } from '../../finding.ts'
import type { FirstRequest, OtherKeyHeader, Protocol } from '../../gateway/types.ts'
import type { Machine, Platform } from '../../platform/platform.ts'
import type { ConfigRules, GatewaySettings } from './config.ts'
import type { ConfigFile, DiskReader, EditedFiles, LoadedFiles } from './files.ts'
import type {
  FirstRequestInput,
  LaunchSettings,
  ProcessToStart,
  Program,
  ProgramFacts,
} from './program.ts'
import type { OptionQuestion, ResolvedOptions, ResolveInput, SetupTarget } from './setup.ts'
import type { ClientState } from './state.ts'

/** The names of a client, from its row in the list. */
export interface ClientName {
  /** The word of the command line: `codex`, `claude`, `claude-gpt`, `opencode`. */
  readonly id: string
  /** Clients that share files share a family: `claude` and `claude-gpt`. */
  readonly family: string
  readonly label: string
}

/** A client as the commands use it. list.ts guards its `resolve`, `plan` and `launchSettings`: interpolation-guard.ts. */
export interface Client extends ClientName, ClientModule {}

/**
 * A client says which files it reads, what they mean, and what a setup changes in them. Its functions return
 * edits, findings and requests; the commands write the files and send the requests. The functions are pure,
 * except those that get a `ClientWorld`: they may also look at processes, and at files that no setup writes.
 * `checkNow` may return a finding with a process that keeps the old settings, and a function that stops it.
 */
export interface ClientModule {
  // What the client is, and what it can send.

  /** The client's installed program: its command, its versions, how to start it with one prompt. */
  readonly program: Program
  /** The protocols that the client supports, the usual one first. */
  readonly protocols: readonly [Protocol, ...Protocol[]]
  /** The headers and parameters that the client can send in addition to the key. */
  readonly sends: SendingRules

  // The client's files now.

  /** Facts about the format of the client's files. */
  readonly config: ConfigRules

  /**
   * The files that the client reads: the editable ones in write order (they may not exist yet), then the
   * existing layers, the weakest first.
   */
  files(machine: Machine, disk: DiskReader): readonly ConfigFile[]

  /**
   * What the client's own files say. `overrideFindings` reports the files that override them, for all clients;
   * `checkNow` reports the environment.
   * Never throws: a file that the client cannot read becomes a finding.
   */
  read(files: LoadedFiles): ClientState

  /** What is wrong with the client's effective configuration now. */
  checkNow(context: ClientContext): Findings

  // A setup, in its order.

  /**
   * The options that the client gets: a value for every one.
   *
   * @throws ModelNeeded if no rule chooses a model, or the gateway has none, with the nearest IDs
   * @throws UserError if the client cannot use the gateway
   */
  resolve(input: ResolveInput, program?: ProgramFacts): ResolvedOptions

  /** What a setup asks on a terminal before it plans. Without one, or with `--yes`, the option stays undecided. */
  question?(context: ClientContext, target: SetupTarget): OptionQuestion | undefined

  /**
   * The edits that make the client's files say what `target` says, in write order. A file that already says it
   * has the same bytes before and after.
   *
   * @throws UserError `config-invalid`, `config-conflict`
   */
  plan(files: LoadedFiles, target: SetupTarget): readonly FileEdit[]

  /** What would keep the client from using the gateway after the setup of `target`. */
  checkSetup(context: ClientContext, target: SetupTarget): Findings

  // The probe, which sends the client's first request.

  /**
   * The client's first request: the recorded one, changed as the client's files, the environment and the
   * installed version would change it. The recordings are large, so only this function loads them.
   */
  firstRequest(files: LoadedFiles, input: FirstRequestInput): Promise<FirstRequest>

  // `repoint run`.

  /**
   * What points one process of the client at the gateway without changing a file. The key is in the variable
   * `launchKeyVariable`, never in the arguments.
   *
   * @throws UserError `usage` if the command line already says otherwise
   */
  launchSettings(files: LoadedFiles, target: SetupTarget, process: ProcessToStart): LaunchSettings

  // The way back.

  /**
   * The settings that point the client at a gateway, with the models chosen for it, by the kind of file. None
   * if the client uses its own service. `repoint off` removes these settings.
   *
   * Only this list differs between clients. `planOwnService` finds for all of them what each setting was
   * before, and which edits follow.
   */
  gatewaySettings(files: LoadedFiles): GatewaySettings

  /**
   * What a change of the client's files means for data that repoint does not edit: recorded conversations,
   * the client's own copies of the key.
   */
  sideEffects?(world: ClientWorld, edited: EditedFiles): Findings
}

/** The parts of a request that a client's settings can add. */
interface SendingRules {
  readonly headers: boolean
  /** The client can send query parameters. */
  readonly queries?: true
  /**
   * The headers that can hold the key instead of `authorization`, by protocol: for a gateway that accepts the
   * key only there.
   */
  readonly otherKeyHeaders?: Partial<Readonly<Record<Protocol, readonly OtherKeyHeader[]>>>
  /** The protocols over which the client always sends the key in this header, whatever the gateway accepts. */
  readonly fixedKeyHeader?: Partial<Readonly<Record<Protocol, OtherKeyHeader>>>
}

/** A client's files, and the machine around them: the input of its checks. */
export interface ClientContext {
  readonly files: LoadedFiles
  readonly machine: Machine
  /** The base URLs that repoint wrote for this client, from its records. */
  readonly writtenBaseUrls: readonly string[]
  /** The model IDs of the last catalog that repoint read. */
  readonly knownModels: readonly string[]
  /** The version of the installed client, if it is known. */
  readonly version?: string
  /** Existing files that the user's shell reads at its start: see `shellProfilePaths`. */
  readonly shellProfiles: readonly { readonly path: string; readonly text: string }[]
  readonly world: ClientWorld
}

/** The parts of the outside world that a client module may use. Checks only read from it. */
export type ClientWorld = Pick<Platform, 'files' | 'processes' | 'machine'>

/** Whether the files are set up for this client of its family. */
export function isConfiguredAs(
  { id, family }: Pick<ClientName, 'id' | 'family'>,
  { configuredAs = family }: Pick<ClientState, 'configuredAs'>,
): boolean {
  return configuredAs === id
}
