import { type ConfigValue, listHolds } from '../../edits/plan.ts'
import type { Choice, FileTexts, Obstacle, Scene } from '../client.ts'
import { relativePlaceObstacles } from '../obstacles.ts'
import { isExported, proxyForHere, unsetCommand } from '../shell.ts'
import { fileOf, layersOf, placeOf, readFile } from '../texts.ts'
import {
  loginOf,
  type PiFile,
  providerOf,
  readAuth,
  readModels,
  readPlain,
  readSettings,
  startsWith,
} from './config.ts'
import { formerProviders, providerInTheWay, providerWrongNow } from './provider-obstacles.ts'

/** What would defeat the setup, as run against pi 0.60.0, 0.73.1 and 0.87.1 (2026-11-22). */
export function inTheWay(scene: Scene, choice: Choice): readonly Obstacle[] {
  const { models, providerId } = choice
  return [
    ...unreadable(scene.texts),
    ...relativeFolder(scene),
    ...keyIsVariable(scene, choice.key),
    ...proxy(scene, choice.root),
    ...otherLogin(scene.texts, providerId),
    ...providerInTheWay(scene, choice),
    ...formerProviders(scene, choice),
    ...narrowed(scene.texts, providerId, models.model),
    ...ofThisFolder(scene.texts, providerId, models.model),
  ]
}

/** What is wrong with what pi believes now. */
export function wrongNow(scene: Scene): readonly Obstacle[] {
  const { texts } = scene
  const { providerId = 'gateway', model } = startsWith(readSettings(texts))
  const found = [...unreadable(texts), ...relativeFolder(scene)]
  const { url } = providerOf(readModels(texts), providerId)
  // With a provider that it ships pi may be set up as its owner likes.
  if (url === undefined || model === undefined) return found
  return [
    ...found,
    ...proxy(scene, url),
    ...otherLogin(texts, providerId),
    ...providerWrongNow(scene, providerId, model),
    ...narrowed(texts, providerId, model),
    ...ofThisFolder(texts, providerId, model),
  ]
}

function relativeFolder({ machine }: Scene): readonly Obstacle[] {
  // pi puts the home in place of a tilde.
  if (/^~(?:\/|$)/.test(machine.env['PI_CODING_AGENT_DIR'] ?? '')) return []
  return relativePlaceObstacles(machine, 'pi-relative-folder', 'pi', ['PI_CODING_AGENT_DIR'])
}

/** Only NO_PROXY keeps pi from asking a proxy for this machine. */
function proxy({ machine }: Scene, url: string): readonly Obstacle[] {
  const found = proxyForHere(url, machine.env)
  if (found === undefined) return []
  return [
    {
      code: 'pi-proxy',
      message: `${found.variable} is set: pi asks that proxy for ${found.host} too`,
      place: 'environment',
      cure: `Add ${found.host} to NO_PROXY.`,
      weight: 'blocks',
    },
  ]
}

function unreadable(texts: FileTexts): readonly Obstacle[] {
  return [
    ...ignored(texts, 'auth', readAuth(texts), {
      code: 'pi-auth-unreadable',
      effect: 'pi 0.87 finds no key at all, and older ones none of its logins',
    }),
    ...ignored(texts, 'models', readModels(texts), {
      code: 'pi-models-invalid',
      effect: 'pi goes on without any of its providers, and does not say so',
    }),
    ...ignored(texts, 'settings', readSettings(texts), {
      code: 'pi-settings-invalid',
      effect: 'pi ignores all of it, and starts with the first model that it has a key for',
    }),
  ]
}

function ignored(
  texts: FileTexts,
  role: string,
  { problem, isRepairable }: PiFile,
  { code, effect }: { readonly code: string; readonly effect: string },
): readonly Obstacle[] {
  if (problem === undefined) return []
  const { path } = layersOf(texts, role)[0]!
  const found = { code, message: `${effect}: ${problem}`, place: path, weight: 'blocks' } as const
  if (!isRepairable) return [{ ...found, cure: 'Correct the file by hand.', covers: 'broken' }]
  return [
    {
      ...found,
      cure: 'Take comments and trailing commas out of it.',
      repair: { role, changes: [], toStrictJson: true },
      needsConsent: `Comments and trailing commas are taken out of ${path}, which comes into force as a whole.`,
      covers: 'broken',
    },
  ]
}

/** Up to 0.76 a key that is called as a variable is taken for it. */
function keyIsVariable(scene: Scene, key: string): readonly Obstacle[] {
  if (!/^\w+$/.test(key) || !isExported(scene, key)) return []
  return [
    {
      code: 'pi-key-is-variable',
      message: 'a variable is called as the key is: pi up to 0.76 would send what it holds',
      place: 'environment',
      cure: unsetCommand(scene.machine, 'the variable'),
      weight: 'may-block',
    },
  ]
}

function otherLogin(texts: FileTexts, providerId: string): readonly Obstacle[] {
  if (loginOf(texts, providerId) === undefined) return []
  const [file] = layersOf(texts, 'auth')
  const path = [providerId]
  return [
    {
      code: 'pi-other-key',
      message: `auth.json holds a login for ${providerId}, which wins over the key in models.json`,
      place: placeOf(readFile(file!), path),
      cure: 'Remove it.',
      repair: {
        role: 'auth',
        changes: [{ path, value: undefined, isSecret: true, isBound: true }],
      },
      needsConsent: `The login for ${providerId} in auth.json will be removed; rollback brings it back.`,
      weight: 'blocks',
    },
  ]
}

/** Where the list names models of others alone, pi starts with the first of them. */
function narrowed(texts: FileTexts, providerId: string, model: string): readonly Obstacle[] {
  const { root } = readSettings(texts)
  const list = root['enabledModels']
  if (!isNarrowed(list, `${providerId}/${model}`, model)) return []
  const path = ['enabledModels']
  return [
    {
      code: 'pi-enabled-models',
      message: `enabledModels leaves ${model} out: pi starts with another model`,
      place: placeOf(readFile(fileOf(texts, 'settings')), path),
      cure: 'Add it to enabledModels.',
      repair: { role: 'settings', changes: [listHolds(path, `${providerId}/${model}`)] },
      weight: 'blocks',
    },
  ]
}

/** Whether a list of patterns is there and none of them is the model's, in pi's own words for them. */
function isNarrowed(list: ConfigValue | undefined, full: string, id: string): boolean {
  if (!Array.isArray(list) || list.length === 0) return false
  return !list.some((entry: ConfigValue) => {
    if (typeof entry !== 'string') return false
    const pattern = entry.replace(/:(?:off|minimal|low|medium|high|xhigh|max)$/, '')
    return [full, id].some((name) => matches(pattern, name))
  })
}

/** `*` stands for anything within a part, `?` for one character of it. */
function matches(pattern: string, name: string): boolean {
  const source = pattern
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replace(/\*\*?/g, '[^/]*')
    .replace(/\?/g, '[^/]')
  return new RegExp(`^${source}$`, 'i').test(name)
}

/** What a folder says to a pi that is started in it; from 0.79 on only where its owner trusts it. */
function ofThisFolder(texts: FileTexts, providerId: string, model: string): readonly Obstacle[] {
  const settings = layersOf(texts, 'project').flatMap((text): Obstacle[] => {
    const { root } = readPlain(text)
    const wanted = { defaultProvider: providerId, defaultModel: model }
    const others = Object.entries(wanted).filter(
      ([name, value]) => root[name] !== undefined && root[name] !== value,
    )
    const names = others.map(([name]) => name)
    if (isNarrowed(root['enabledModels'], `${providerId}/${model}`, model))
      names.push('enabledModels')
    const [first] = names
    if (first === undefined) return []
    return [
      {
        code: 'pi-project-settings',
        message: `this folder's own settings set ${names.join(', ')}, which win over yours while pi runs here`,
        place: placeOf(readFile(text), [first]),
        cure: 'Remove them there.',
        weight: 'may-block',
      },
    ]
  })
  const code = layersOf(texts, 'project-code').map(
    ({ path }): Obstacle => ({
      code: 'pi-project-code',
      message: "pi, started in this folder, runs the folder's own code, which may read your key",
      place: path,
      cure: 'Do not start pi in this folder, unless you trust whoever wrote it.',
      needsConsent: `pi, started in this folder, runs ${path}, which may read your key.`,
      weight: 'may-block',
    }),
  )
  return [...settings, ...code]
}
