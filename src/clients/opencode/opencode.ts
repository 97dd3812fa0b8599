import { compact } from '../../compact.ts'
import type { ConfigValue, FileEdit, KeyChange } from '../../edits/plan.ts'
import { UserError } from '../../errors.ts'
import { withLimits } from '../../gateway/models/limits.ts'
import { defaultModel, smallModel, speaks } from '../../gateway/models/rules.ts'
import type { Catalog, CatalogModel } from '../../gateway/types.ts'
import type { Machine } from '../../platform/platform.ts'
import type {
  Choice,
  ClientModule,
  ConfigFile,
  FileText,
  FileTexts,
  Look,
  ModelChoice,
  Origins,
  Settings,
  SetupOptions,
} from '../client.ts'
import { isCodexAuth } from '../codex/auth.ts'
import { checkProviderId, usableProviderId } from '../flags.ts'
import { oneUse, pickModel, renamings, type WindowHabit, windowOf } from '../models.ts'
import { pathsOf } from '../paths.ts'
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
import { mergedConfig, ownFiles, readOpencodeKey, reservedIds } from './config.ts'
import { inTheWay, wrongNow } from './obstacles.ts'
import { forOneRun } from './one-run.ts'
import tested from './tested.json' with { type: 'json' }

const demoFiles = {
  '.config/opencode/opencode.jsonc': `{
  // keys that I got used to
  "keybinds": { "leader": "ctrl+x" },
  "share": "disabled", // never
}
`,
}

/** The provider-config tool. Facts: run against opencode 1.18.33, 2026-11-21. */
export const opencode: ClientModule = {
  binary: {
    command: 'opencode',
    versionArgs: ['--version'],
    testedVersions: testedVersions(tested),
    pingArgs: (prompt) => ['run', prompt],
    // Run with 1.18.33, 2026-11-22.
    authorityVariables: ['NODE_EXTRA_CA_CERTS'],
    pingEnv: {},
  },
  protocol: 'chat',
  restartAdvice: 'Close every running opencode and start it again.',
  files: opencodeFiles,
  checkOptions: ({ providerId }) => checkProviderId(providerId, 'opencode', reservedIds),
  choose: chooseForOpencode,
  plan: (texts, choice) => [planAuth(texts, choice), planConfig(texts, choice)],
  readBack: readBackOpencode,
  origins: originsOfOpencode,
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
  demoFiles,
  forOneRun: (texts, choice, asked) => forOneRun({ texts, choice, asked, keysOf: ourKeys }),
  inTheWay,
  wrongNow,
}

/**
 * What opencode asks of a model whose limit it does not know, in tokens (seen in 1.18.33). A known
 * window needs an output limit beside it; this one changes nothing.
 */
const defaultOutputTokens = 32_000

function opencodeFiles(machine: Machine, look: Look): readonly ConfigFile[] {
  const { join, dirname, named } = pathsOf(machine)
  const { home, cwd } = machine
  // The XDG folders are used on every system, Windows included.
  const config = join(named('XDG_CONFIG_HOME') ?? join(home, '.config'), 'opencode')
  const data = join(named('XDG_DATA_HOME') ?? join(home, '.local', 'share'), 'opencode')
  const inFolder = (folder: string) =>
    ['opencode.json', 'opencode.jsonc'].map((n) => join(folder, n))

  const global = ['config.json', 'opencode.json', 'opencode.jsonc'].map((name) =>
    join(config, name),
  )
  const existing = global.filter((path) => look.exists(path))
  const target =
    named('OPENCODE_CONFIG') ??
    (existing.includes(global[2]!) ? global[2]! : join(config, 'opencode.json'))

  const above: string[] = []
  const dots: string[] = []
  const code: string[] = []
  for (let folder = cwd; ; folder = dirname(folder)) {
    above.unshift(...inFolder(folder))
    dots.unshift(...inFolder(join(folder, '.opencode')))
    if (folder !== home) code.unshift(...codeIn(join(folder, '.opencode'), look, join))
    if (look.exists(join(folder, '.git')) || dirname(folder) === folder) break
  }
  const managed =
    machine.os === 'darwin'
      ? '/Library/Application Support/opencode'
      : machine.os === 'win32'
        ? join(machine.env['ProgramData'] || 'C:\\ProgramData', 'opencode')
        : '/etc/opencode'
  const extra = named('OPENCODE_CONFIG_DIR')
  const layers: readonly (readonly [role: string, paths: readonly string[]])[] = [
    ['lower', existing],
    ['upper', inFolder(join(home, '.opencode'))],
    ['project', [...above, ...dots]],
    ['project-code', code],
    ['upper', extra === undefined ? [] : inFolder(extra)],
    ['managed', inFolder(managed)],
  ]
  const seen = new Set([target])
  return [
    {
      role: 'auth',
      path: join(data, 'auth.json'),
      format: 'json',
      holdsSecret: true,
      use: 'target',
    },
    { role: 'config', path: target, format: 'json', holdsSecret: false, use: 'target' },
    ...layers.flatMap(([role, paths]) =>
      paths
        .filter((path) => look.exists(path) && !seen.has(path) && seen.add(path))
        .map((path) => ({ role, path, format: 'json', holdsSecret: true, use: 'layer' }) as const),
    ),
  ]
}

/** What opencode 1.18.33 runs without a question when it is started in a folder (2026-11-22). */
function codeIn(
  folder: string,
  look: Look,
  join: (...parts: readonly string[]) => string,
): readonly string[] {
  return ['plugin', 'plugins', 'tool'].flatMap((kind) =>
    look
      .entries(join(folder, kind))
      .filter((name) => /\.[jt]s$/.test(name))
      .map((name) => join(folder, kind, name)),
  )
}

/** Without a limit `isOverflow` is never true (packages/opencode/src/session/compaction.ts). */
const windows: WindowHabit = {
  otherwise: 'opencode does not compact its conversations, which end where the window is full',
}

function chooseForOpencode(catalog: Catalog | undefined, options: SetupOptions): ModelChoice {
  const model = pickModel(catalog, options, 'chat')
  const all = catalog?.models.filter((one) => speaks(one, 'chat') !== false) ?? [{ id: model }]
  const offered = all.map(withLimits)
  const { notes, ...limits } = windowOf(catalog, [model], options, windows)
  const small = options.smallModel ?? (catalog && smallModel(catalog)?.id)
  const isOffered = offered.some(({ id }) => id === small)
  // It may be of another provider, of which the catalog says nothing.
  const isLeftAlone = options.isConfigured && options.smallModel !== undefined
  return {
    probeModel: model,
    model,
    // Without one of its own, titles would be asked of whatever opencode thinks is small.
    ...(isLeftAlone ? {} : { smallModel: small !== undefined && isOffered ? small : model }),
    offered,
    ...limits,
    notes: [...renamings(catalog, [options.model], options), ...notes],
  }
}

/** @throws UserError `config-invalid`, `config-conflict` */
function planAuth(texts: FileTexts, choice: Choice): FileEdit {
  const file = fileOf(texts, 'auth')
  if (isCodexAuth(file)) {
    throw new UserError({
      code: 'config-conflict',
      message: `${file.path} holds the login of Codex, which keeps that file for itself`,
      hint: 'Give opencode a folder of its own: XDG_DATA_HOME leads into that of Codex.',
    })
  }
  const edit = editKeys('opencode', file, keyEntry(file, choice), choice.repairs)
  const after = edit.after && readStrictJson(edit.after, { allowsBom: true })
  if (after?.kind === 'refused') {
    throw new UserError({
      code: 'config-invalid',
      message: `opencode would ignore the file without a word: ${brokenText(file.path, after.why)}`,
      hint: 'Correct the file, or let repoint take comments and trailing commas out of it.',
    })
  }
  return edit
}

/** What else stands in an entry with a key stays; a login of another kind is replaced whole. */
function keyEntry(file: FileText, { key, providerId }: Choice): readonly KeyChange[] {
  const now = readFile(file)
  const isOtherLogin =
    now.document?.get([providerId]) !== undefined && textAt(now, [providerId, 'type']) !== 'api'
  if (isOtherLogin) {
    return [{ path: [providerId], value: { type: 'api', key }, isSecret: true, isBound: true }]
  }
  return [
    { path: [providerId, 'type'], value: 'api' },
    { path: [providerId, 'key'], value: key, isSecret: true, isBound: true },
  ]
}

function planConfig(texts: FileTexts, choice: Choice): FileEdit {
  const file = fileOf(texts, 'config')
  return editKeys('opencode', file, ourKeys(file, choice), choice.repairs)
}

function ourKeys(file: FileText, choice: Choice): readonly KeyChange[] {
  const now = readFile(file)
  const { models, providerId: id } = choice
  const provider = ['provider', id]
  const url = textAt(now, [...provider, 'options', 'baseURL'])
  const smallNow = textAt(now, ['small_model'])
  const small =
    models.smallModel === undefined && smallNow?.startsWith(`${id}/`)
      ? smallNow
      : `${id}/${models.smallModel ?? models.model}`
  return [
    ...(textAt(now, ['$schema']) === undefined
      ? [{ path: ['$schema'], value: 'https://opencode.ai/config.json' }]
      : []),
    { path: [...provider, 'npm'], value: '@ai-sdk/openai-compatible', isBound: true },
    ...(textAt(now, [...provider, 'name'])
      ? []
      : [{ path: [...provider, 'name'], value: 'Gateway' }]),
    { path: [...provider, 'options', 'baseURL'], value: choice.root, isBound: true },
    ...modelKeys(
      tableAt(now, [...provider, 'models']) ?? {},
      choice,
      url !== undefined && rootOf(url) !== choice.root,
    ),
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

function originsOfOpencode(texts: FileTexts): Origins {
  const files = ownFiles(texts)
  const { providerId } = readBackOpencode(texts)
  return compact({
    baseUrl: originOf(files, ['provider', providerId ?? '', 'options', 'baseURL']),
    model: originOf(files, ['model']),
    smallModel: originOf(files, ['small_model']),
  })
}

function readBackOpencode(texts: FileTexts): Settings {
  const { value, problem } = mergedConfig(texts)
  const full = typeof value['model'] === 'string' ? value['model'] : undefined
  const slash = full?.indexOf('/') ?? -1
  const providerId = full !== undefined && slash > 0 ? full.slice(0, slash) : undefined
  const providers = value['provider']
  const provider = isTable(providers) && providerId ? providers[providerId] : undefined
  const options = isTable(provider) && isTable(provider['options']) ? provider['options'] : {}
  const url = options['baseURL']
  const small = value['small_model']
  const key = providerId === undefined ? undefined : readOpencodeKey(texts, providerId, options)
  const withoutProvider = (name: string) =>
    providerId && name.startsWith(`${providerId}/`) ? name.slice(providerId.length + 1) : name
  return {
    ...(typeof url === 'string' ? { root: rootOf(url) } : {}),
    ...(full === undefined ? {} : { model: withoutProvider(full) }),
    ...(typeof small === 'string' ? { smallModel: withoutProvider(small) } : {}),
    ...(providerId === undefined ? {} : { providerId }),
    ...(key ?? {}),
    ...(problem === undefined ? {} : { broken: problem }),
  }
}
