import type { ConfigValue } from '../../edits/plan.ts'
import { type Choice, type FileTexts, type OneRun, runKeyVariable } from '../client.ts'
import { fileOf, readFile, tableAt, textAt } from '../texts.ts'

/** What in a table would go along to another address, or speak against our key. */
const ownToTable = ['auth', 'http_headers', 'env_http_headers', 'query_params']

/**
 * By `-c`. `env_key` wins over auth.json, over `CODEX_API_KEY` and over the bearer of the file. Under
 * the provider id that is configured, recorded conversations go there too, and later back again; and
 * `openai_base_url` stays what it is, since with it the key of auth.json would go along. Run with exec
 * on 0.98.0 to 0.169.0, and with the UI on 0.169.0, 2026-11-22.
 */
export function forOneRun(texts: FileTexts, choice: Choice, { args, env }: OneRun): OneRun {
  const config = readFile(fileOf(texts, 'config'))
  const { models } = choice
  const table = tableAt(config, ['model_providers', choice.providerId]) ?? {}
  const isPlain = ownToTable.every((name) => table[name] === undefined)
  const id = isPlain ? choice.providerId : 'repoint-run'
  const excluded = tableAt(config, ['shell_environment_policy'])?.['exclude']

  const settings: readonly (readonly [path: string, value: ConfigValue])[] = [
    ['model_provider', id],
    [`model_providers.${id}.name`, 'Gateway'],
    [`model_providers.${id}.base_url`, choice.root],
    [`model_providers.${id}.wire_api`, 'responses'],
    [`model_providers.${id}.env_key`, runKeyVariable],
    [`model_providers.${id}.requires_openai_auth`, false],
    [`model_providers.${id}.supports_websockets`, false],
    // Without it the model's shell could print the key.
    [
      'shell_environment_policy.exclude',
      [...(Array.isArray(excluded) ? excluded : []), runKeyVariable],
    ],
    // What is right already may come from a profile of the user's.
    ...(textAt(config, ['model']) === models.model ? [] : [['model', models.model] as const]),
    ...(models.contextWindow === undefined
      ? []
      : [['model_context_window', models.contextWindow] as const]),
  ]
  // As JSON, which is TOML too for text, numbers, truth values and lists of them.
  const flags = settings.flatMap(([path, value]) => ['-c', `${path}=${JSON.stringify(value)}`])
  return { args: [...flags, ...args], env: { ...env, CODEX_API_KEY: undefined } }
}
