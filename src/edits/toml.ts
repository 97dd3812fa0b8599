import type { Dialect } from './dialect.ts'
import { editWith, readWith } from './edit.ts'
import type { Format } from './format.ts'
import { placeOf, sourceAt, startOf } from './toml-find.ts'
import { focusToml } from './toml-focus.ts'
import { parseToml, readToml, type TomlText } from './toml-parse.ts'
import { removeEmptyTable, removeKey } from './toml-remove.ts'
import { renderBlock, toTomlValue } from './toml-render.ts'
import { expandChange, setKey } from './toml-set.ts'
import { undoWith } from './undo.ts'

export const tomlDialect: Dialect<TomlText> = {
  parse: parseToml,
  read: readToml,
  focus: focusToml,
  expand: expandChange,
  toValue: toTomlValue,
  set: setKey,
  remove: removeKey,
  removeEmptyTable,
  sourceAt,
  startOf,
  placeOf,
  isBlank: (parsed) => parsed.text.trim() === '',
  byHand: (changes) => renderBlock(changes, toTomlValue),
}

/** TOML, edited in place: splices at the spans of one parser, judged by another. */
export const toml: Format = {
  read: (bytes, place) => readWith(tomlDialect, bytes, place),
  edit: (bytes, changes, place) => editWith(tomlDialect, bytes, changes, place),
  undo: (versions, paths, place) => undoWith(tomlDialect, versions, paths, place),
}
