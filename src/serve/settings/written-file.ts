import { UserError } from '../../errors.ts'
import { Misfit, type Path } from './check.ts'

/** A person writes these files; nobody writes more than this. */
export const maxWrittenBytes = 4 * 1024 * 1024

/**
 * Reads a JSON or YAML text, which is one language here, and checks it.
 *
 * @param name what the file is called in messages
 * @param read checks the data and makes something of it; may throw Misfit
 * @throws UserError `config-invalid` with line and column
 */
export async function readWritten<Result>(
  text: string,
  name: string,
  read: (data: unknown) => Result,
): Promise<Result> {
  // Loaded only when there is a file to read.
  const { LineCounter, parseDocument } = await import('yaml')
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  const invalid = (problem: string, offset: number | undefined) => {
    const place = offset === undefined ? undefined : lines.linePos(offset)
    const where = place === undefined ? '' : ` (line ${place.line}, column ${place.col})`
    return new UserError({
      code: 'config-invalid',
      message: `Cannot use ${name}: ${problem}${where}`,
      hint: 'Correct that place; docs/gateway.md describes the file.',
    })
  }
  const [broken] = document.errors
  if (broken !== undefined) throw invalid(broken.message, broken.pos[0])
  try {
    return read(document.toJS())
  } catch (error) {
    if (!(error instanceof Misfit)) throw error
    throw invalid(error.message, offsetOf(error.path))
  }

  /** Where the deepest part of a path begins that the file has. */
  function offsetOf(path: Path): number | undefined {
    for (let length = path.length; length >= 0; length--) {
      const node = length === 0 ? document.contents : document.getIn(path.slice(0, length), true)
      const range = typeof node === 'object' && node !== null && 'range' in node ? node.range : null
      if (Array.isArray(range)) return range[0]
    }
    return undefined
  }
}
