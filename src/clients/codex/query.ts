import type { ConfigValue, KeyChange, KeyPath } from '../../edits/plan.ts'
import type { QueryParameter } from '../../gateway/types.ts'
import type { Choice } from '../client.ts'
import { isTable } from '../texts.ts'

/** What a `query_params` puts behind every route of its provider. */
export function queryIn(found: ConfigValue | undefined): readonly QueryParameter[] {
  return Object.entries(isTable(found) ? found : {}).flatMap(([name, value]) =>
    typeof value === 'string' ? [{ name, value }] : [],
  )
}

/**
 * The changes of that table, a key each. What belongs to another address, or was written for an earlier
 * setup, goes; the user's own stays.
 *
 * @param isOtherAddress the table stands for another address so far
 */
export function queryKeys(
  path: KeyPath,
  found: ConfigValue | undefined,
  { query = [], formerQueries = [] }: Choice,
  isOtherAddress: boolean,
): readonly KeyChange[] {
  const standing = queryIn(found)
  const isFormer = ({ name, value }: QueryParameter) =>
    formerQueries.some((one) => one.name === name && one.value === value)
  const gone = standing
    .filter(({ name }) => query.every((one) => one.name !== name))
    .filter((one) => isOtherAddress || isFormer(one))

  if (query.length === 0 && gone.length > 0 && gone.length === standing.length)
    return [{ path, value: undefined }]
  return [
    ...gone.map(({ name }) => ({ path: [...path, name], value: undefined })),
    ...query.map(({ name, value }) => ({ path: [...path, name], value })),
  ]
}
