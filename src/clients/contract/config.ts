import type { SettingPath, SettingRole } from '../../edits/types.ts'
import type { Finding } from '../../finding.ts'
import type { OptionName } from './options.ts'

/** Facts about a client's config format. */
export interface ConfigRules {
  /** The settings that decide where the client sends its key. */
  readonly sensitiveSettings: SensitiveSettings
  /** The files that configure the client in the folder where it starts. */
  readonly folderFiles: readonly FolderFiles[]
  /** The texts that the client replaces when it reads its files. */
  readonly interpolation: Interpolation
  readonly reservedProviderIds?: readonly string[]
  /** The environment variables that override the client's files. */
  readonly gatewayVariables?: GatewayVariables
  /** What repoint knows about the variables that decide where the client sends its key, and which key. */
  readonly variables: KnownVariables
  /**
   * The options that the next setup keeps of those that `read` finds, if they are not all: of the client's own
   * setup, and of one as another client of its family.
   */
  readonly keptOptions?: Readonly<Record<'ofClient' | 'ofFamily', readonly OptionName[]>>
  /** The text that the files append to the ID of a model: `[1m]`. */
  readonly modelSuffix?: RegExp
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
   * The names on the way to the setting, joined by dots:
   *
   *     'model.name'                    the member `name` of the table `model`
   *     'providers.*.baseUrl'           `*` matches any name
   *     'env.ANTHROPIC_*_URL'           or any part of a name
   *     'providers.:provider.apiKey'    `:provider` matches the provider in use; in a file of the folder, any
   *     'env.OPENAI_BASE_URL'           in a .env file, the variable OPENAI_BASE_URL
   *     'model'                         in an agent's file, the line `model:` of its front matter
   */
  readonly path: string
  /**
   * What the setting decides. A setting with the protocol belongs to the `provider`. An undo knows the same roles,
   * except `proxy` and `trust`: see `SettingRole`.
   */
  readonly role: SettingRole | 'proxy' | 'trust'
  /**
   * The kinds of files in which the setting has this role: the editable file, and the layers in which it can
   * override a setup.
   */
  readonly fileKinds: readonly string[]
  /** Only versions before this one read it in files of the folder. Absent: all do. */
  readonly before?: string
  /** `repoint run` sets it for its process, which overrides the folder's files. */
  readonly setByRun?: true
  /** Nobody saw the client obey it: only its program contains the name. */
  readonly isUntested?: true
  /** The versions that were run, or whose program contains the name, and the date. */
  readonly source: string
}

/** Files that a client reads in the folder where it starts, except instructions for the model. */
export interface FolderFiles {
  /**
   * Paths below a folder, with slashes. A name that ends in `*` matches every name with this
   * beginning; `/**` at the end matches every file below that folder. Empty for a client that reads none.
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
interface Interpolation {
  /** The texts in IDs, names of models and addresses. */
  readonly names: RegExp | null
  /** The texts in API keys and values of headers. */
  readonly values: RegExp | null
  /** The client also replaces them in the names of settings. */
  readonly isInSettingNames?: true
}

/**
 * A variable of the client's families whose name speaks of a login or an address, and that is in neither list, is
 * unknown: repoint warns about it. `repoint run` starts the client without the harmful and the unknown ones.
 */
export interface KnownVariables {
  /** The beginnings of the client's names: `CODEX_`. */
  readonly families: readonly string[]
  /** With these the client does not start, or does not use the gateway of its files. */
  readonly harmful: readonly HarmfulVariable[]
  /** These look like a login or an address, and change neither. `*` matches any part of a name. */
  readonly harmless: readonly string[]
}

/** A variable that defeats a setup. */
export interface HarmfulVariable extends Pick<Finding, 'code' | 'severity'> {
  readonly name: string
  /** What the client does with it, as the end of a sentence. */
  readonly effect: string
  /** `launchSettings` itself decides what becomes of it. */
  readonly isLeftToLaunch?: true
}

/** Environment variables that point a client at a gateway, whatever its files say. */
interface GatewayVariables {
  readonly addresses: readonly string[]
  /** Keys, and the models of a gateway. */
  readonly others: readonly string[]
}

/** Settings by the kind of their file. A path may be `wholeFile`. */
export type GatewaySettings = Readonly<Record<string, readonly SettingPath[] | undefined>>
