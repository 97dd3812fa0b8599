import type { FileTexts } from '../../clients/client.ts'
import { documentOf } from '../../edits/format.ts'
import type { ConfigValue } from '../../edits/plan.ts'
import type { ExtraHeader } from '../../gateway/types.ts'
import type { RecordedFile, Runs } from '../../transaction/record.ts'
import { copyOf } from '../../transaction/state.ts'
import type { Session } from '../screen/session.ts'

/** A header as it stands in a file. */
type Header = Pick<ExtraHeader, 'name' | 'value'>

/** Whether a setup for another gateway has put a header into these files, be that one forgotten by now. */
export function isFromElsewhere(
  { platform }: Session,
  { runs, texts, baseUrl }: Written,
  header: Header,
): boolean {
  const paths = texts.map(({ path }) => path)
  const isWritten = (file: RecordedFile) => {
    const [before, after] = [file.before, file.after].map((version) =>
      documentOf(file, copyOf(platform, version)),
    )

    return file.keys.some((path) => {
      const says = (value: ConfigValue | undefined) => isSaid(header, String(path.at(-1)), value)
      return says(after?.get(path)) && !says(before?.get(path))
    })
  }

  return runs
    .filter((run) => run.undoes === undefined && run.baseUrl !== baseUrl)
    .some(({ files }) => files.some((file) => paths.includes(file.path) && isWritten(file)))
}

export interface Written {
  readonly runs: Runs
  readonly texts: FileTexts
  /** Of the gateway that is set up now. */
  readonly baseUrl: string
}

/** As a member of a table, or as one of the lines of a text, `name: value`. */
function isSaid({ name, value }: Header, at: string, found: ConfigValue | undefined): boolean {
  if (typeof found === 'string') {
    const lines = found.split('\n').map((line) => line.trim().replace(/\s*:\s*/, ': '))
    return (
      (at.toLowerCase() === name && found === value) ||
      lines.some((line) => line.toLowerCase() === `${name}: ${value}`.toLowerCase())
    )
  }
  if (typeof found !== 'object' || found === null) return false
  return Object.entries(found).some(([key, one]) => isSaid({ name, value }, key, one))
}
