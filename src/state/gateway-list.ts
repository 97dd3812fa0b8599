import * as v from 'valibot'
import { compact } from '../compact.ts'
import { unusualKeyHeader } from '../gateway/input/header.ts'
import { type KeyHeader, otherKeyHeaders } from '../gateway/types.ts'
import { protocols } from '../protocols.ts'
import type { Lock } from '../transaction/lock.ts'
import type { World } from '../transaction/record.ts'
import { changeList, type ListChange, readList, removeList, type SavedList } from './saved-list.ts'

/** A gateway with the name that commands use for it. */
export interface SavedGateway extends Omit<StoredGateway, 'keyHeader'> {
  readonly keyHeader: KeyHeader
}

/** A gateway as the list contains it. */
type StoredGateway = v.InferOutput<typeof storedGatewaySchema>

/** A name needs no quotes in a shell and is a valid file name. */
export const gatewayNamePattern = /^[\p{L}\p{N}][\p{L}\p{M}\p{N}._-]{0,62}$/u

const text = v.string()
const nameAndValue = v.object({ name: text, value: text })
const header = v.object({ ...nameAndValue.entries, isSecret: v.exactOptional(v.literal(true)) })

const storedGatewaySchema = v.pipe(
  v.object({
    name: v.pipe(text, v.regex(gatewayNamePattern)),
    address: v.pipe(text, v.url()),
    /** Absent: the usual base URLs of the address. */
    baseUrls: v.exactOptional(v.object({ chat: text, messages: text })),
    key: text,
    /** Absent: `authorization`. */
    keyHeader: v.exactOptional(v.picklist(otherKeyHeaders)),
    /** Sent with every request. Secret values are never shown. */
    headers: v.exactOptional(v.pipe(v.array(header), v.readonly())),
    /** Sent with every request. */
    query: v.exactOptional(v.pipe(v.array(nameAndValue), v.readonly())),
    /** The absolute path of a PEM file with additional certificate authorities. */
    caFile: v.exactOptional(text),
    /** The user allowed plain HTTP to another machine. */
    allowHttp: v.exactOptional(v.literal(true)),
    /** The last successful probe. */
    proven: v.exactOptional(
      v.object({
        at: text,
        protocol: v.picklist(protocols),
        model: text,
        /** Absent: `not-requested` (see `savedSafeguards`). */
        answersSafeguards: v.exactOptional(v.boolean()),
      }),
    ),
  }),
  v.readonly(),
)

const list: SavedList<StoredGateway> = {
  member: 'gateways',
  newMember: 'newGateways',
  title: 'saved gateways',
  entry: storedGatewaySchema,
}

/** The saved gateways, the latest first. @throws as `readList` does */
export function readGateways(world: World): readonly SavedGateway[] {
  return readList(world, list).map(fromStored)
}

/** @throws as `changeList` does */
export function changeGateways(world: World, change: ListChange<SavedGateway>, lock?: Lock): void {
  const changeStored: ListChange<StoredGateway> = (stored) => {
    const before = stored.map(fromStored)
    const after = change(before)
    return after === before ? stored : after.map(toStored)
  }
  changeList(world, list, changeStored, lock)
}

function fromStored(gateway: StoredGateway): SavedGateway {
  return { ...gateway, keyHeader: gateway.keyHeader ?? 'authorization' }
}

function toStored(gateway: SavedGateway): StoredGateway {
  return compact({ ...gateway, keyHeader: unusualKeyHeader(gateway.keyHeader) })
}

/** Removes all of them, even if the list cannot be read. */
export function removeGateways(world: World): void {
  removeList(world, list)
}
