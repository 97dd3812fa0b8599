import * as v from 'valibot'
import { otherKeyHeaders } from '../gateway/types.ts'
import { protocols } from '../protocols.ts'
import type { SavedList } from './saved-list.ts'

/** A gateway with the name that commands use for it. */
export type SavedGateway = v.InferOutput<typeof savedGateway>

/** A name needs no quotes in a shell and is a valid file name. */
export const gatewayNamePattern = /^[\p{L}\p{N}][\p{L}\p{M}\p{N}._-]{0,62}$/u

const text = v.string()
const nameAndValue = v.object({ name: text, value: text })
const header = v.object({ ...nameAndValue.entries, isSecret: v.exactOptional(v.literal(true)) })

const savedGateway = v.pipe(
  v.object({
    name: v.pipe(text, v.regex(gatewayNamePattern)),
    address: v.pipe(text, v.url()),
    /** Absent: the usual base URLs of the address. */
    baseUrls: v.exactOptional(v.object({ chat: text, messages: text })),
    key: text,
    keyHeader: v.optional(v.picklist(['authorization', ...otherKeyHeaders]), 'authorization'),
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

/** The latest gateway comes first. */
export const gatewayList: SavedList<SavedGateway> = {
  member: 'gateways',
  newMember: 'newGateways',
  title: 'saved gateways',
  entry: savedGateway,
}
