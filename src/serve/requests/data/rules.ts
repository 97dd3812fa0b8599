import type { Protocol } from '../../../protocols.ts'
import {
  anthropicRejection,
  openaiRejection,
  type Problem,
  RequestRejection,
} from '../rejection.ts'
import rules from './rules.json' with { type: 'json' }
import sdkRules from './sdk-rules.json' with { type: 'json' }
import type { Shape } from './shapes.ts'

/**
 * The rules for a member in addition to its type. scripts/write-sdk-data.js takes the limits in sdk-rules.json from
 * the comments of the official SDKs. rules.json adds and overrides rules, each with a source and a date.
 */
interface Rule {
  readonly minimum?: number
  readonly maximum?: number
  readonly isInteger?: boolean
  /** The length of a string, in characters. */
  readonly minLength?: number
  readonly maxLength?: number
  /** The pattern that a string must match. */
  readonly pattern?: string
  /** The number of entries of a list or a map. */
  readonly minEntries?: number
  readonly maxEntries?: number
  /** The longest name of an entry of a map, in characters. */
  readonly maxNameLength?: number
  /** The pattern that the name of an entry of a map must match. */
  readonly namePattern?: string
  /** The vendor's list of choices, if it differs from the types. */
  readonly choices?: readonly string[]
  /** The member is optional although the types require it. */
  readonly isOptional?: boolean
  /** The shape of a member that the types lack. */
  readonly shape?: Shape
  /** The feature that a value requests and this gateway does not support. */
  readonly unsupported?: string
  /** The values that do not request the feature. */
  readonly notRequestedBy?: readonly unknown[]
  /** A list requests the feature only if it contains this value. */
  readonly requestedBy?: string
}

/** The rules for a value, and for its members by name. `*` matches every name. */
export interface MemberRules extends Rule {
  readonly members: ReadonlyMap<string, MemberRules>
}

export const noRules: MemberRules = { members: new Map() }

/** A row of rules.json, or of the limits in sdk-rules.json. */
interface RuleRow extends Rule {
  /** The paths of the members, without list indexes, separated by spaces. */
  readonly paths: string
}

function buildRules(table: readonly RuleRow[]): MemberRules {
  const root: MemberRules = { members: new Map() }
  for (const { paths, ...rule } of table)
    for (const path of paths.split(' ')) {
      const rules = path.split('.').reduce(rulesOfMember, root)
      Object.assign(rules, rule)
    }
  return root
}

/** Finds the rules of a member, or adds empty ones. */
function rulesOfMember({ members }: MemberRules, name: string): MemberRules {
  const rules = members.get(name) ?? { members: new Map() }
  ;(members as Map<string, MemberRules>).set(name, rules)
  return rules
}

function rulesOfProtocol(protocol: Protocol): MemberRules {
  return buildRules([...sdkRules.limits[protocol], ...rules[protocol]] as readonly RuleRow[])
}

/** Chat has a different message for an unknown member of the body itself. */
function chatRejection(problem: Problem): RequestRejection {
  const { type, path } = problem
  return type === 'unknown' && path.length === 1
    ? new RequestRejection(`Unrecognized request argument supplied: ${path[0]}`)
    : openaiRejection(problem)
}

/** The rules for the body of each protocol, and the messages of its vendor. */
export const protocolRules = {
  chat: { rules: rulesOfProtocol('chat'), createRejection: chatRejection },
  responses: { rules: rulesOfProtocol('responses'), createRejection: openaiRejection },
  messages: { rules: rulesOfProtocol('messages'), createRejection: anthropicRejection },
}
