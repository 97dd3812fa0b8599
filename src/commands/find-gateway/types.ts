import type { Finding } from '../../finding.ts'
import type { HeaderChange } from '../../gateway/input/header.ts'
import type { ImportLink } from '../../gateway/input/link.ts'
import type { Gateway, GatewayAccess } from '../../gateway/types.ts'
import type { SavedGateway } from '../../state/gateways.ts'
import type { GatewayFlags, SetupFlags } from '../command-line/flags.ts'

/** What repoint knows of the gateway before it looks for it, from an earlier run or a first attempt. */
export interface Preset {
  /** The known parts of the gateway. repoint neither looks for them nor asks for them. */
  readonly gateway?: Partial<Gateway> | undefined
  /** The default answer to the question for the address. */
  readonly lastAddress?: string | undefined
  /** The user typed the known key for an address that was rejected. */
  readonly isKeyTyped?: boolean | undefined
  /** The setups in force. At the question for a key, Enter reuses the key of the same address. */
  readonly inUse?: readonly GatewayInUse[]
  /** An import link that was already read. */
  readonly link?: ImportLink | undefined
  /** The question for the address also offers saved gateways and known hosts, by name. */
  readonly offersGateways?: boolean | undefined
}

/** The gateway of a setup that is in force, with the client that uses it. */
export interface GatewayInUse extends Gateway {
  readonly family: string
  readonly label: string
  readonly key: string
}

/** The gateway of a command, and where its address and key came from. */
export interface FoundGateway {
  readonly access: GatewayAccess
  readonly findings: readonly Finding[]
  /** Whether the user entered these values at a prompt. If they are rejected, repoint asks again. */
  readonly fromPrompt: { readonly address: boolean; readonly key: boolean }
  /** The key belongs to a client or a saved gateway. It must not be sent to another address. */
  readonly isKeyInUse: boolean
  /** The content of the import link, if the key came from one. */
  readonly link?: ImportLink | undefined
}

export type AddressFlags = GatewayFlags & Pick<SetupFlags, 'messagesUrl' | 'name' | 'yes'>

/** An address or a key, with its source. */
export interface SourcedValue {
  readonly value: string
  readonly findings?: readonly Finding[]
  readonly isFromPrompt?: boolean
  readonly isInUse?: boolean
  /** The query of the address. */
  readonly query?: readonly HeaderChange[]
  /** The import link that contained the key. */
  readonly link?: ImportLink
  /** The saved gateway that the user chose. */
  readonly saved?: SavedGateway
}
