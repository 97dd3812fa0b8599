import type { Bytes } from '../../edits/types.ts'
import { UserError } from '../../errors.ts'
import type { FileFix, Finding } from '../../finding.ts'
import type { DefaultModel } from '../../gateway/models/rules.ts'
import type {
  BaseUrls,
  Catalog,
  CatalogInfo,
  CatalogModel,
  ExtraHeader,
  GatewayAccess,
  KeyHeader,
  ModelAndProtocol,
  Protocol,
  QueryParameter,
  SafeguardsAnswer,
} from '../../gateway/types.ts'
import type { ClientOptions } from './options.ts'
import type { ClientState } from './state.ts'

/** What the user chose for a client, now and before. Requested options override earlier ones. */
export interface ChosenOptions {
  readonly requested: ClientOptions
  /** The part of the earlier setup that still applies. Absent: the client was not set up, or `resetToDefaults`. */
  readonly earlier?: EarlierOptions
  /** `--defaults`: the rules choose again, and the setup removes what was chosen before. */
  readonly resetToDefaults?: boolean
  /** The model that the user names when repoint asks: for everything that has no requested or earlier model. */
  readonly modelForAll?: string
}

/** The options that an earlier setup left in the client's files. */
export interface EarlierOptions extends Pick<ClientState, 'options' | 'unsetOptions'> {
  /** The options were chosen for another gateway. */
  readonly isOtherGateway?: boolean
}

/** The input for a client's decision about its options. */
export interface ResolveInput extends ChosenOptions {
  readonly gatewayInfo: GatewayInfo
}

/** A question that a setup asks because its plan would lose something that an option keeps. Yes is the default. */
export interface OptionQuestion {
  readonly message: string
  readonly ifYes: ClientOptions
  readonly ifNo: ClientOptions
}

/** Thrown if no rule chooses a model, or the gateway has none. A model from the user would help. */
export class ModelNeeded extends UserError {}

/** What is known of the gateway when a client's options are decided. */
export interface GatewayInfo {
  readonly catalogAnswer: CatalogInfo
  /** The model that the gateway answered last, for any client. */
  readonly provenModel?: ModelAndProtocol
  /**
   * What the gateway rejected for this client, if another choice may help: `resolve` avoids the same model over
   * the same protocol if it has a choice.
   */
  readonly rejections: readonly RejectedModel[]
  /**
   * What requests have shown about the models of this client's list, the one that it starts with first. Absent: no
   * request shows it, so the list contains what the gateway most likely serves.
   */
  readonly samples?: readonly Sample[]
  /** The base URLs and the key header, as far as requests have found them. */
  readonly accessSoFar?: Pick<GatewayAccess, 'baseUrls' | 'keyHeader'>
  /** No probe follows, so `resolve` must not choose what only a probe could prove. */
  readonly noProbeFollows?: boolean
}

/** The gateway's catalog. Undefined: repoint has none. */
export function catalogIn({
  catalogAnswer,
}: Pick<GatewayInfo, 'catalogAnswer'>): Catalog | undefined {
  return catalogAnswer.kind === 'received' ? catalogAnswer.catalog : undefined
}

/** What a request has shown about a model of a client's list. It counts for the models of the same protocol too. */
export interface Sample extends ModelAndProtocol {
  /** Absent: the gateway serves it. */
  readonly error?: UserError
  /** The gateway was busy, or the connection broke: `error` says nothing about the model. */
  readonly isBusy?: boolean
}

/** A model that the gateway rejected over a protocol, and why. */
export interface RejectedModel extends ModelAndProtocol {
  readonly error: UserError
}

/** All options of a client, decided. */
export interface ResolvedOptions {
  /** The name of the model in reports. */
  readonly model: string
  readonly smallModel?: string
  /** In tokens. Absent: unknown, or the client knows it; then the setup does not change it. */
  readonly contextWindow?: number
  /** The models that rules chose, by purpose. Empty: the user chose them all, now or before. */
  readonly uses: readonly ModelUse[]
  /** The key goes into a private file of its own, which the configuration names. */
  readonly usesKeyFile?: boolean
  /** The notes about these options. */
  readonly findings: readonly Finding[]

  // What the probe sends.

  /** The ID of the model in the client's first request. */
  readonly probeModel: string
  /** The protocol of that request. */
  readonly protocol: Protocol
  /** The hint if the gateway does not serve the model. Without it, the hint is to choose another model. */
  readonly probeHint?: string
  /** Other models that the client will request, as the setup writes them. */
  readonly otherModels: readonly string[]

  // The client's picker.

  /** The models that a setup writes there, the one that the client starts with first. */
  readonly offered: readonly OfferedModel[]
  /** A model to request before `offered` is written: nothing has shown yet that the gateway serves its protocol. */
  readonly nextSample?: ModelAndProtocol
  /** `offered` contains every model that the gateway has for this client. */
  readonly offersWholeCatalog: boolean
  /** A file that describes models for the client: its text, and their IDs. */
  readonly modelsFile?: { readonly text: string; readonly ids: readonly string[] }

  // For Claude Code.

  /** The top-level `model` of its settings: a slot, or a model that is in no slot. */
  readonly start?: string
  readonly slotModels?: Readonly<Record<string, string>>
  readonly subagentModel?: string
}

/** A model in a client's picker. */
export interface OfferedModel extends CatalogModel {
  readonly protocol: Protocol
}

export interface ModelUse extends DefaultModel {
  /** For a client with several models. */
  readonly purpose?: string
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
  readonly keyHeader: KeyHeader
  readonly headers?: readonly ExtraHeader[]
  readonly query?: readonly QueryParameter[]
  /** The absolute path of a PEM file with more certificate authorities, if the gateway needs one. */
  readonly caFile?: string
  readonly providerId: string
  readonly resolved: ResolvedOptions
  /** A plan keeps the user's own value for what nobody chose. */
  readonly input: ChosenOptions
  /** Whether the gateway answers Claude Code's check of tool calls (`Safeguards`). */
  readonly safeguards: SafeguardsAnswer
  /**
   * The fixes of all findings, which become part of the edits. The setup's own changes win over a fix.
   */
  readonly fixes?: readonly FileFix[]
  /** Absent: a launch or a probe, which write none of the user's files. */
  readonly history?: SetupHistory
}

/** What earlier setups wrote, for a plan that removes it. */
export interface SetupHistory {
  /** Headers of all saved gateways. A plan removes those that the user has not edited. */
  readonly headers: readonly ExtraHeader[]
  /** Query parameters of all saved gateways, as `headers`. */
  readonly query: readonly QueryParameter[]
  /**
   * The file with the newest run undone, then with the newest two undone, and so on. What others have
   * written since stays. Empty if the records cannot tell. Each version costs a few parses.
   */
  readonly earlierVersionsOf: (fileKind: string) => Iterable<Bytes | null>
}
