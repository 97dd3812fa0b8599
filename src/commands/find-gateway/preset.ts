import type { ClientName } from '../../clients/contract/client.ts'
import { familyRows, loadClients } from '../../clients/list.ts'
import type { ImportLink } from '../../gateway/input/link.ts'
import type { Gateway, KeyHeader } from '../../gateway/types.ts'
import { rememberedAddress } from '../../state/remembered.ts'
import type { Runs } from '../../transaction/record.ts'
import { gatewayOf, hasWrittenBaseUrl, runsOf } from '../client-state/client-facts.ts'
import { stateNow } from '../client-state/client-files.ts'
import type { GatewayFlags } from '../command-line/flags.ts'
import type { Session } from '../screen/session.ts'

/**
 * Where a key comes from. If the gateway rejects it, repoint asks for another, unless it was `given`.
 *
 * - `given`: by a flag, the environment, or the command itself.
 * - `typed`: at a prompt.
 * - `reused`, `saved`: at a prompt, the user chose the key of an active setup, or a saved gateway. Such a key
 *   must not be sent to another address.
 */
export type KeySource = 'given' | 'typed' | 'reused' | 'saved'

/** What repoint knows of the gateway before it looks for it, from an earlier run or a first attempt. */
export interface Preset {
  /** The known parts of the gateway. repoint neither looks for them nor asks for them. */
  readonly gateway?: Partial<Gateway>
  /** The default answer to the question for the address. */
  readonly defaultAddress?: string
  /** Where an earlier try found the known key. Absent: it is `given`. */
  readonly keySource?: KeySource
  /** The gateways of active setups. At the question for a key, Enter reuses the key of the same address. */
  readonly inUse?: readonly GatewayInUse[]
  /** An import link that was already read. */
  readonly link?: ImportLink
  /** The question for the address also offers saved gateways and known hosts, by name. */
  readonly offersGateways?: boolean
}

/** The gateway of an active setup, with the client that uses it. */
export interface GatewayInUse extends Gateway {
  readonly family: string
  readonly label: string
  readonly key: string
  readonly keyHeader: KeyHeader
}

/** Whether the user names an address or a key now. The two belong together. */
export function namesGateway({ platform }: Session, flags: GatewayFlags): boolean {
  const { baseUrl, keyStdin, keyFile, keyEnv } = flags
  const { REPOINT_BASE_URL, REPOINT_API_KEY } = platform.machine.env
  return [baseUrl, keyStdin, keyFile, keyEnv, REPOINT_BASE_URL, REPOINT_API_KEY].some(Boolean)
}

/** The default answer to the question for the address: the one that the user typed last, or of the last run. */
export function defaultAddress({ platform }: Session, runs: Runs): string | undefined {
  return rememberedAddress(platform) ?? runs[0]?.address
}

/** The newest gateway in use, or else the default address, unless the user names a gateway now. */
export async function presetUnlessNamed(
  session: Session,
  flags: GatewayFlags,
  runs: Runs,
): Promise<{ readonly preset: Preset; readonly inUse?: GatewayInUse }> {
  const [inUse] = namesGateway(session, flags) ? [] : await gatewaysInUse(session, runs)
  const preset = inUse ? { gateway: inUse } : { defaultAddress: defaultAddress(session, runs) }
  return { preset, inUse }
}

/** The gateways of all active setups, newest first. */
export async function gatewaysInUse(
  session: Session,
  runs: Runs,
): Promise<readonly GatewayInUse[]> {
  const age = (name: ClientName) => runs.findIndex((run) => runsOf(name, [run]).length > 0)
  const configured = familyRows.filter((row) => age(row) !== -1).toSorted((a, b) => age(a) - age(b))

  return (await loadClients(configured)).flatMap((client) => {
    const { family, label } = client
    const state = stateNow(session, client)
    const { key, keyHeader, headers, query } = state.endpoint
    const gateway = gatewayOf(session, client, state, runs)
    if (gateway === undefined || !key || !hasWrittenBaseUrl(client, state, runs)) return []
    return [{ ...gateway, family, label, key, keyHeader, headers, query }]
  })
}
