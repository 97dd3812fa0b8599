import { asObject } from '../../gateway/foreign-text.ts'
import { removeVendor } from '../../gateway/models/ids.ts'
import type { FirstRequest } from '../../gateway/types.ts'
import type { LoadedFiles } from '../contract/files.ts'
import type { FirstRequestInput, Recordings } from '../contract/program.ts'
import { fileOf, type ParsedFile, parseKind, textOf } from '../files/parse-file.ts'
import { effortCure } from '../options/flags.ts'
import { recordedRequest } from '../program/recorded-request.ts'
import { isBefore } from '../program/tested.ts'
import { type Entry, entriesIn, entryOf } from './compose-models-file.ts'
import { effortPath, searchPath } from './flags.ts'
import { usesModelsFile } from './models-file.ts'

/** Responses Lite: without a models file, Codex sends its tools to some models in an item of the input. */
const liteParts = ['additional_tools', 'input', 'x-openai-internal-codex-responses-lite']
const liteCure = 'With a catalog, Codex sends ordinary requests. Add --catalog'
const searchCure = 'Turn web search off: {--web-search disabled}'

/**
 * What the model's entry and config.toml change in the recorded request. Codex sends no token limit, and no
 * setting removes `include` (0.105.0 and 0.169.0, 2026-11-23).
 */
export function firstRequest(
  recordings: Recordings,
  files: LoadedFiles,
  { protocol, version, model, printedModels }: FirstRequestInput,
): FirstRequest {
  const config = parseKind(files, 'config')
  // The file that a setup with --catalog writes replaces the models in the program.
  const hasModelsFile = usesModelsFile(files, config)
  const models = hasModelsFile ? textOf(fileOf(files, 'models')) : printedModels
  const entry = entryOf(entriesIn(models), model)
  const kind = kindOf(model, { models, entry, hasModelsFile })
  const { headers, body } = recordedRequest(recordings, { kind, protocol, version })

  return {
    headers: {
      ...headers,
      // Run with 0.171.0, 2026-11-28. 0.169.0 and older ones ask for no encoding, and read none.
      ...(version && !isBefore(version, '0.171.0') && { 'accept-encoding': 'zstd,gzip' }),
    },
    hints: {
      web_search: searchCure,
      ...(config.text(effortPath) !== undefined && { reasoning: effortCure }),
      ...Object.fromEntries(liteParts.map((part) => [part, liteCure])),
    },
    body: {
      ...body,
      ...(Array.isArray(body['tools']) && { tools: toolsFor(body['tools'], config, entry) }),
      reasoning: reasoningFor(body['reasoning'], config, entry),
      text: entry?.['support_verbosity'] === false ? undefined : body['text'],
    },
  }
}

/** Without a list of models, Codex counts as knowing those of its own family. */
function kindOf(
  model: string,
  by: {
    readonly models: string | undefined
    readonly entry: Entry | undefined
    readonly hasModelsFile: boolean
  },
): string {
  if (by.models === undefined) return removeVendor(model).startsWith('gpt-5') ? 'known' : 'unknown'
  if (by.entry === undefined) return 'unknown'
  if (by.hasModelsFile) return 'catalog'
  return by.entry['use_responses_lite'] === true ? 'lite' : 'known'
}

function toolsFor(tools: readonly unknown[], config: ParsedFile, entry: Entry | undefined) {
  const search = config.text(searchPath)
  const isPatching = entry?.['apply_patch_tool_type'] !== null
  return tools.flatMap((tool) => {
    const { type, name } = asObject(tool) ?? {}
    if (type === 'web_search') return search === 'disabled' ? [] : [searchTool(tool, search)]
    return isPatching || name !== 'apply_patch' ? [tool] : []
  })
}

function searchTool(tool: unknown, search: string | undefined): unknown {
  return search === 'live' ? { ...asObject(tool), external_web_access: true } : tool
}

/** The user's effort, or the one that the entry names. */
function reasoningFor(recorded: unknown, config: ParsedFile, entry: Entry | undefined): unknown {
  const named = config.text(effortPath)
  const effort = named ?? entry?.['default_reasoning_level']
  if (typeof effort === 'string') return { ...asObject(recorded), effort }
  if (entry === undefined) return recorded
  const { effort: _, ...others } = asObject(recorded) ?? {}
  return others
}
