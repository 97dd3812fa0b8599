import type { AcceptedResponses, CertificateStores, Protocol } from '../../gateway/types.ts'
import type { Machine } from '../../platform/platform.ts'

/** A client's installed program. */
export interface Program {
  // Finding it, and its versions.

  readonly command: string
  /**
   * The npm packages that contain the client. `*` at the end matches a platform: `@openai/codex-*` is
   * `@openai/codex-linux-x64` and others.
   */
  readonly packages: readonly string[]
  /** The client replaces itself, so it can be newer than its package says. */
  readonly updatesItself?: true
  /** The versions of the client that our tests run. */
  readonly testedVersions: readonly string[]
  /** The oldest version of the client that works with a setup. Absent: every tested version works. */
  readonly minVersion?: string
  /** The oldest version of the client that `launchSettings` works with. Absent: `minVersion`. */
  readonly minVersionForLaunch?: string
  /** What is known of the next major version, which was not run, as the end of a sentence about it. */
  readonly nextMajor?: string
  /** The client sends other model IDs in other versions. */
  readonly needsVersion?: boolean

  // Starting it.

  /**
   * The arguments with which the client answers `prompt` once, without a terminal.
   *
   * @param version of the installed client. Absent: unknown; then the newest
   * @param home `empty`: the client must read nothing of the user
   */
  readonly pingArgs: (prompt: string, version?: string, home?: 'own' | 'empty') => readonly string[]
  /** Added to the client's environment for `pingArgs`, so that it fails fast. */
  readonly pingEnv: Readonly<Record<string, string>>
  /**
   * About how many tokens the client's first request needs, and all of its requests for one word: their bytes divided
   * by 3.5, from the newest tested version (2026-11-28). Codex, Claude Code, opencode: counted by their providers.
   */
  readonly tokens: { readonly firstRequest: number; readonly oneWord: number }
  /** It needs more than 15 s for one word, so only `--try-client` starts it after a setup (2026-11-28). */
  readonly isSlow?: true
  /** How the client handles unusual responses: its `responses.json`. */
  readonly accepts?: Partial<Readonly<Record<Protocol, AcceptedResponses>>>
  /** Finds the answer in the client's output. Absent: the whole output is the answer. */
  readonly answerIn?: (stdout: string) => string | undefined
  /** The arguments with which the client prints the models that it knows. */
  readonly printModelsArgs?: readonly string[]
  /** The working folders that the client's arguments name, as typed. */
  readonly foldersIn?: (args: readonly string[]) => readonly string[]

  /** It stops if it cannot write the folder of its files. */
  readonly writesItsFolder?: true

  // Its certificate authorities.

  /** The variables that name the client a PEM file with more of them. The first one that is set counts. */
  readonly caFileVariables: readonly [string, ...string[]]
  /** The client rejects a server whose certificate is marked as an authority, even if the user trusts it. */
  readonly rejectsAuthorityAsServer?: true
  /** The places where the client finds them in addition to the public ones. */
  readonly certificateStores: (env: Machine['env']) => CertificateStores

  // After a setup.

  /** What the user does so that a running client reads a change. */
  readonly restartAdvice: string
  /** How the client continues an old conversation, and the settings that the conversation keeps. */
  readonly resume?: { readonly command: string; readonly keeps: string }
}

/** A client's `first-requests.json`, which `scripts/record-first-requests.js` writes. */
export interface Recordings {
  readonly date: string
  readonly newest: string
  /** Each tool as the newest version sends it, by its name in `requests`. */
  readonly tools: Readonly<Record<string, object>>
  /** Sorted by kind and protocol, and then by version, the oldest first. */
  readonly requests: readonly RecordedRequest[]
}

/** A client's first request, recorded from the real program. The model is not part of the body. */
export interface RecordedRequest {
  /** Which shape it is, where a version sends several over one protocol. */
  readonly kind: string
  readonly protocol: string
  /** The version that was run. Later ones send the same, up to the next recording. */
  readonly version: string
  /** Of the URL. */
  readonly query?: string
  /** A version that does not send a header has no value for it. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** With the names of its tools instead of the tools. */
  readonly body: Readonly<Record<string, unknown>>
}

/** What the installed program reports about itself. */
export interface ProgramFacts {
  /** Absent: it is not installed, or unknown; then the newest counts. */
  readonly version?: string
  readonly printedModels?: string
}

/** The request that `firstRequest` describes. */
export interface FirstRequestInput extends ProgramFacts {
  readonly model: string
  readonly protocol: Protocol
  readonly env: Machine['env']
  /** What the gateway's list says, in tokens: for a client that gets it at its start instead of in its files. */
  readonly outputLimit?: number
}

/** Holds the key of one process. Other users of the machine can read its arguments, but not this. */
export const launchKeyVariable = 'REPOINT_RUN_KEY'

/** One process of a client, as the user starts it. */
export interface ProcessToStart {
  readonly args: readonly string[]
  readonly env: Machine['env']
  /** The absolute path of a folder that repoint removes when the process ends. */
  readonly tempFolder: string
}

/** What points that process at the gateway: the arguments and the environment that replace its own, and files. */
export interface LaunchSettings extends Pick<ProcessToStart, 'args' | 'env'> {
  /**
   * Texts of files for this process only, by their names in its `tempFolder`. Never with the key. A shell may
   * start several clients, so no two clients use the same name.
   */
  readonly files?: Readonly<Record<string, string>>
  /** The settings that an old conversation keeps if the user continues it in this process. */
  readonly resumeKeeps?: string
}
