import { compact } from '../../compact.ts'
import type { ConfigValue, FileEdit, KeyChange } from '../../edits/plan.ts'
import { UserError } from '../../errors.ts'
import { withLimits } from '../../gateway/models/limits.ts'
import { speaks } from '../../gateway/models/rules.ts'
import type { Catalog, CatalogModel, ProtocolName } from '../../gateway/types.ts'
import type { Machine } from '../../platform/platform.ts'
import {
  type Choice,
  type ClientModule,
  type ConfigFile,
  type FileText,
  type FileTexts,
  type Look,
  type ModelChoice,
  type Origins,
  protocolOf,
  type Settings,
  type SetupOptions,
} from '../client.ts'
import { checkProviderId, usableProviderId } from '../flags.ts'
import { chooseOneModel, oneUse, type WindowHabit } from '../models.ts'
import { pathsOf } from '../paths.ts'
import { editKeys } from '../repairs.ts'
import { testedVersions } from '../tested.ts'
import { brokenText, fileOf, layersOf, readFile, rootOf } from '../texts.ts'
import {
  apiOf,
  isLiteralKey,
  loginOf,
  modelOf,
  modelPath,
  type PiFile,
  type PiProvider,
  providerOf,
  providerPath,
  readAuth,
  readModels,
  readPiKey,
  readSettings,
  reservedIds,
  startsWith,
} from './config.ts'
import { inTheWay, wrongNow } from './obstacles.ts'
import { bestProtocol, chosenByRules } from './protocol.ts'
import tested from './tested.json' with { type: 'json' }

const demoFiles = {
  '.pi/agent/models.json': `{
  "providers": {
    // on the machine under my desk
    "ollama": {
      "baseUrl": "http://localhost:11434/v1",
      "api": "openai-completions",
      "apiKey": "ollama",
      "models": [{ "id": "qwen2.5-coder:7b" }],
    },
  },
}
`,
  '.pi/agent/settings.json': `{
  "theme": "dark",
  "defaultThinkingLevel": "low"
}
`,
}

/** pi. Facts: run against 0.60.0, 0.73.1 and 0.87.1, 2026-11-22. */
export const pi: ClientModule = {
  binary: {
    command: 'pi',
    versionArgs: ['--version'],
    testedVersions: testedVersions(tested),
    pingArgs: (prompt) => ['-p', prompt],
    authorityVariables: ['NODE_EXTRA_CA_CERTS'],
    pingEnv: { PI_OFFLINE: '1' },
  },
  protocol: 'chat',
  alsoSpeaks: ['responses', 'messages'],
  // models.json is read anew by /model, settings.json by /reload alone.
  restartAdvice: 'Close every running pi and start it again.',
  files: piFiles,
  checkOptions: ({ providerId }) => checkProviderId(providerId, 'pi', reservedIds),
  choose: chooseForPi,
  plan: planPi,
  readBack: readBackPi,
  origins: originsOfPi,
  asConfigured: ({ model, protocol, providerId }) => ({
    model,
    protocol,
    providerId: usableProviderId(providerId, reservedIds),
    isConfigured: true,
  }),
  wouldUse: (catalog) => oneUse(chosenByRules(catalog)),
  demoFiles,
  forOneRun: refuseOneRun,
  inTheWay,
  wrongNow,
}

/** `PI_CODING_AGENT_DIR` may begin with `~`. Of a project pi looks in the very folder it is started in. */
function piFiles(machine: Machine, look: Look): readonly ConfigFile[] {
  const { join, named } = pathsOf(machine)
  const { home, cwd, env } = machine
  const tilde = /^~(?:\/(.*))?$/s.exec(env['PI_CODING_AGENT_DIR'] ?? '')
  const folder =
    tilde === null
      ? (named('PI_CODING_AGENT_DIR') ?? join(home, '.pi', 'agent'))
      : join(home, tilde[1] ?? '')
  const auth = join(folder, 'auth.json')
  const project = join(cwd, '.pi', 'settings.json')
  const extensions = join(cwd, '.pi', 'extensions')
  const layer = { format: 'json', holdsSecret: false, use: 'layer' } as const
  return [
    // A login of before must be gone when the address changes: it would be sent there.
    ...(look.exists(auth)
      ? [{ role: 'auth', path: auth, format: 'json', holdsSecret: true, use: 'target' } as const]
      : []),
    {
      role: 'models',
      path: join(folder, 'models.json'),
      format: 'json',
      holdsSecret: true,
      use: 'target',
    },
    {
      role: 'settings',
      path: join(folder, 'settings.json'),
      format: 'json',
      holdsSecret: false,
      use: 'target',
    },
    ...(look.exists(project) ? [{ role: 'project', path: project, ...layer }] : []),
    ...look
      .entries(extensions)
      .map((name) => ({ role: 'project-code', path: join(extensions, name), ...layer })),
  ]
}

/**
 * No variable and no argument names an address, and those that other programs read count for nothing:
 * pi would go where its files point, without a word (0.60.0, 0.73.1, 0.87.1, 2026-11-22).
 *
 * @throws UserError `usage`
 */
function refuseOneRun(): never {
  throw new UserError({
    code: 'usage',
    message: 'pi takes its gateway from its files alone',
    hint: 'Point them at it: repoint use NAME pi. `repoint rollback` undoes that.',
  })
}

const windows: WindowHabit = { otherwise: 'pi takes it for 128,000 tokens' }

/** @throws UserError `model-unknown`, `protocol-unsupported`, `usage` */
function chooseForPi(catalog: Catalog | undefined, options: SetupOptions): ModelChoice {
  const protocol = options.protocol ?? bestProtocol(catalog, options)
  const choice = chooseOneModel(catalog, options, protocol, windows)
  return { ...choice, protocol, offered: offeredOf(catalog, choice.model, protocol) }
}

/** The models that speak as the chosen one does; where the gateway does not say, all that may. */
function offeredOf(
  catalog: Catalog | undefined,
  model: string,
  protocol: ProtocolName,
): Catalog['models'] {
  const all = catalog?.models ?? []
  const chosen = all.find(({ id }) => id === model) ?? { id: model }
  const wanted = speaks(chosen, protocol)
  const others = all.filter((one) => one.id !== model && speaks(one, protocol) === wanted)
  return [chosen, ...others].map(withLimits)
}

/** @throws UserError `config-invalid`, `config-conflict` */
function planPi(texts: FileTexts, choice: Choice): readonly FileEdit[] {
  expectLiteral(choice.key)
  expectSingle(texts, choice)
  const edits = [
    ...layersOf(texts, 'auth').map((file) => editKeys('pi', file, [], choice.repairs)),
    editKeys('pi', fileOf(texts, 'models'), modelsKeys(texts, choice), choice.repairs),
    editKeys('pi', fileOf(texts, 'settings'), settingsKeys(choice), choice.repairs),
  ]
  const after = texts.map((text) => {
    const edit = edits.find(({ path }) => path === text.path)
    return edit === undefined ? text : { ...text, bytes: edit.after }
  })
  expectRead(after, 'auth', readAuth(after))
  expectRead(after, 'models', readModels(after))
  expectRead(after, 'settings', readSettings(after))
  return edits
}

/** @throws UserError `config-conflict` */
function expectLiteral(key: string): void {
  if (isLiteralKey(key)) return
  throw new UserError({
    code: 'config-conflict',
    message: 'pi would not send this key as it is, but take it for a variable or a command',
    hint: 'Ask for a key without "$" and "!", with small letters in it.',
  })
}

/** @throws UserError `config-conflict` where a model that is to be written stands there twice */
function expectSingle(texts: FileTexts, { models, providerId }: Choice): void {
  const ids = providerOf(readModels(texts), providerId).models.map(({ id }) => id)
  const twice = offeredIn(models).find(({ id }) => ids.indexOf(id) !== ids.lastIndexOf(id))
  if (twice === undefined) return
  const { path } = fileOf(texts, 'models')
  throw new UserError({
    code: 'config-conflict',
    message: `${path} lists the model ${twice.id} of ${providerId} twice`,
    hint: 'Take one of them out: pi uses the last.',
  })
}

/** @throws UserError `config-invalid` */
function expectRead(texts: FileTexts, role: string, { problem }: PiFile): void {
  if (problem === undefined) return
  const { path } = layersOf(texts, role)[0]!
  throw new UserError({
    code: 'config-invalid',
    message: `pi would not use the file: ${brokenText(path, problem)}`,
    hint: 'Correct the file by hand.',
  })
}

function settingsKeys({ models, providerId }: Choice): readonly KeyChange[] {
  return [
    { path: ['defaultProvider'], value: providerId },
    { path: ['defaultModel'], value: models.model },
  ]
}

function modelsKeys(texts: FileTexts, choice: Choice): readonly KeyChange[] {
  const { models, providerId, key, root } = choice
  const protocol = protocolOf(pi, models)
  const path = providerPath(providerId)
  const now = providerOf(readModels(texts), providerId)
  return [
    ...(now.table['name'] === undefined ? [{ path: [...path, 'name'], value: 'Gateway' }] : []),
    { path: [...path, 'baseUrl'], value: root, isBound: true },
    { path: [...path, 'api'], value: apiOf[protocol], isBound: true },
    { path: [...path, 'apiKey'], value: key, isSecret: true, isBound: true },
    // Else pi sends the key as x-api-key alone, and beside it whatever ANTHROPIC_AUTH_TOKEN holds.
    ...(protocol === 'messages'
      ? [{ path: [...path, 'authHeader'], value: true, isBound: true }]
      : []),
    ...listKeys(now, choice),
  ]
}

/**
 * What the list of models becomes. An entry that is there keeps what someone wrote into it; the
 * entries of another gateway go.
 */
function listKeys(now: PiProvider, choice: Choice): readonly KeyChange[] {
  const { models, providerId, root } = choice
  const offered = offeredIn(models)
  const isOtherGateway = now.url !== undefined && rootOf(now.url) !== root
  const gone = isOtherGateway
    ? now.models.filter(({ id }) => !offered.some((model) => model.id === id))
    : []
  return [
    ...gone.map(({ id }) => ({ path: modelPath(providerId, String(id)), value: undefined })),
    ...offered.flatMap((model) => modelKeys(model, now, choice, isOtherGateway)),
  ]
}

function modelKeys(
  model: CatalogModel,
  now: PiProvider,
  { models, options, providerId }: Choice,
  isOtherGateway: boolean,
): readonly KeyChange[] {
  const path = modelPath(providerId, model.id)
  const isChosen = model.id === models.model
  const entry = modelOf(now, model.id)
  const set = (name: string, value: ConfigValue | undefined) => ({ path: [...path, name], value })
  const limits = compact({
    contextWindow: (isChosen ? models.contextWindow : undefined) ?? model.contextWindow,
    maxTokens: model.maxOutputTokens,
  })
  if (entry === undefined) {
    const value = { id: model.id, ...compact({ name: model.displayName }), ...limits }
    return [{ path, value }]
  }

  const isGiven = options.contextWindow !== undefined && isChosen
  return [
    ...Object.entries(limits)
      .filter(
        ([name]) =>
          entry[name] === undefined || isOtherGateway || (isGiven && name === 'contextWindow'),
      )
      .map(([name, value]) => set(name, value)),
    ...(isChosen && entry['api'] !== undefined ? [set('api', undefined)] : []),
  ]
}

function offeredIn({ offered, model }: ModelChoice): Catalog['models'] {
  const all = offered ?? []
  return all.some(({ id }) => id === model) ? all : [{ id: model }, ...all]
}

function readBackPi(texts: FileTexts): Settings {
  const [models, settings] = [readModels(texts), readSettings(texts)]
  const { providerId, model } = startsWith(settings)
  const broken = brokenOf(texts, 'models', models) ?? brokenOf(texts, 'settings', settings)
  if (providerId === undefined || broken !== undefined) return compact({ broken })

  const provider = providerOf(models, providerId)
  const entry = modelOf(provider, model) ?? {}
  const url = entry['baseUrl'] ?? provider.url
  const api = entry['api'] ?? provider.table['api']
  const protocol = Object.entries(apiOf).find(([, name]) => name === api)?.[0] as
    | ProtocolName
    | undefined
  const root = typeof url === 'string' ? rootOf(url) : undefined
  const login = loginOf(texts, providerId)
  return compact({
    root,
    protocol,
    model,
    providerId,
    ...readPiKey(texts, providerId),
    contextWindow: numberOf(entry['contextWindow']),
    alsoSendsTo: otherAddress(provider, root),
    login:
      login !== undefined && login['type'] !== 'api_key'
        ? `the login for ${providerId} in auth.json`
        : undefined,
  })
}

/** A model of the same provider may have an address of its own, which gets the same key. */
function otherAddress({ models }: PiProvider, root: string | undefined): string | undefined {
  const urls = models.flatMap(({ baseUrl }) => (typeof baseUrl === 'string' ? [baseUrl] : []))
  return urls.find((url) => rootOf(url) !== root)
}

function numberOf(value: ConfigValue | undefined): number | undefined {
  return typeof value === 'number' ? value : undefined
}

function brokenOf(texts: FileTexts, role: string, { problem }: PiFile): string | undefined {
  return problem === undefined ? undefined : brokenText(fileOf(texts, role).path, problem)
}

function originsOfPi(texts: FileTexts): Origins {
  const { providerId, model } = startsWith(readSettings(texts))
  const has = (file: FileText, path: readonly string[]) =>
    readFile(file).document?.get(path) !== undefined ? file.path : undefined
  return compact({
    baseUrl: has(fileOf(texts, 'models'), [...providerPath(providerId ?? ''), 'baseUrl']),
    model: model === undefined ? undefined : fileOf(texts, 'settings').path,
  })
}
