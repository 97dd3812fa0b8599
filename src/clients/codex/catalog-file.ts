import type { FileEdit } from '../../edits/plan.ts'
import { UserError } from '../../errors.ts'
import type { Choice, FileTexts, Obstacles, Scene } from '../client.ts'
import { obstacleAt } from '../obstacles.ts'
import { fileOf, type ReadFile, readRole } from '../texts.ts'
import { entriesIn, isForAll } from './catalog.ts'

/**
 * Codex reads its models from the file that `model_catalog_json` names, in the place of its own table.
 * A file that is missing, cut or of another form ends it at its start; versions before 0.105.0 do not
 * look at it. Run on 0.98.0 to 0.169.0, 2026-11-23.
 */
const catalogPath = ['model_catalog_json']

/** Before config.toml names the file it is there; it goes after that. Absent: it stays as it is. */
export function planCatalog(texts: FileTexts, choice: Choice): FileEdit | undefined {
  const { path, bytes } = fileOf(texts, 'catalog')
  const { catalog } = choice.models
  if (choice.wanted.named.ownCatalog && catalog === undefined)
    throw new UserError({
      code: 'client-failed',
      message: '--catalog needs the list of models that Codex prints, and this Codex prints none',
      hint: 'Install Codex 0.122.0 or newer, or leave --catalog out.',
    })

  if (catalog === undefined && (bytes === null || !dropsCatalog(choice))) return undefined

  return {
    client: 'codex',
    path,
    format: 'json',
    scope: 'whole',
    changes: [{ path: ['models'], value: catalog?.ids }],
    before: bytes,
    after: catalog ? new TextEncoder().encode(catalog.text) : null,
    holdsSecret: false,
  }
}

function dropsCatalog({ wanted: { named, isAnew = false } }: Choice): boolean {
  return named.ownCatalog === false || isAnew
}

/** What config.toml says of it. A file of the user's own stays named. */
export function catalogKeys(texts: FileTexts, config: ReadFile, choice: Choice) {
  const { path } = fileOf(texts, 'catalog')
  if (choice.models.catalog) return [{ path: catalogPath, value: path }]
  const isDropped = namesCatalog(texts, config) && dropsCatalog(choice)
  return isDropped ? [{ path: catalogPath, value: undefined }] : []
}

/** Whether Codex reads the file that a setup writes. */
export function namesCatalog(texts: FileTexts, config: ReadFile): boolean {
  return config.text(catalogPath) === fileOf(texts, 'catalog').path
}

/** What ends Codex, or some of its versions, at the start. */
export function* catalogFaults(texts: FileTexts, config: ReadFile): Obstacles {
  if (!namesCatalog(texts, config)) return
  const { path, bytes } = fileOf(texts, 'catalog')
  const entries = entriesIn(bytes === null ? undefined : new TextDecoder().decode(bytes))
  const misfit = entries.find((one) => !isForAll(one))

  const why =
    bytes === null
      ? 'is not there: Codex does not start'
      : entries.length === 0
        ? 'is no catalog of models: Codex does not start'
        : misfit &&
          `describes ${misfit.slug} in a form that Codex 0.105.0 to 0.146.0 do not start with`
  if (why === undefined) return

  yield obstacleAt(config, catalogPath, {
    code: 'codex-catalog',
    message: `${path}, which model_catalog_json names, ${why}`,
    cure: 'Write the catalog anew: repoint codex --catalog',
    becomes: { value: undefined },
    covers: 'broken',
  })
}

/** A setup is about to name its own file in the place of another. */
export function* otherCatalog(texts: FileTexts, config: ReadFile, choice: Choice): Obstacles {
  const named = config.get(catalogPath)
  if (choice.models.catalog === undefined || named === undefined) return
  if (namesCatalog(texts, config)) return
  yield obstacleAt(config, catalogPath, {
    code: 'codex-other-catalog',
    message: `model_catalog_json already names ${JSON.stringify(named)}`,
    cure: 'To keep it, leave --catalog out.',
    needsConsent: `model_catalog_json will name another file than ${JSON.stringify(named)}; rollback brings it back.`,
    weight: 'may-block',
  })
}

/** The models in the file of a setup. */
export function offersOfCodex(texts: FileTexts): readonly string[] {
  const { bytes } = fileOf(texts, 'catalog')
  const isRead = bytes !== null && namesCatalog(texts, readRole(texts, 'config'))
  return isRead ? entriesIn(new TextDecoder().decode(bytes)).map(({ slug }) => slug) : []
}

/** The model was chosen elsewhere since: Codex guesses what it is, and warns. */
export function* staleCatalog({ texts }: Scene, config: ReadFile): Obstacles {
  const model = config.text(['model'])
  const ids = offersOfCodex(texts)
  if (model === undefined || ids.length === 0 || ids.includes(model)) return

  yield {
    code: 'codex-catalog-stale',
    message: `Codex's catalog does not describe ${model}, which Codex uses`,
    place: fileOf(texts, 'catalog').path,
    cure: 'Write the catalog anew: repoint codex',
    weight: 'may-block',
  }
}
