import type { ConfigValue } from '../../edits/plan.ts'
import { UserError } from '../../errors.ts'
import { type Choice, type FileTexts, type OneRun, runKeyVariable } from '../client.ts'
import { editKeys } from '../repairs.ts'
import { fileOf, overlaid } from '../texts.ts'
import { ourKeys } from './choice.ts'
import { customHeaders } from './headers.ts'
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
  const { headers = [] } = choice
  const standing = settings.env[names.headers]
  const isSaid = headers.length > 0 && customHeaders(standing, choice, false) === standing
  if (headers.length > 0 && standing !== undefined && !isSaid)
    throw new UserError({
      code: 'usage',
      message: `${names.headers} in ${settings.path} wins over the headers of this gateway`,
      hint: 'Point Claude Code at the gateway itself: repoint use NAME claude.',
    })

  // Arguments are seen by every user of the machine: what is secret stands in variables.
  const open = { ...choice, headers: [], keyHeader: undefined }
  const { changes } = editKeys('', file, ourKeys(settings, open), choice.repairs)
  const gone = changes.filter(({ value }) => value === undefined)
  const empty = [
    ...gone.flatMap(({ path: [parent, name] }) =>
      parent === 'env' && typeof name === 'string' ? [name] : [],
    ),
    ...others
      .filter((name) => name !== names.baseUrl && !(isSaid && name === names.headers))
      .filter((name) => settings.env[name] !== undefined),
    names.token,
  ]
  const overlay: Readonly<Record<string, ConfigValue>> = overlaid({}, [
    ...changes,
    ...empty.map((name) => ({ path: ['env', name], value: '' })),
    { path: ['apiKeyHelper'], value: `printenv ${runKeyVariable}` },
  ])
  return {
    args: ['--settings', JSON.stringify(overlay), ...args],
    env: {
      ...env,
      ...Object.fromEntries(others.map((name) => [name, undefined])),
      ...(headers.length > 0 ? { [names.headers]: customHeaders(undefined, choice, false) } : {}),
    },
  }
}
