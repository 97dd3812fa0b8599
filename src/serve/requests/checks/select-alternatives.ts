import type { MemberRules } from '../data/rules.ts'
import { memberChoices, type ObjectForm } from '../data/shapes.ts'
import { isMissing, type JsonObject } from '../json.ts'
import type { Problem } from '../rejection.ts'

/** The alternatives of a union that an object may be. */
type Selection =
  /** `type`: the `type` of the object, or the one that it has by default. */
  | {
      readonly kind: 'found'
      readonly forms: readonly ObjectForm[]
      readonly type: string | undefined
    }
  | { readonly kind: 'rejected'; readonly problem: Problem }
  /** The vendor accepts an alternative that the types lack. */
  | { readonly kind: 'not-in-types' }

/** Selects the alternatives by the object's `type`, and among these by its `role`. */
export function selectAlternatives(
  alternatives: readonly ObjectForm[],
  object: JsonObject,
  rules: MemberRules,
): Selection {
  let forms = alternatives
  let type: string | undefined

  for (const name of ['type', 'role']) {
    const tagged = forms.filter((form) => memberChoices(form, name) !== undefined)
    if (tagged.length === 0) continue

    const tag = object[name]
    const matching = isMissing(tag)
      ? forms.filter((form) => isOptionalTag(form, name))
      : tagged.filter((form) => memberChoices(form, name)!.includes(tag as string))
    if (matching.length === 0) return rejectTag(tagged, name, tag, rules)

    forms = matching
    if (name === 'type')
      type = isMissing(tag) ? memberChoices(matching[0]!, name)?.[0] : String(tag)
  }

  return { kind: 'found', forms, type }
}

function isOptionalTag(form: ObjectForm, name: string): boolean {
  return memberChoices(form, name) === undefined || !form.required.includes(name)
}

function rejectTag(
  tagged: readonly ObjectForm[],
  name: string,
  tag: unknown,
  rules: MemberRules,
): Selection {
  const vendorChoices = rules.members.get(name)?.choices
  if (vendorChoices?.includes(tag as string)) return { kind: 'not-in-types' }
  if (isMissing(tag)) return { kind: 'rejected', problem: { type: 'missing', path: [name] } }

  const typeChoices = new Set(tagged.flatMap((form) => memberChoices(form, name)!))
  const choices = vendorChoices ?? [...typeChoices]
  const problem: Problem = { type: 'unknown-tag', path: [], name, choices, value: tag }
  return { kind: 'rejected', problem }
}
