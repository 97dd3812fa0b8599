import { type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser'
import type { ParsedText } from './dialect.ts'
import { judgeJson, scanJson } from './json-judge.ts'
import { remembering } from './remembering.ts'
import { invalid } from './text.ts'
import { emptyTable, isTable, type Value, type ValueTable } from './values.ts'

/** A JSON or JSONC text with the place of each key. */
export interface JsonText extends ParsedText {
  /** The root object; undefined in a file that holds nothing but blanks and comments. */
  readonly tree: Node | undefined
}

/** @throws UserError `config-invalid` */
export function parseJson(text: string, place: string): JsonText {
  const parsed = readJson(text, place)
  // Refuses what the tree's parser does not take.
  void parsed.tree
  return parsed
}

/**
 * Says what the text means, and builds the tree when it is first asked for: that takes 0.1 s for 1 MB.
 *
 * @throws UserError `config-invalid`; so does the tree, where only its parser refuses the text
 */
export const readJson = remembering((text: string, place: string): JsonText => {
  const judged = judge(text, place)
  let tree: Node | undefined
  return {
    text,
    root: judged ?? emptyTable(),
    get tree() {
      if (judged !== undefined) tree ??= treeOf(text, place)
      return tree
    },
  }
})

function judge(text: string, place: string): ValueTable | undefined {
  // jsonc-parser recurses: only a text that passed the depth limit may reach it.
  const scanned = scanJson(text, place)
  let judged: Value | undefined
  try {
    judged = judgeJson(text, place, scanned)
  } catch (cause) {
    // The tree's parser says where.
    treeOf(text, place)
    throw cause
  }
  if (judged !== undefined && !isTable(judged))
    throw invalid(place, 'its root is not an object', text, treeOf(text, place)?.offset ?? 0)
  return judged
}

function treeOf(text: string, place: string): Node | undefined {
  const errors: ParseError[] = []
  const tree = parseTree(text, errors, { allowTrailingComma: true, allowEmptyContent: true })
  const [error] = errors
  if (error === undefined) return tree
  const reason = printParseErrorCode(error.error).replace(/\B[A-Z]/g, (letter) => ` ${letter}`)
  throw invalid(place, reason.toLowerCase(), text, error.offset)
}
