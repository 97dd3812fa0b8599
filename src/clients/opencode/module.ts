import { compact } from '../../compact.ts'
import type { ConfigValue, FileEdit, KeyChange } from '../../edits/plan.ts'
import { UserError } from '../../errors.ts'
import { withLimits } from '../../gateway/models/catalog.ts'
import { defaultModel, smallModel, speaks } from '../../gateway/models/rules.ts'
import { type Catalog, type CatalogModel, keyHeaders } from '../../gateway/types.ts'
import type {
  BinaryCheck,
  Choice,
  ClientModule,
  FileText,
  FileTexts,
  ModelChoice,
  Origins,
  Settings,
  SetupOptions,
} from '../client.ts'
import { isCodexAuth } from '../codex/auth.ts'
import { checkProviderId, usableProviderId } from '../flags.ts'
import { headerKeys, readHeaders } from '../headers.ts'
import { aboutNames, oneUse, pickModel, windowOf } from '../models.ts'
import { editKeys } from '../repairs.ts'
import { readStrictJson } from '../strict-json.ts'
import { testedVersions } from '../tested.ts'
import {
  brokenText,
  fileOf,
  isTable,
  originOf,
  readFile,
  rootOf,
  tableAt,
  textAt,
} from '../texts.ts'
import { mergedConfig, ownFiles, readKey } from './config.ts'
import { filesOf, type Layout } from './layout.ts'
import { inTheWay, wrongNow } from './obstacles.ts'
import { forOneRun } from './one-run.ts'

/** What a client of this layout has of its own beside it. */
type Own = Pick<ClientModule, 'demoFiles' | 'leftRunning'> & {
  readonly tested: Parameters<typeof testedVersions>[0]
  readonly binary: Pick<BinaryCheck, 'pingArgs' | 'pingEnv' | 'authorityVariables'>
}

/** A client of this layout. Facts without a version: run against opencode 1.18.33, 2026-11-21. */
export function clientOf(layout: Layout, { tested, binary, ...own }: Own): ClientModule {
  const { id, label, reservedIds } = layout
  return {
    ...own,
    binary: {
      command: id,
      versionArgs: ['--version'],
      testedVersions: testedVersions(tested),
      ...binary,
    },
    protocol: 'chat',
    sends: { headers: true, keyHeaders },
    restartAdvice: `Close every running ${label} and start it again.`,
    files: (machine, look) => filesOf(layout, machine, look),
    checkOptions: ({ providerId }) => checkProviderId(providerId, label, reservedIds),
    choose: (catalog, options) => choose(layout, catalog, options),
    plan: (texts, choice) => [planAuth(layout, texts, choice), planConfig(layout, texts, choice)],
    readBack,
    origins,
    asConfigured: ({ model, smallModel, providerId }) => ({
      model,
      smallModel,
      providerId: usableProviderId(providerId, reservedIds),
      isConfigured: true,
    }),
    wouldUse: (catalog) => [
      ...oneUse(defaultModel(catalog, 'chat')),
      ...oneUse(smallModel(catalog), 'small'),
    ],
    forOneRun: (texts, choice, asked) =>
      forOneRun({
        layout,
        texts,
        choice,
        asked,
        keysOf: (file, one) => ourKeys(layout, file, one),
      }),
    inTheWay: (scene, choice) => inTheWay(layout, scene, choice),
    wrongNow: (scene) => wrongNow(layout, scene),
  }
}

/**
 * What the client asks of a model whose limit it does not know, in tokens (seen in 1.18.33). A known
 * window needs an output limit beside it; this one changes nothing.
 */
const defaultOutputTokens = 32_000

function choose(
  { withoutWindow }: Layout,
  catalog: Catalog | undefined,
  options: SetupOptions,
): ModelChoice {
  const model = pickModel(catalog, options, 'chat')
  const listed = catalog?.models.filter((one) => speaks(one, 'chat') !== false) ?? []
  // What is not in the client's own list it does not send.
  const all = listed.some(({ id }) => id === model) ? listed : [...listed, { id: model }]
  const offered = all.map(withLimits)
  const { notes, ...limits } = windowOf(catalog, [model], options, { otherwise: withoutWindow })
  const small = options.smallModel ?? (catalog && smallModel(catalog)?.id)
  const isOffered = offered.some(({ id }) => id === small)
  // It may be of another provider, of which the catalog says nothing.
  const isLeftAlone = options.isConfigured && options.smallModel !== undefined
  return {
    probeModel: model,
    model,
    // Without one of its own, titles would be asked of whatever the client thinks is small.
    ...(isLeftAlone ? {} : { smallModel: small !== undefined && isOffered ? small : model }),
    offered,
    ...limits,
    notes: [...aboutNames(catalog, [options.model], options), ...notes],
  }
}

/** @throws UserError `config-invalid`, `config-conflict` */
function planAuth({ id, label }: Layout, texts: FileTexts, choice: Choice): FileEdit {
  const file = fileOf(texts, 'auth')
  if (isCodexAuth(file)) {
    throw new UserError({
      code: 'config-conflict',
      message: `${file.path} holds the login of Codex, which keeps that file for itself`,
      hint: `Give ${label} a folder of its own: XDG_DATA_HOME leads into that of Codex.`,
    })
  }
  const edit = editKeys(id, file, keyEntry(file, choice), choice.repairs)
  const after = edit.after && readStrictJson(edit.after, { allowsBom: true })
  if (after?.kind === 'refused') {
    throw new UserError({
      code: 'config-invalid',
      message: `${label} would ignore the file without a word: ${brokenText(file.path, after.why)}`,
      hint: 'Correct the file, or let repoint take comments and trailing commas out of it.',
    })
  }
  return edit
}

/** What else stands in an entry with a key stays; a login of another kind is replaced whole. */
function keyEntry(file: FileText, { key, keyHeader, providerId }: Choice): readonly KeyChange[] {
  const now = readFile(file)
  const hasEntry = now.document?.get([providerId]) !== undefined
  // With an entry `authorization: Bearer` goes out as well (1.18.33, 2026-11-22).
  if (keyHeader !== undefined)
    return hasEntry ? [{ path: [providerId], value: undefined, isSecret: true, isBound: true }] : []

  const isOtherLogin = hasEntry && textAt(now, [providerId, 'type']) !== 'api'
  if (isOtherLogin) {
    return [{ path: [providerId], value: { type: 'api', key }, isSecret: true, isBound: true }]
  }
  return [
    { path: [providerId, 'type'], value: 'api' },
    { path: [providerId, 'key'], value: key, isSecret: true, isBound: true },
  ]
}

function planConfig(layout: Layout, texts: FileTexts, choice: Choice): FileEdit {
  const file = fileOf(texts, 'config')
  return editKeys(layout.id, file, ourKeys(layout, file, choice), choice.repairs)
}

/** @throws UserError `usage` for a header of which something else would be sent */
function ourKeys({ schema, label }: Layout, file: FileText, choice: Choice): readonly KeyChange[] {
  const replaced = choice.headers?.find(({ value }) => /\{(?:env|file):/.test(value))
  if (replaced !== undefined)
    throw new UserError({
      code: 'usage',
      message: `${label} would put something else in the place of {env:…} or {file:…} in the header ${replaced.name}`,
      hint: 'Give the header another value.',
    })

  const now = readFile(file)
  const { models, providerId: id } = choice
  const provider = ['provider', id]
  const url = textAt(now, [...provider, 'options', 'baseURL'])
  const isOtherGateway = url !== undefined && rootOf(url) !== choice.root
  const headers = [...provider, 'options', 'headers']
  const smallNow = textAt(now, ['small_model'])
  const small =
    models.smallModel === undefined && smallNow?.startsWith(`${id}/`)
      ? smallNow
      : `${id}/${models.smallModel ?? models.model}`
  return [
    ...(textAt(now, ['$schema']) === undefined ? [{ path: ['$schema'], value: schema }] : []),
    { path: [...provider, 'npm'], value: '@ai-sdk/openai-compatible', isBound: true },
    ...(textAt(now, [...provider, 'name'])
      ? []
      : [{ path: [...provider, 'name'], value: 'Gateway' }]),
    { path: [...provider, 'options', 'baseURL'], value: choice.root, isBound: true },
    ...headerKeys(headers, now.document?.get(headers), choice, isOtherGateway),
    ...modelKeys(tableAt(now, [...provider, 'models']) ?? {}, choice, isOtherGateway),
    { path: ['model'], value: `${id}/${models.model}` },
    { path: ['small_model'], value: small },
  ]
}

/**
 * What the list of models becomes. An entry that is there keeps what someone wrote into it; the
 * entries of another gateway go.
 */
function modelKeys(
  now: { readonly [id: string]: ConfigValue },
  choice: Choice,
  isOtherGateway: boolean,
): readonly KeyChange[] {
  const list = ['provider', choice.providerId, 'models']
  const offered = choice.models.offered ?? [{ id: choice.models.model }]
  const gone = isOtherGateway
    ? Object.keys(now).filter((id) => !offered.some((model) => model.id === id))
    : []
  return [
    ...gone.map((id) => ({ path: [...list, id], value: undefined })),
    ...offered.flatMap((model): KeyChange[] => {
      const entry = now[model.id]
      const limit = limitOf(model, choice)
      if (!isTable(entry)) {
        const name = model.displayName
        return [
          {
            path: [...list, model.id],
            value: { ...(name ? { name } : {}), ...(limit && { limit }) },
          },
        ]
      }
      const isGiven = choice.options.contextWindow !== undefined && model.id === choice.models.model
      return limit && (entry['limit'] === undefined || isGiven || isOtherGateway)
        ? [{ path: [...list, model.id, 'limit'], value: limit }]
        : []
    }),
  ]
}

function limitOf(
  model: CatalogModel,
  choice: Choice,
): { readonly context: number; readonly output: number } | undefined {
  const { models } = choice
  const context =
    (model.id === models.model ? models.contextWindow : undefined) ?? model.contextWindow
  if (context === undefined) return undefined
  return { context, output: Math.min(model.maxOutputTokens ?? defaultOutputTokens, context) }
}

function origins(texts: FileTexts): Origins {
  const files = ownFiles(texts)
  const { providerId } = readBack(texts)
  return compact({
    baseUrl: originOf(files, ['provider', providerId ?? '', 'options', 'baseURL']),
    model: originOf(files, ['model']),
    smallModel: originOf(files, ['small_model']),
  })
}

function readBack(texts: FileTexts): Settings {
  const { value, problem } = mergedConfig(texts)
  const full = typeof value['model'] === 'string' ? value['model'] : undefined
  const slash = full?.indexOf('/') ?? -1
  const providerId = full !== undefined && slash > 0 ? full.slice(0, slash) : undefined
  const providers = value['provider']
  const provider = isTable(providers) && providerId ? providers[providerId] : undefined
  const options = isTable(provider) && isTable(provider['options']) ? provider['options'] : {}
  const url = options['baseURL']
  const small = value['small_model']
  const key = providerId === undefined ? undefined : readKey(texts, providerId, options)
  const { headers } = readHeaders(options['headers'])
  const withoutProvider = (name: string) =>
    providerId && name.startsWith(`${providerId}/`) ? name.slice(providerId.length + 1) : name
  return {
    ...(typeof url === 'string' ? { root: rootOf(url) } : {}),
    ...(full === undefined ? {} : { model: withoutProvider(full) }),
    ...(typeof small === 'string' ? { smallModel: withoutProvider(small) } : {}),
    ...(providerId === undefined ? {} : { providerId }),
    ...(key ?? {}),
    ...(headers.length === 0 ? {} : { headers }),
    ...(problem === undefined ? {} : { broken: problem }),
  }
}
