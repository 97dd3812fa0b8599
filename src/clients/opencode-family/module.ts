import { compact } from '../../compact.ts'
import { defaultModel, smallModel, speaks } from '../../gateway/models/rules.ts'
import { keyHeaders } from '../../gateway/types.ts'
import { asReasoningEffort, type ClientModule, type Program } from '../client.ts'
import { outputLimitCures, ownValues } from '../flags.ts'
import { readHeaders } from '../headers.ts'
import { numberIn, originOf, rootOf, tableIn, textIn } from '../loaded-files.ts'
import { offeredModels } from '../picker.ts'
import {
  aboutNames,
  effectiveOptions,
  keepsModels,
  oneUse,
  pickModel,
  windowOf,
} from '../resolve.ts'
import { testedVersions } from '../tested.ts'
import { check } from './check.ts'
import { chosenProvider, mergedConfig, ownFiles, providerOf, readKey } from './config.ts'
import { gatewaySettings } from './gateway-settings.ts'
import { launchSettings } from './launch-settings.ts'
import { filesOf, type Layout } from './layout.ts'
import { defaultOutputTokens, effortPath, plan } from './plan.ts'
import { sensitiveSettings } from './sensitive-settings.ts'

/** What a client of this layout has of its own beside it. */
type Own = Pick<ClientModule, 'demoFiles' | 'storedCopies'> & {
  readonly tested: Parameters<typeof testedVersions>[0]
  readonly program: Omit<Program, 'command' | 'testedVersions' | 'restartAdvice'>
}

/** A client of this layout. Facts without a version: run against opencode 1.18.33, 2026-11-21. */
export function clientOf(layout: Layout, { tested, program, ...own }: Own): ClientModule {
  const { id, label, reservedProviderIds, asksForNoLimit, variables, withoutWindow } = layout
  return {
    ...own,
    program: {
      command: id,
      testedVersions: testedVersions(tested),
      // Its screen takes one as a word of its own.
      foldersIn: (args) => [...args, ...ownValues(args, ['--dir'])],
      ...program,
      restartAdvice: `Close every running ${label} and start it again.`,
      // 1.18.34 and Kilo 7.7.9, 2026-11-23.
      resume: {
        command: `${id} run -c`,
        keeps: 'provider and model',
      },
    },
    protocols: ['chat'],
    sends: { headers: true, keyHeaders },
    config: {
      sensitiveSettings,
      folderFiles: layout.folderFiles,
      // Anywhere in its configuration (1.18.33, 2026-11-23).
      // Of `constructor` in its list Kilo makes a fault of its own (7.7.9, 2026-11-23).
      interpolation: {
        names: /\{(?:env|file):|^constructor$/,
        values: /\{(?:env|file):/,
        isInKeys: true,
      },
      reservedProviderIds,
      gatewayVariables: {
        addresses: [`${variables}_CONFIG_CONTENT`],
        others: [`${variables}_AUTH_CONTENT`],
      },
    },
    files: (machine, disk) => filesOf(layout, machine, disk),

    resolve(input) {
      const { catalog } = input.gatewayInfo
      const { smallModel: kept } = effectiveOptions(input)
      const model = pickModel(input, 'chat')
      // What is not in the client's own list it does not send.
      const list = offeredModels(input, model, (one) => speaks(one, 'chat') !== false)
      const { notes, ...limits } = windowOf(input, [model], { otherwise: withoutWindow })
      const small = kept ?? (catalog && smallModel(catalog)?.id)
      const isOffered = list.offered.some(({ id }) => id === small)
      // It may be of another provider, of which the catalog says nothing.
      const isLeftAlone = keepsModels(input) && kept !== undefined
      return {
        probeModel: model,
        model,
        // Without one of its own, titles would be asked of whatever the client thinks is small.
        ...(isLeftAlone ? {} : { smallModel: small !== undefined && isOffered ? small : model }),
        ...list,
        ...limits,
        findings: [...aboutNames(input, [input.requested.model]), ...notes],
      }
    },

    plan: (texts, target) => plan(layout, texts, target),

    /**
     * Seen in opencode 1.2.27 and 1.18.34, Kilo 7.0.33 and 7.7.9, of which the newest was run against refusals
     * of each (2026-11-23). One of its own SDK's models reasons unasked.
     */
    firstRequest(texts, { model }) {
      const { value } = mergedConfig(texts)
      const { table } = providerOf(value, chosenProvider(value))
      const output = numberIn(table, ['models', model, 'limit', 'output']) || defaultOutputTokens
      const effort = textIn(table, ['models', model, ...effortPath])
      const isReasoning = /gpt-5(?!-chat|-pro)/i.test(model)
      return {
        body: {
          max_tokens: asksForNoLimit?.test(model)
            ? undefined
            : Math.min(output, defaultOutputTokens),
          stream_options: { include_usage: true },
          tool_choice: 'auto',
          reasoning_effort: effort ?? (isReasoning ? 'medium' : undefined),
        },
        hints: outputLimitCures,
      }
    },

    read(texts) {
      const { value, problem } = mergedConfig(texts)
      const providerId = chosenProvider(value)
      const { table, options, url } = providerOf(value, providerId)
      const modelIn = (key: 'model' | 'small_model') => {
        const name = value[key]
        if (typeof name !== 'string') return undefined
        const isOfProvider = providerId !== undefined && name.startsWith(`${providerId}/`)
        return isOfProvider ? name.slice(providerId.length + 1) : name
      }
      const model = modelIn('model')
      return compact({
        baseUrl: url === undefined ? undefined : rootOf(url),
        model,
        smallModel: modelIn('small_model'),
        providerId,
        ...(providerId === undefined ? {} : readKey(texts, providerId, options)),
        headers: readHeaders(options['headers']).headers,
        contextWindow: numberIn(table, ['models', model ?? '', 'limit', 'context']),
        reasoningEffort: asReasoningEffort(textIn(table, ['models', model ?? '', ...effortPath])),
        broken: problem,
      })
    },

    gatewaySettings: (texts) => gatewaySettings(layout, texts),

    offeredModels(texts) {
      const { value } = mergedConfig(texts)
      return Object.keys(tableIn(providerOf(value, chosenProvider(value)).table, ['models']))
    },

    sources(texts) {
      const files = ownFiles(texts)
      const providerId = chosenProvider(mergedConfig(texts).value) ?? ''
      return compact({
        baseUrl: originOf(files, ['provider', providerId, 'options', 'baseURL']),
        model: originOf(files, ['model']),
        smallModel: originOf(files, ['small_model']),
      })
    },

    previewModels: (catalog) => [
      ...oneUse(defaultModel(catalog, 'chat')),
      ...oneUse(smallModel(catalog), 'small'),
    ],

    launchSettings: (texts, target, asked) => launchSettings(layout, texts, target, asked),
    check: (context, target) => check(layout, context, target),
  }
}
