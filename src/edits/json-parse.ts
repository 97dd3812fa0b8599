import { type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser'
import type { ParsedText } from './dialect.ts'
import { judgeJson, scanJson } from './json-judge.ts'
import { remembering } from './remembering.ts'
import { invalid } from './text.ts'
import { emptyTable, isTable } from './values.ts'

/** A JSON or JSONC text with the place of each key. */
export interface JsonText extends ParsedText {
  /** The root object; undefined in a file that holds nothing but blanks and comments. */
  readonly tree: Node | undefined
}

/** @throws UserError `config-invalid` */
export const parseJson = remembering((text: string, place: string): JsonText => {
  // jsonc-parser recurses: only a text that passed the depth limit may reach it.
  const scanned = scanJson(text, place)
  const errors: ParseError[] = []
  const tree = parseTree(text, errors, { allowTrailingComma: true, allowEmptyContent: true })
  const [error] = errors
  if (error) {
    const reason = printParseErrorCode(error.error).replace(/\B[A-Z]/g, (letter) => ` ${letter}`)
    throw invalid(place, reason.toLowerCase(), text, error.offset)
  }
  const judged = judgeJson(text, place, scanned)
  if (judged === undefined || tree === undefined)
    return { text, root: emptyTable(), tree: undefined }
  if (!isTable(judged)) throw invalid(place, 'its root is not an object', text, tree.offset)
  return { text, root: judged, tree }
})
