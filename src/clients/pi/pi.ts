import { compact } from '../../compact.ts'
import { keyHeaders } from '../../gateway/types.ts'
import type { Machine } from '../../platform/platform.ts'
import type { ClientModule, ConfigFile, FileTexts, Look, Origins, Settings } from '../client.ts'
import { defaultOfAny, oneUse, usualProtocol } from '../models.ts'
import { layersThere, pathsOf } from '../paths.ts'
import { chooseOfAny } from '../picker.ts'
import { ofNode, testedVersions } from '../tested.ts'
import { brokenText, fileOf, originOf } from '../texts.ts'
import { carries } from './carries.ts'
import {
  incompleteProvider,
  interpretedValue,
  loginOf,
  providers,
  readModels,
  readPiKey,
  readSettings,
  reservedIds,
  startingModel,
} from './config.ts'
import { deciding } from './deciding.ts'
import { inTheWay, wrongNow } from './obstacles.ts'
import { forOneRun } from './one-run.ts'
import { planPi } from './plan.ts'
import { believedOf, providerOf, providerPath } from './providers.ts'
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

/** pi. Facts: run against 0.60.0, 0.73.1 and 0.87.1, 2026-11-22; set up and asked in 0.51.0 and 1.5.2, 2026-11-23. */
export const pi: ClientModule = {
  binary: {
    command: 'pi',
    testedVersions: testedVersions(tested),
    // 0.50.3 and 0.50.7 find no model (2026-11-23).
    worksSince: '0.51.0',
    pingArgs: (prompt) => ['-p', prompt],
    authorityVariables: ['NODE_EXTRA_CA_CERTS'],
    authorities: ofNode,
    pingEnv: { PI_OFFLINE: '1' },
  },
  protocol: usualProtocol,
  alsoSpeaks: ['responses', 'messages'],
  // It sends the key as Bearer beside them.
  sends: { headers: true, keyHeaders },
  deciding,
  interprets: { names: null, values: interpretedValue },
  // models.json is read anew by /model, settings.json by /reload alone.
  restartAdvice: 'Close every running pi and start it again.',
  files: piFiles,
  reservedIds,
  choose: (wanted) => chooseOfAny(wanted, { otherwise: 'pi takes it for 128,000 tokens' }),
  plan: planPi,
  carries,
  readBack: readBackPi,
  offers: offersOfPi,
  origins: originsOfPi,
  wouldUse: (catalog) => oneUse(defaultOfAny(catalog)),
  demoFiles,
  // 0.87.1 and 1.5.2, 2026-11-23.
  resuming: { command: 'pi -c', keeps: 'provider and model' },
  forOneRun,
  inTheWay,
  wrongNow,
}

/** `PI_CODING_AGENT_DIR` may begin with `~`. Of a project pi looks in the very folder it is started in. */
function piFiles(machine: Machine, look: Look): readonly ConfigFile[] {
  const { join, namedFromHome } = pathsOf(machine)
  const { home, cwd } = machine
  const folder = namedFromHome('PI_CODING_AGENT_DIR') ?? join(home, '.pi', 'agent')
  const auth = join(folder, 'auth.json')
  const models = join(folder, 'models.json')
  const settings = join(folder, 'settings.json')
  // In the home they are the user's own.
  const extensions = cwd === home ? undefined : join(cwd, '.pi', 'extensions')
  const json = { format: 'json', use: 'target' } as const
  return [
    // A login of before must be gone when the address changes: it would be sent there.
    ...(look.exists(auth) ? [{ role: 'auth', path: auth, ...json, holdsSecret: true }] : []),
    { role: 'models', path: models, ...json, holdsSecret: true },
    { role: 'settings', path: settings, ...json, holdsSecret: false },
    ...layersThere(look, settings, [
      ['project', [join(cwd, '.pi', 'settings.json')]],
      [
        'project-code',
        extensions ? look.entries(extensions).map((name) => join(extensions, name)) : [],
      ],
    ]),
  ]
}

function readBackPi(texts: FileTexts): Settings {
  const [models, settings] = [readModels(texts), readSettings(texts)]
  const { providerId, model } = startingModel(settings)
  const [broken] = [models, settings].flatMap(({ path, ignored }) =>
    ignored === undefined ? [] : [brokenText(path, ignored)],
  )
  if (broken !== undefined) return { broken }
  const lack = incompleteProvider(models)
  const refused = lack && brokenText(models.path, lack)
  if (providerId === undefined) return compact({ broken: refused })

  const login = loginOf(texts, providerId)
  return compact({
    ...believedOf(providerOf(providers, models, providerId), model),
    providerId,
    ...readPiKey(texts, providerId),
    broken: refused,
    login:
      login !== undefined && login['type'] !== 'api_key'
        ? `the login for ${providerId} in auth.json`
        : undefined,
  })
}

function offersOfPi(texts: FileTexts): readonly string[] {
  const { providerId = '' } = startingModel(readSettings(texts))
  return providerOf(providers, readModels(texts), providerId).models.map(({ id }) => String(id))
}

function originsOfPi(texts: FileTexts): Origins {
  const { providerId = '', model } = startingModel(readSettings(texts))
  return compact({
    baseUrl: originOf([readModels(texts)], [...providerPath(providers, providerId), 'baseUrl']),
    model: model === undefined ? undefined : fileOf(texts, 'settings').path,
  })
}
