import type { LoadedFiles } from '../../contract/files.ts'
import { type ParsedFile, parseKind, parseLayers } from '../../files/parse-file.ts'
import { merged, type Table } from '../../files/tables.ts'

/** The files that Codex merges in one of its starts, and the settings that follow. */
export interface LayerStack {
  readonly settings: Table
  /** The administrator's defaults and config.toml, weakest first. */
  readonly below: readonly ParsedFile[]
  /** The files that override config.toml: a profile, and what the administrator manages. */
  readonly above: readonly ParsedFile[]
}

/**
 * Merges the layers without a profile, then with each profile: Codex uses at most one at a time.
 *
 * @param planned what a setup is about to write into config.toml
 */
export function layerStacks(files: LoadedFiles, planned: Table = {}): readonly LayerStack[] {
  const below = [...parseLayers(files, 'system'), parseKind(files, 'config')]
  const managed = parseLayers(files, 'managed')
  const profiles = parseLayers(files, 'profile').map((profile) => [profile])

  return [[], ...profiles].map((profile) => {
    const above = [...profile, ...managed]
    const tables = [...tablesOf(below), planned, ...tablesOf(above)]
    return { settings: tables.reduce(merged, {}), below, above }
  })
}

function tablesOf(files: readonly ParsedFile[]): readonly Table[] {
  return files.map((file) => file.table([]) ?? {})
}
