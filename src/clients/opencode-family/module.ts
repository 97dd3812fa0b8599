import { smallModel } from '../../gateway/models/rules.ts'
import { otherKeyHeaders, protocols } from '../../gateway/types.ts'
import type { ClientModule, SendingRules } from '../contract/client.ts'
import { catalogIn, type ResolvedOptions, type ResolveInput } from '../contract/setup.ts'
import { originOf, unreadable } from '../files/parse-file.ts'
import { numberIn, tableIn } from '../files/tables.ts'
import { resolveWithPicker } from '../models/picker.ts'
import { protocolsForKey } from '../models/protocols.ts'
import { effectiveOptions, keepsModels } from '../options/chosen-options.ts'
import { readHeaders } from '../plan/headers.ts'
import { readSettingOptions } from '../plan/setting-options.ts'
import { clientFlagValues } from '../program/arguments.ts'
import { testedVersions } from '../program/tested.ts'
import { checkNow, checkSetup } from './check.ts'
import {
  keyFromOf,
  mergedConfig,
  providerIdInUse,
  providerOf,
  readKey,
  userFiles,
} from './config.ts'
import { firstRequest } from './first-request.ts'
import { entryOptions } from './flags.ts'
import { type Fork, filesOf, knownVariables } from './fork.ts'
import { gatewaySettings } from './gateway-settings.ts'
import { launchSettings } from './launch-settings.ts'
import { plan } from './plan.ts'
import { isOneBaseUrl, readProtocol } from './protocols.ts'
import { sensitiveSettings } from './sensitive-settings.ts'

/**
 * The npm packages for responses and messages send nothing if the provider has no key (opencode 1.18.34,
 * 2026-11-26).
 */
const sends: SendingRules = {
  headers: true,
  otherKeyHeaders: { chat: otherKeyHeaders },
  fixedKeyHeader: { messages: 'x-api-key' },
}

/** The options with the model for titles: the user's, or that of a rule, if the client's picker offers it. */
function withSmallModel(input: ResolveInput, resolved: ResolvedOptions): ResolvedOptions {
  const catalog = catalogIn(input.gatewayInfo)
  const { smallModel: chosen } = effectiveOptions(input)
  // The chosen one may belong to another provider, about which this catalog says nothing.
  if (keepsModels(input) && chosen !== undefined) return resolved

  const byRule = chosen === undefined && catalog ? smallModel(catalog) : undefined
  const id = chosen ?? byRule?.id
  const isOffered = resolved.offered.some((model) => model.id === id)
  // Without a small model, the client would request titles from a model that it considers small.
  if (id === undefined || !isOffered) return { ...resolved, smallModel: resolved.model }
  const uses = [...resolved.uses, ...(byRule ? [{ ...byRule, purpose: 'small' }] : [])]
  return { ...resolved, uses, smallModel: id }
}

/**
 * The module that opencode and its forks share. Facts: run with opencode 1.18.33, 2026-11-21 to 2026-11-23,
 * unless a comment says otherwise.
 */
export function clientOf(fork: Fork): ClientModule {
  const { id, label, reservedProviderIds, variables, window } = fork
  return {
    accepts: fork.accepts,
    program: {
      command: id,
      testedVersions: testedVersions(fork.tested),
      // The client's screen takes a folder as a positional argument.
      foldersIn: (args) => [...args, ...clientFlagValues(args, ['--dir'])],
      ...fork.program,
      restartAdvice: `Close every running ${label} and start it again.`,
      // Run with 1.18.34 and Kilo 7.7.9, 2026-11-23.
      resume: {
        command: `${id} run -c`,
        keeps: 'provider and model',
      },
    },
    protocols,
    sends,
    config: {
      sensitiveSettings,
      folderFiles: fork.folderFiles,
      // opencode replaces these texts anywhere in its configuration. Kilo reports a fault if its list contains
      // `constructor` (7.7.9, 2026-11-23).
      interpolation: {
        names: /\{(?:env|file):|^constructor$/,
        values: /\{(?:env|file):/,
        isInSettingNames: true,
      },
      reservedProviderIds,
      gatewayVariables: {
        addresses: [`${variables}_CONFIG_CONTENT`],
        others: [`${variables}_AUTH_CONTENT`],
      },
      variables: knownVariables(fork),
    },

    files: (machine, disk) => filesOf(fork, machine, disk),

    read(files) {
      const { value, problem } = mergedConfig(files)
      const providerId = providerIdInUse(value)
      const provider = providerOf(value, providerId)
      const { table, options } = provider
      const modelIn = (key: 'model' | 'small_model') => {
        const name = value[key]
        if (typeof name !== 'string') return undefined
        const isOfProvider = providerId !== undefined && name.startsWith(`${providerId}/`)
        return isOfProvider ? name.slice(providerId.length + 1) : name
      }
      const model = modelIn('model')
      const { baseUrl, protocol, source } = readProtocol(provider, model)
      const entry = tableIn(table, ['models', model ?? ''])
      const sent = providerId === undefined ? undefined : readKey(files, providerId, options)
      const configFiles = userFiles(files)

      return {
        endpoint: {
          baseUrl,
          key: sent?.key,
          keyFrom: sent === undefined ? keyFromOf(provider) : undefined,
          keyHeader: sent?.keyHeader ?? 'authorization',
          headers: readHeaders(options['headers']).headers,
        },
        options: {
          protocol,
          model,
          smallModel: modelIn('small_model'),
          providerId,
          contextWindow: numberIn(entry, ['limit', 'context']),
          ...readSettingOptions(entryOptions(protocol), entry),
        },
        unsetOptions: source === 'provider' ? ['protocol'] : undefined,
        offered: Object.keys(tableIn(table, ['models'])),
        origins: {
          baseUrl: originOf(configFiles, ['provider', providerId ?? '', 'options', 'baseURL']),
          model: originOf(configFiles, ['model']),
          smallModel: originOf(configFiles, ['small_model']),
          key: sent?.keyPath,
        },
        findings: unreadable(problem),
      }
    },

    checkNow: (context) => checkNow(fork, context),

    resolve(input) {
      const usable = protocolsForKey({ label, protocols, sends }, input)
      const resolved = resolveWithPicker(input, usable, window, isOneBaseUrl)

      return withSmallModel(input, resolved)
    },

    plan: (files, target) => plan(fork, files, target),
    checkSetup: (context, target) => checkSetup(fork, context, target),
    loadRecordings: fork.loadRecordings,
    firstRequest: (recordings, files, input) => firstRequest(fork, recordings, files, input),
    launchSettings: (files, target, process) => launchSettings(fork, files, target, process),
    gatewaySettings: (files) => gatewaySettings(fork, files),
  }
}
