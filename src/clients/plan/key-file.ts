import type { FileEdit } from '../../edits/types.ts'
import type { ClientName } from '../contract/client.ts'
import type { LoadedFile } from '../contract/files.ts'
import { parseFile } from '../files/parse-file.ts'

/**
 * The edit of a private file with a key and nothing else, whose name stands in the client's configuration.
 *
 * @param key undefined: the file goes, because the key is elsewhere
 * @returns undefined if there is no file, and none is needed
 */
export function planKeyFile(
  client: Pick<ClientName, 'id'>,
  file: LoadedFile,
  key: string | undefined,
): FileEdit | undefined {
  if (key === undefined && file.bytes === null) return undefined
  const isCurrent = key !== undefined && parseFile(file).text(['key']) === key
  const after = key === undefined ? null : new TextEncoder().encode(`${key}\n`)
  return {
    client: client.id,
    path: file.path,
    format: file.format,
    scope: 'whole',
    changes: [{ path: ['key'], value: key, isSecret: true, role: 'key' }],
    before: file.bytes,
    after: isCurrent ? file.bytes : after,
    holdsSecret: true,
  }
}
