import type { Dialect } from './dialect.ts'
import { editWith, readWith, spellingWith } from './edit.ts'
import type { Format } from './format.ts'
import { memberPlace, memberSource, memberStart } from './json-find.ts'
import { type JsonText, parseJson } from './json-parse.ts'
import { removeEmptyObject, removeMember } from './json-remove.ts'
import { renderByHand, toJsonValue } from './json-render.ts'
import { setMember } from './json-set.ts'
import { undoWith } from './undo.ts'

const dialect: Dialect<JsonText> = {
  parse: parseJson,
  read: parseJson,
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
  read: (bytes, place) => readWith(dialect, bytes, place),
  edit: (bytes, changes, place) => editWith(dialect, bytes, changes, place),
  undo: (versions, paths, place) => undoWith(dialect, versions, paths, place),
  spelling: (bytes, path, place) => spellingWith(dialect, bytes, path, place),
}
