import type { Dialect } from './dialect.ts'
import { editWith, readWith } from './edit.ts'
import type { Format } from './format.ts'
import { memberPlace, memberSource, memberStart } from './json-find.ts'
import { focusJson } from './json-focus.ts'
import { type JsonText, parseJson, readJson } from './json-parse.ts'
import { removeEmptyObject, removeMember } from './json-remove.ts'
import { renderByHand, toJsonValue } from './json-render.ts'
import { setMember } from './json-set.ts'
import { undoWith } from './undo.ts'

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

/**
 * JSON and JSONC, edited in place: splices at the spans of one parser, judged by another.
 * Whether a client bears comments and trailing commas is its module's to say: `strictJsonProblem`.
 */
export const json: Format = {
  read: (bytes, place) => readWith(jsonDialect, bytes, place),
  edit: (bytes, changes, place) => editWith(jsonDialect, bytes, changes, place),
  undo: (versions, paths, place) => undoWith(jsonDialect, versions, paths, place),
}
