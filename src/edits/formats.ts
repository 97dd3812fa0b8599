import type { Format } from './format.ts'
import { json } from './json.ts'
import type { FileEdit } from './plan.ts'
import { toml } from './toml.ts'

export function formatOf(format: FileEdit['format']): Format {
  return format === 'toml' ? toml : json
}
