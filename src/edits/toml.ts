import type { Dialect } from './dialect.ts'
import { placeOf, sourceAt, startOf } from './toml-find.ts'
import { focusToml } from './toml-focus.ts'
import { parseToml, readToml, type TomlText } from './toml-parse.ts'
import { removeEmptyTable, removeKey } from './toml-remove.ts'
import { renderBlock, toTomlValue } from './toml-render.ts'
import { expandChange, setKey } from './toml-set.ts'

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
