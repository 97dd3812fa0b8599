import * as v from 'valibot'
import { protocols } from '../protocols.ts'
import type { Lock } from '../transaction/lock.ts'
import type { World } from '../transaction/record.ts'
import { changeList, type ListChange, readList, removeList, type SavedList } from './saved-list.ts'

/** A gateway with the name that commands use for it. */
export type SavedGateway = v.InferOutput<typeof savedGatewaySchema>

/** A name needs no quotes in a shell and is a valid file name. */
export const gatewayNamePattern = /^[\p{L}\p{N}][\p{L}\p{M}\p{N}._-]{0,62}$/u

const text = v.string()
const nameAndValue = v.object({ name: text, value: text })
const header = v.object({ ...nameAndValue.entries, isSecret: v.exactOptional(v.literal(true)) })

const savedGatewaySchema = v.pipe(
  v.object({
    name: v.pipe(text, v.regex(gatewayNamePattern)),
    address: v.pipe(text, v.url()),
    /** Absent: the usual base URLs of the address. */
    baseUrls: v.exactOptional(v.object({ chat: text, messages: text })),
    key: text,
    /** Absent: the key is sent as `authorization: Bearer`. */
    keyHeader: v.exactOptional(v.picklist(['x-api-key', 'api-key'])),
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
        /** Whether the gateway answers Claude Code's `safeguards`. */
        answersSafeguards: v.exactOptional(v.boolean()),
      }),
    ),
  }),
  v.readonly(),
)

const list: SavedList<SavedGateway> = {
  member: 'gateways',
  newMember: 'newGateways',
  title: 'saved gateways',
  entry: savedGatewaySchema,
}

/** The saved gateways, the latest first. @throws as `readList` does */
export function readGateways(world: World): readonly SavedGateway[] {
  return readList(world, list)
}

/** @throws as `changeList` does */
export function changeGateways(world: World, change: ListChange<SavedGateway>, lock?: Lock): void {
  changeList(world, list, change, lock)
}

/** Removes all of them, even if the list cannot be read. */
export function removeGateways(world: World): void {
  removeList(world, list)
}
