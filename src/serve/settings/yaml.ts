import { type Document, LineCounter, parseDocument } from 'yaml'
import { UserError } from '../../errors.ts'
import { type DataPath, InvalidData } from '../../schema.ts'

/** The largest file. People write these files by hand. */
export const maxYamlBytes = 4 * 1024 * 1024

/**
 * Parses a JSON or YAML text. The YAML parser accepts both.
 *
 * @param name the name of the file in messages
 * @param read converts the data; may throw InvalidData
 * @throws UserError `config-invalid` with line and column
 */
export function readYaml<Result>(
  text: string,
  name: string,
  read: (data: unknown) => Result,
): Result {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  const [broken] = document.errors
  if (broken !== undefined) throw invalid(broken.message, broken.pos[0])

  try {
    return read(document.toJS())
  } catch (error) {
    if (error instanceof InvalidData) throw invalid(error.message, findOffset(document, error.path))
    // The aliases would expand to too much data.
    if (error instanceof ReferenceError) throw invalid(error.message, undefined)
    throw error
  }

  function invalid(problem: string, offset: number | undefined): UserError {
    const place = offset === undefined ? undefined : lines.linePos(offset)
    const where = place === undefined ? '' : ` (line ${place.line}, column ${place.col})`
    return new UserError({
      code: 'config-invalid',
      message: `Cannot use ${name}: ${problem}${where}`,
      hint: 'Correct that place; docs/gateway.md describes the file.',
    })
  }
}

/** The offset of the deepest part of the path that the file has. */
function findOffset(document: Document, path: DataPath): number | undefined {
  for (let length = path.length; length >= 0; length--) {
    const node = length === 0 ? document.contents : document.getIn(path.slice(0, length), true)
    const range = typeof node === 'object' && node !== null && 'range' in node ? node.range : null
    if (Array.isArray(range)) return range[0]
  }
  return undefined
}
