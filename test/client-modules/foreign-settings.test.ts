import { describe, expect, test } from 'vitest'
import type { Client } from '../../src/clients/contract/client.ts'
import { loadClients } from '../../src/clients/list.ts'
import { withoutForeignSettings } from '../../src/clients/plan/foreign-settings.ts'
import { senderOf } from '../../src/commands/prove/first-requests.ts'
import type { Session } from '../../src/commands/screen/session.ts'
import { formatOf } from '../../src/edits/format.ts'
import type { FileEdit } from '../../src/edits/types.ts'
import { undoOurs } from '../edits/undo-ours.ts'
import { timesAsLong } from '../support/processor-time.ts'
import { aMachine, byId, type Disk, filesOf, planOn, type Setup, text, written } from './support.ts'

/** What an earlier owner leaves in a table with our ID is not sent to a new gateway. */

const old = 'https://old.example/v1'
const same = 'https://gw.example/v1'
const canary = 'sk-canary-foreign-5f4e3d2c1b0a'
const model = 'gpt-5.6-sol'

/** A home of a client whose table for `url` has one more setting at a place in it. */
type AHome = (url: string, place: string, setting: Readonly<Record<string, unknown>>) => Disk

interface Level {
  readonly aHome: AHome
  readonly places: readonly string[]
}

const json = (path: string, value: unknown): Disk => ({ [path]: JSON.stringify(value, null, 2) })
const tomlLines = (setting: object) =>
  Object.entries(setting).map(
    ([name, value]) => `${JSON.stringify(name)} = ${JSON.stringify(value).replaceAll('":', '"=')}`,
  )
/** The setting if it belongs at this place. */
const at = (wanted: string, place: string, setting: object) => (wanted === place ? setting : {})

const opencodeLike = (path: string): Level => ({
  places: ['provider', 'options', 'options.headers', 'model', 'model.options', 'model.provider'],
  aHome: (url, place, setting) =>
    json(path, {
      model: `gateway/${model}`,
      provider: {
        gateway: {
          npm: '@ai-sdk/openai-compatible',
          options: {
            baseURL: url,
            timeout: 5000,
            ...(place === 'options.headers' && { headers: setting }),
            ...at('options', place, setting),
          },
          models: {
            [model]: {
              name: 'Mine',
              ...(place === 'model.options' && { options: setting }),
              ...(place === 'model.provider' && { provider: setting }),
              ...at('model', place, setting),
            },
          },
          ...at('provider', place, setting),
        },
      },
    }),
})

const piLike = (aFile: (providers: object) => Disk): Level => ({
  places: ['provider', 'provider.headers', 'model', 'model.headers', 'compat', 'override'],
  aHome: (url, place, setting) =>
    aFile({
      gateway: {
        baseUrl: url,
        api: 'openai-completions',
        apiKey: 'sk-earlier-0123456789',
        ...(place === 'provider.headers' && { headers: setting }),
        ...(place === 'compat' && { compat: setting }),
        ...(place === 'override' && { modelOverrides: { [model]: setting } }),
        models: [
          {
            id: model,
            name: 'Mine',
            ...(place === 'model.headers' && { headers: setting }),
            ...at('model', place, setting),
          },
        ],
        ...at('provider', place, setting),
      },
    }),
})

/** A TOML file with a table of the provider, one of its headers, and one of the model. */
const inToml = (
  file: Readonly<Record<'path' | 'headersName' | 'provider' | 'start' | 'entry', string>>,
): Level => ({
  places: ['provider', file.headersName, 'model'],
  aHome: (url, place, setting) => {
    const lines = (wanted: string) =>
      tomlLines(at(wanted, place, setting))
        .map((line) => `${line}\n`)
        .join('')
    const headers = lines(file.headersName)
    return {
      [file.path]: [
        `${file.start}base_url = "${url}"\napi_key = "sk-earlier-0123456789"\n`,
        lines('provider'),
        headers && `\n[${file.provider}.${file.headersName}]\n${headers}`,
        `\n${file.entry}${lines('model')}`,
      ].join(''),
    }
  },
})

/** By client: the tables and lists in which a setup keeps something. */
const levels: Readonly<Record<string, Level>> = {
  codex: {
    places: ['provider', 'http_headers', 'query_params'],
    aHome: (url, place, setting) => {
      const lines = tomlLines(setting)
      const table = place === 'provider' ? '' : `[model_providers.gateway.${place}]\n`
      return {
        '.codex/config.toml': `model_provider = "gateway"\n[model_providers.gateway]\nname = "G"\nbase_url = "${url}"\nwire_api = "responses"\nrequires_openai_auth = true\n${table}${lines.join('\n')}\n`,
      }
    },
  },
  opencode: opencodeLike('.config/opencode/opencode.json'),
  kilo: opencodeLike('.config/kilo/kilo.json'),
  qwen: {
    places: ['entry', 'generationConfig', 'headers', 'extra_body', 'samplingParams'],
    aHome: (url, place, setting) =>
      json('.qwen/settings.json', {
        $version: 4,
        security: { auth: { selectedType: 'openai' } },
        model: { name: model },
        modelProviders: {
          openai: [
            {
              id: model,
              envKey: 'QWEN_GATEWAY_API_KEY',
              baseUrl: url,
              generationConfig: {
                timeout: 9000,
                ...(place === 'headers' && { customHeaders: setting }),
                ...(place === 'extra_body' && { extra_body: setting }),
                ...(place === 'samplingParams' && { samplingParams: setting }),
                ...at('generationConfig', place, setting),
              },
              ...at('entry', place, setting),
            },
          ],
        },
      }),
  },
  pi: piLike((providers) => ({
    ...json('.pi/agent/models.json', { providers }),
    ...json('.pi/agent/settings.json', { defaultProvider: 'gateway', defaultModel: model }),
  })),
  openclaw: piLike((providers) =>
    json('.openclaw/openclaw.json', {
      models: { providers },
      agents: { defaults: { model: { primary: `gateway/${model}` } } },
    }),
  ),
  droid: {
    places: ['entry', 'extraHeaders', 'extraArgs'],
    aHome: (url, place, setting) =>
      json('.factory/settings.json', {
        customModels: [
          {
            id: 'custom:gateway',
            model,
            displayName: 'Mine',
            baseUrl: url,
            apiKey: 'sk-earlier-0123456789',
            provider: 'generic-chat-completion-api',
            ...(place === 'extraHeaders' && { extraHeaders: setting }),
            ...(place === 'extraArgs' && { extraArgs: setting }),
            ...at('entry', place, setting),
          },
        ],
        sessionDefaultSettings: { model: 'custom:gateway' },
      }),
  },
  cline: {
    places: ['settings', 'headers', 'auth', 'reasoning'],
    aHome: (url, place, setting) =>
      json('.cline/data/settings/providers.json', {
        version: 1,
        lastUsedProvider: 'openai-compatible',
        providers: {
          'openai-compatible': {
            settings: {
              provider: 'openai-compatible',
              model,
              baseUrl: url,
              timeout: 90_000,
              ...(place === 'headers' && { headers: setting }),
              ...(place === 'auth' && { auth: setting }),
              ...(place === 'reasoning' && { reasoning: setting }),
              ...at('settings', place, setting),
            },
            updatedAt: '2026-09-16T15:51:28.388Z',
            tokenSource: 'manual',
          },
        },
      }),
  },
  kimi: inToml({
    path: '.kimi-code/config.toml',
    headersName: 'custom_headers',
    provider: 'providers.gateway',
    start: `default_model = "gateway/${model}"\n\n[providers.gateway]\ntype = "openai"\n`,
    entry: `[models."gateway/${model}"]\nprovider = "gateway"\nmodel = "${model}"\nmax_context_size = 9000\n`,
  }),
  grok: inToml({
    path: '.grok/config.toml',
    headersName: 'extra_headers',
    provider: 'model_providers.gateway',
    start: `[models]\ndefault = "gateway/${model}"\n\n[model_providers.gateway]\n`,
    entry: `[model."gateway/${model}"]\nmodel_provider = "gateway"\nmodel = "${model}"\n`,
  }),
  claude: {
    places: ['headers', 'env'],
    aHome: (url, place, setting) => {
      const lines = Object.entries(setting).map(([name, value]) => `${name}: ${value}`)
      const more =
        place === 'headers'
          ? { ANTHROPIC_CUSTOM_HEADERS: lines.join('\n') }
          : { CLAUDE_CODE_EXTRA_BODY: JSON.stringify(setting) }
      const env = { ANTHROPIC_BASE_URL: url.replace('/v1', ''), ...more }
      return json('.claude/settings.json', { env })
    },
  },
}

const clients = (await loadClients()).filter(({ id }) => id in levels)

/** A name that no client and no list knows, and those with which a client is known to send something. */
const texts = ['x-team', 'authorization', 'api-key']
const cases = clients.flatMap((client) =>
  levels[client.id]!.places.map((place) => ({ client, place })),
)

function apply(client: Client, disk: Disk, setup: Setup = {}) {
  const planned = planOn(client, disk, { options: optionsFor(client), ...setup })
  const after = written(disk, planned.machine, planned.edits)
  return { ...planned, after, files: filesOf(client, planned.machine, after) }
}

function optionsFor(client: Client) {
  return client.family === 'claude' ? {} : { model }
}

/** Everything that the files say, and everything that a probe would send. */
async function saidAndSent(client: Client, { files, target }: ReturnType<typeof apply>) {
  const session = { platform: { machine: aMachine() }, hide() {} } as unknown as Session
  const { probeModel, protocol } = target.resolved
  return {
    said: files.map(({ bytes }) => text(bytes)).join('\n'),
    sent: await senderOf(session, client, { files }, { model: probeModel, protocol }),
  }
}

function undo(edits: readonly FileEdit[]) {
  return edits
    .filter(({ scope }) => scope === 'keys')
    .map(({ before, after, changes, format, path }) => {
      const versions = { before, written: after, now: after }
      const paths = changes.map((change) => change.path)
      return [undoOurs(formatOf(format), versions, paths, path).bytes, before]
    })
}

test('every client with a table for a gateway has a home here', async () => {
  const families = new Set((await loadClients()).map(({ family }) => family))
  expect(Object.keys(levels).sort()).toEqual([...families].sort())
})

describe('an unknown setting for another gateway', () => {
  test.each(cases)('$client.id: is removed in $place', async ({ client, place }) => {
    const setups = texts.map((name) => {
      const disk = levels[client.id]!.aHome(old, place, { [name]: canary })
      return { name, planned: apply(client, disk) }
    })
    for (const { name, planned } of setups) {
      const { said, sent } = await saidAndSent(client, planned)
      expect(said, name).not.toContain(canary)
      expect(JSON.stringify(sent), name).not.toContain(canary)

      const shown = planned.findings.flatMap(({ needsConsentTo }) => needsConsentTo ?? [])
      // A header that holds a key is replaced like the key itself.
      if (name !== 'api-key') expect(shown.join('\n'), name).toMatch(/Remove /)
      expect(JSON.stringify(planned.findings), name).not.toContain(canary)
      for (const [undone, before] of undo(planned.edits)) expect(undone, name).toEqual(before)
    }

    // Without it, the files are the same whatever its name was.
    const again = apply(client, setups[0]!.planned.after)
    expect(again.findings.filter(({ code }) => code.endsWith('foreign-settings'))).toEqual([])
    for (const { before, after } of again.edits) expect(after).toEqual(before)
  })

  test.each(clients.map((client) => ({ client })))(
    '$client.id: a table, a number and a list are removed too',
    async ({ client }) => {
      for (const value of [{ a: { b: canary } }, [canary], 5309]) {
        const [place] = levels[client.id]!.places
        const disk = levels[client.id]!.aHome(old, place!, { x_of_tomorrow: value })
        const { said } = await saidAndSent(client, apply(client, disk))
        expect(said).not.toMatch(/x_of_tomorrow|5309/)
      }
    },
  )
})

describe('a setting that the user added at the same gateway', () => {
  const places: Readonly<Record<string, readonly string[]>> = {
    opencode: ['options.headers', 'model.options'],
    kilo: ['options.headers', 'model.options'],
    qwen: ['headers', 'extra_body', 'samplingParams'],
    pi: ['provider.headers', 'model.headers'],
    openclaw: ['provider.headers', 'model.headers'],
    droid: ['extraHeaders', 'extraArgs'],
    cline: ['headers'],
    kimi: ['custom_headers'],
    grok: ['extra_headers'],
    codex: ['http_headers'],
    claude: ['headers', 'env'],
  }
  const sameCases = clients.flatMap((client) =>
    places[client.id]!.map((place) => ({ client, place })),
  )

  test.each(sameCases)('$client.id: in $place stays, and is in the probe', async (one) => {
    const { client, place } = one
    const disk = levels[client.id]!.aHome(same, place, { 'x-team': canary })
    const setup = client.protocols.includes('chat')
      ? { target: {}, options: { ...optionsFor(client), ...chatOption(client) } }
      : {}
    const planned = apply(client, disk, setup)
    const { said, sent } = await saidAndSent(client, planned)
    expect(said).toContain(canary)
    expect(JSON.stringify(sent)).toContain(canary)
    expect(planned.findings.filter(({ code }) => code.endsWith('foreign-settings'))).toEqual([])
  })

  const headerPlaces = cases.filter(
    ({ client, place }) => /headers/i.test(place) && client.id !== 'codex',
  )
  test.each(headerPlaces)('$client.id: authorization in $place goes', async ({ client, place }) => {
    const disk = levels[client.id]!.aHome(same, place, { authorization: canary, 'x-team': 'blue' })
    const planned = apply(client, disk)
    const { said } = await saidAndSent(client, planned)
    expect(said).not.toContain(canary)
    expect(said).toContain('blue')
    expect(planned.findings.some(({ needsConsentTo }) => needsConsentTo)).toBe(true)
  })

  test('opencode: headers of a model that replace the key go, and another address of it', async () => {
    const aHome = levels['opencode']!.aHome
    for (const setting of [
      { headers: { authorization: canary } },
      { provider: { api: `https://${canary}.example` } },
    ]) {
      const planned = apply(byId('opencode'), aHome(same, 'model', setting))
      expect((await saidAndSent(byId('opencode'), planned)).said).not.toContain(canary)
    }
  })
})

test.each(['opencode', 'kilo'])('%s: such a setting in a weaker file stops a setup', (id) => {
  const client = byId(id)
  const folder = `.config/${id}`
  const setting = { headers: { authorization: canary } }
  for (const url of [old, same]) {
    const [weaker] = Object.values(levels[id]!.aHome(url, 'model', setting))
    const disk = { [`${folder}/config.json`]: weaker!, [`${folder}/${id}.json`]: '{}' }
    const { findings } = planOn(client, disk, { options: { model } })
    expect(findings).toContainEqual(
      expect.objectContaining({
        code: `${id}-weaker-file`,
        severity: 'error',
        location: expect.stringMatching(/config\.json:\d+$/),
      }),
    )
  }
})

function chatOption({ protocols }: Client) {
  return protocols.length > 1 ? ({ protocol: 'chat' } as const) : {}
}

test('a table is searched in about the time of eight tables with an eighth of its models', () => {
  const search = (count: number) => {
    const ids = Array.from({ length: count }, (_, n) => `vendor/m-${n}`)
    const table = {
      path: ['provider'],
      now: { models: Object.fromEntries(ids.map((id) => [id, { name: 'Mine', limit: 1 }])) },
      isOtherGateway: true,
      harmless: ['models.*.name'],
    }
    const changes = ids.map((id) => ({ path: ['provider', 'models', id, 'limit'], value: 2 }))
    const target = { baseUrl: same, baseUrls: { chat: same, messages: same } }
    return () => expect(withoutForeignSettings(changes, table, target)).toEqual(changes)
  }
  search(500)()
  // A search that compared each setting with each change took eight times as long.
  expect(timesAsLong(search(8_000), 8, search(1_000))).toBeLessThan(4)
}, 60_000)
