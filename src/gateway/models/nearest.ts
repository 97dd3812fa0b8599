import { nearestTo } from '../../text.ts'
import type { Catalog } from '../types.ts'
import { isChatModel, withoutVendor } from './rules.ts'

/** The ids of the catalog that look most like `asked`: at most `count`, the likest first. */
export function nearestModels(asked: string, catalog: Catalog, count = 3): readonly string[] {
  const ids = catalog.models.filter(isChatModel).map(({ id }) => id)
  return nearestTo(asked, ids, withoutVendor).slice(0, count)
}
