import type { Dialect } from './dialect.ts'
import { memberPlace, memberSource, memberStart } from './json-find.ts'
import { focusJson } from './json-focus.ts'
import { type JsonText, parseJson, readJson } from './json-parse.ts'
import { removeEmptyObject, removeMember } from './json-remove.ts'
import { renderByHand, toJsonValue } from './json-render.ts'
import { setMember } from './json-set.ts'

export const jsonDialect: Dialect<JsonText> = {
  parse: parseJson,
  read: readJson,
  focus: focusJson,
  expand: (_parsed, path, value) => [{ path, value }],
  toValue: toJsonValue,
  set: setMember,
  remove: removeMember,
  removeEmptyTable: removeEmptyObject,
  sourceAt: memberSource,
  startOf: memberStart,
  placeOf: memberPlace,
  isBlank: ({ text }) => /^\s*(\{\s*\}\s*)?$/.test(text),
  byHand: renderByHand,
}
