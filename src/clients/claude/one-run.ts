import type { ConfigValue } from '../../edits/plan.ts'
import { UserError } from '../../errors.ts'
import { type Choice, type FileTexts, type OneRun, runKeyVariable } from '../client.ts'
import { editKeys } from '../repairs.ts'
import { fileOf, overlaid } from '../texts.ts'
import { ourKeys } from './choice.ts'
import { names, readRepairedSettings } from './settings.ts'

/** Variables of a shell that would speak for another login, or go along to another address. */
const others = [names.token, names.apiKey, names.baseUrl, names.headers]

/**
 * By `--settings`, which wins over the files of user and project; variables alone lose to `env` of
 * settings.json. What is empty there counts as not set, and the helper's key goes out in both headers.
 * Run with 2.1.330, UI and headless, 2026-11-22.
 *
 * @throws UserError `usage`
 */
export function forOneRun(texts: FileTexts, choice: Choice, { args, env }: OneRun): OneRun {
  if (args.some((arg) => arg === '--settings' || arg.startsWith('--settings=')))
    throw new UserError({
      code: 'usage',
      message: 'Claude Code takes --settings once, and needs it here for the gateway',
      hint: 'Leave --settings out of the command.',
    })

  const file = fileOf(texts, 'settings')
  const settings = readRepairedSettings(file)
  const { changes } = editKeys('', file, ourKeys(settings, choice), choice.repairs)
  const gone = changes.filter(({ value }) => value === undefined)
  const empty = [
    ...gone.flatMap(({ path: [parent, name] }) =>
      parent === 'env' && typeof name === 'string' ? [name] : [],
    ),
    ...others.filter((name) => name !== names.baseUrl && settings.env[name] !== undefined),
    names.token,
  ]
  const overlay: Readonly<Record<string, ConfigValue>> = overlaid({}, [
    ...changes,
    ...empty.map((name) => ({ path: ['env', name], value: '' })),
    { path: ['apiKeyHelper'], value: `printenv ${runKeyVariable}` },
  ])
  return {
    args: ['--settings', JSON.stringify(overlay), ...args],
    env: { ...env, ...Object.fromEntries(others.map((name) => [name, undefined])) },
  }
}
