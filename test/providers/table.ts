import type { Shape } from './shape.ts'
import { gateways } from './table/gateways.ts'
import { local } from './table/local.ts'
import { vendors } from './table/vendors.ts'

/** Every provider that is forged, as the page lists them. */
export const table: readonly Shape[] = [...gateways, ...vendors, ...local]
