import type { CatalogModel } from '../types.ts'
import { withoutVendor } from './rules.ts'

type Limits = Required<Pick<CatalogModel, 'contextWindow' | 'maxOutputTokens'>>

/**
 * Where a catalog says nothing: what the service says of its flagship. opencode 1.18.33 has the same
 * in its own table (2026-11-22).
 */
const flagship: Limits = { contextWindow: 1_050_000, maxOutputTokens: 128_000 }

/** A model with the limits that are known of it. What the gateway says counts. */
export function withLimits(model: CatalogModel): CatalogModel {
  const isFlagship = /^gpt-5\.6-sol(?:-[\d-]+)?$/i.test(withoutVendor(model.id))
  return isFlagship && model.contextWindow === undefined ? { ...flagship, ...model } : model
}
