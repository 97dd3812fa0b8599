import type { SettingChange } from '../../edits/types.ts'
import type { Findings } from '../../finding.ts'
import { findingAt } from '../checks/findings.ts'
import type { ClientContext } from '../contract/client.ts'
import { isOwnAddress } from '../files/addresses.ts'
import type { ParsedFile } from '../files/parse-file.ts'
import { providerInUse } from './providers/provider.ts'

/**
 * The new model that the terminal UI offers at its start for an old one, with Yes as the default answer
 * ("Meet GPT-6 Sol"): from the lists in 0.149.1 (GPT-5.4) and 0.169.0 (the others), 2026-11-22.
 */
const offers: Readonly<Record<string, string>> = {
  'gpt-5.4': 'gpt-5.6-terra',
  'gpt-5.4-mini': 'gpt-5.6-luna',
  'gpt-5.5': 'gpt-6-sol',
  'gpt-5.6-sol': 'gpt-6-sol',
  'gpt-5.6-terra': 'gpt-6-sol',
  'gpt-5.6-luna': 'gpt-6-luna',
}

const answersPath = ['notice', 'model_migrations']

/**
 * The arguments for one process, as a value of `-c`. Only a table works: with `notice.model_migrations.ID=…`
 * Codex exits, because it takes the dots of an ID for separators (0.169.0, 2026-11-23).
 */
export function withoutOfferOnce(model: string): readonly string[] {
  const answers = withoutOffer(model).map(
    ({ value }) => `${JSON.stringify(model)}=${JSON.stringify(value)}`,
  )
  return answers.length === 0 ? [] : ['-c', `${answersPath.join('.')}={${answers.join(',')}}`]
}

/** Prevents the offer: Codex does not repeat one that has exactly this answer. */
export function withoutOffer(model: string): readonly SettingChange[] {
  const offered = Object.hasOwn(offers, model) ? offers[model] : undefined
  return offered === undefined ? [] : [{ path: [...answersPath, model], value: offered }]
}

/**
 * Reports an accepted offer: Codex wrote the new model, and every prompt fails if the gateway lacks it.
 * Reports nothing if the last catalog lists the model.
 */
export function* checkMigratedModel(context: ClientContext, config: ParsedFile): Findings {
  const model = config.text(['model'])
  const url = config.text(['model_providers', providerInUse(config)?.id ?? '', 'base_url'])
  if (model === undefined || url === undefined || !isOwnAddress(url, context)) return
  if (context.knownModels.includes(model)) return

  const answers = config.members(answersPath)
  const before = answers.filter(([, offered]) => offered === model).map(([from]) => from)
  const former = before.find((id) => context.knownModels.includes(id)) ?? before[0]
  if (former === undefined) return

  yield findingAt(config, ['model'], {
    code: 'codex-model-migrated',
    message: `You accepted Codex's offer to switch from ${former} to ${model}, and the gateway may not have ${model}`,
    hint: `Set model = ${JSON.stringify(former)}.`,
    becomes: { value: former },
  })
}
