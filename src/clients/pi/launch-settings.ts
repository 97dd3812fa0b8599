import type { LoadedFiles } from '../contract/files.ts'
import { type LaunchSettings, launchKeyVariable, type ProcessToStart } from '../contract/program.ts'
import type { SetupTarget } from '../contract/setup.ts'
import { offeredIn } from '../models/picker.ts'
import { apiOf, membersOf, providerOf } from '../pi-family/providers.ts'
import { newEntry } from '../plan/entries.ts'
import { requiredHeaders } from '../plan/headers.ts'
import { expectUnset, typedFlag } from '../program/arguments.ts'
import { loginOf, providerFormat, readModels } from './config.ts'

/** Holds the values of a run. The extension does not contain them, so its text is the same for every run. */
const providerVariable = 'REPOINT_RUN_PI'
const fileName = 'pi-gateway.mjs'

/** Replaces the provider of models.json for one process. */
const extension = `export default (pi) => {
  const { id, ...provider } = JSON.parse(process.env.${providerVariable})
  pi.registerProvider(id, { ...provider, apiKey: process.env.${launchKeyVariable} })
}
`

/** These commands do not start pi: they manage its packages. */
const commands = ['install', 'remove', 'uninstall', 'update', 'list', 'config']

/**
 * Uses an extension, because no variable or argument sets an address. settings.json stays unchanged: its model and its
 * `enabledModels` lose to the arguments (0.73.1 and 0.87.1, 2026-11-28).
 *
 * @throws UserError `usage`
 */
export function launchSettings(
  files: LoadedFiles,
  target: SetupTarget,
  process: ProcessToStart,
): LaunchSettings {
  const { args, env, tempFolder } = process
  if (commands.some((command) => command === args[0])) return process
  // pi 0.73.1 and 0.87.1 do not know these flags with a value after `=` (2026-11-23).
  expectUnset(
    typedFlag(args, ['--provider', '--api-key']),
    (flag) => `${flag} chooses another provider, and repoint needs the one with the gateway`,
  )

  const headers = Object.fromEntries(
    requiredHeaders(target).map(({ name, value }) => [name, value]),
  )
  const { model } = target.resolved
  const id = runProviderId(files, target.providerId)
  const provider = { id, ...providerFor(target), headers }
  return {
    args: ['-e', `${tempFolder}/${fileName}`, '--provider', id, '--model', model, ...args],
    env: { ...env, [providerVariable]: JSON.stringify(provider) },
    files: { [fileName]: extension },
  }
}

/** An extension must set all that models.json may leave out. The values are the defaults of pi. */
function providerFor(target: SetupTarget) {
  const { baseUrl, resolved } = target
  const protocol = resolved.protocol
  return {
    baseUrl,
    api: apiOf[protocol],
    authHeader: protocol === 'messages',
    models: offeredIn(resolved).map((model) => ({
      name: model.displayName ?? model.id,
      reasoning: false,
      input: ['text'],
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
      contextWindow: 128_000,
      maxTokens: 16_384,
      ...newEntry(membersOf(providerFormat, model, target)),
    })),
  }
}

/**
 * The provider that the extension registers: the one in use, or `repoint-run` if its files give it a login,
 * headers or overrides of models. pi would use them at the new address too.
 */
function runProviderId(files: LoadedFiles, id: string): string {
  const { table, models } = providerOf(providerFormat, readModels(files), id)
  const hasHeaders = [table, ...models].some(({ headers }) => headers !== undefined)
  const hasOverrides = table['modelOverrides'] !== undefined
  const hasLogin = loginOf(files, id) !== undefined
  return hasHeaders || hasOverrides || hasLogin ? 'repoint-run' : id
}
