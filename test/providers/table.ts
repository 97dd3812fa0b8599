import type { Shape } from './shape.ts'
import { gateways } from './table/gateways.ts'
import { local } from './table/local.ts'
import { vendors } from './table/vendors.ts'

/** Every forged provider, in the order of docs/providers.md. */
export const table: readonly Shape[] = [...gateways, ...vendors, ...local]
