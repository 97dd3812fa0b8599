import { ifPossible } from '../../errors.ts'
import { asObject, jsonIn } from '../../gateway/foreign-text.ts'
import { removeVendor } from '../../gateway/models/ids.ts'
import type { FirstRequest } from '../../gateway/types.ts'
import type { Machine } from '../../platform/platform.ts'
import type { ClientModule } from '../contract/client.ts'
import type { LoadedFiles } from '../contract/files.ts'
import type { FirstRequestInput } from '../contract/program.ts'
import { withoutTrailingSlash } from '../files/addresses.ts'
import { brokenText, fileOf, originsIn, unreadable } from '../files/parse-file.ts'
import { editableFile, layersThere, mainWorktree, pathsOf, projectFolders } from '../files/paths.ts'
import { claudeGptName, claudeName } from '../names.ts'
import { effortCure, outputLimitCure } from '../options/flags.ts'
import { readSettingOptions } from '../plan/setting-options.ts'
import { recordedRequest, withBetas } from '../program/recorded-request.ts'
import { ofOwnRuntime, testedVersions } from '../program/tested.ts'
import { checkNow, checkSetup, codeSettings, desktopProfiles, safeguardsOf } from './checks.ts'
import { effortVariable, settingOptions, slots } from './flags.ts'
import { resolveClaude, resolveClaudeGpt } from './models.ts'
import { launchSettings, planAs } from './plan.ts'
import responses from './responses.json' with { type: 'json' }
import {
  type ClaudeSettings,
  canForgetSession,
  gatewaySettings,
  hasBareMode,
  hasDiscovery,
  hasLogin,
  isMapping,
  isOn,
  knowsModel,
  names,
  pinsIn,
  readCustomHeaders,
  readSettings,
  sensitiveSettings,
  sentFirst,
  slotOf,
  slotVariables,
  variables,
  windowSuffix,
  withoutDate,
} from './settings.ts'
import tested from './tested.json' with { type: 'json' }

// The first request.

/** What the settings, the environment and the model change in the recorded request. */
async function firstRequest(files: LoadedFiles, input: FirstRequestInput): Promise<FirstRequest> {
  const { default: recordings } = await import('./first-requests.json', {
    with: { type: 'json' },
  })
  const { model, protocol, version } = input
  const env = { ...input.env, ...readSettings(fileOf(files, 'settings')).env }
  const isPlain = isOn(env[names.withoutBetas])
  const kind = kindOf(model, version)
  const usual = recordedRequest(recordings, { kind, protocol, version })
  const plainKind = kind === 'older' ? 'older plain' : 'plain'
  const recorded = isPlain
    ? recordedRequest(recordings, { kind: plainKind, protocol, version })
    : usual

  // The user's own betas, and their metadata in the text of the user's ID (2.1.330, 2026-11-28).
  const headers = withBetas(recorded.headers, ...(env['ANTHROPIC_BETAS'] ?? '').split(','))
  const metadata = asObject(jsonIn(env['CLAUDE_CODE_EXTRA_METADATA'] ?? ''))

  // Without betas, the limit and the effort are the same.
  const { max_tokens, output_config } = usual.body
  const body = withEffort({ ...recorded.body, output_config }, env[effortVariable])
  return {
    ...recorded,
    headers,
    body: {
      ...body,
      ...(metadata && { metadata: withMetadata(body['metadata'], metadata) }),
      ...(env[names.attribution] === '0' && { system: withoutAttribution(body['system']) }),
      max_tokens: Number(env[names.outputTokens]) || max_tokens,
      ...asObject(jsonIn(env['CLAUDE_CODE_EXTRA_BODY'] ?? '')),
    },
    safeguards: safeguardsOf(version, isPlain),
    hints: {
      ...(isPlain ? { max_tokens: outputLimitCure, thinking: plainCure } : cures),
      ...(env['ANTHROPIC_BETAS'] && { 'anthropic-beta': ownBetasCure }),
      ...(metadata && { metadata: metadataCure }),
      ...(env[effortVariable] && { output_config: effortCure }),
    },
  }
}

function withMetadata(recorded: unknown, added: Readonly<Record<string, unknown>>): unknown {
  const id = asObject(jsonIn(String(asObject(recorded)?.['user_id'] ?? '')))
  return { ...asObject(recorded), user_id: JSON.stringify({ ...added, ...id }) }
}

/** The effort of the request, and of the messages that name one. */
function withEffort(body: FirstRequest['body'], effort: string | undefined): FirstRequest['body'] {
  if (!effort) return body
  const change = (part: unknown) =>
    asObject(part)?.['output_config'] ? { ...asObject(part), output_config: { effort } } : part
  const { messages } = body
  return {
    ...asObject(change(body)),
    ...(Array.isArray(messages) && { messages: messages.map(change) }),
  }
}

/** The system prompt without its attribution block, which is its first text (2.1.54 to 2.1.330). */
function withoutAttribution(system: unknown): unknown {
  if (!Array.isArray(system)) return system
  const isAttribution = (part: unknown) =>
    String(asObject(part)?.['text']).startsWith('x-anthropic-billing-header:')
  return system.filter((part) => !isAttribution(part))
}

/** A model that is known, but not the newest of its slot, is requested almost like an unknown one. */
function kindOf(model: string, version: string | undefined): string {
  if (!knowsModel(version, model)) return 'unknown'
  if (thinksInBudget.test(withoutDate(removeVendor(model)))) return 'older'
  return slots.some((slot) => sentFirst(version, slot) === model) ? 'own' : 'unknown'
}

/** Models up to 4.5. Newer ones choose how long they think (12 models, 2.1.197 and 2.1.330, 2026-11-26). */
const thinksInBudget = /^claude-(?:3\b|(?:opus|sonnet|haiku)-4(?:-[0-5])?$)/

const betaCure = 'Leave experimental betas out: {--no-betas}'
const ownBetasCure =
  'Remove what the gateway does not know from ANTHROPIC_BETAS in "env" of settings.json, then run the command again.'
const metadataCure =
  'Remove CLAUDE_CODE_EXTRA_METADATA from "env" of settings.json, then run the command again.'
/** Without betas it asks for thinking in another form. */
const plainCure = 'Send experimental betas again: {--defaults}'
const cures = {
  'anthropic-beta': betaCure,
  context_management: betaCure,
  max_tokens: outputLimitCure,
}

// The clients.

/**
 * The members that both clients share.
 *
 * Facts about Claude Code: run with 2.1.197 and 2.1.329, 2026-11-21 and 2026-11-22, unless a comment says
 * otherwise.
 */
const shared = {
  program: {
    command: 'claude',
    packages: ['@anthropic-ai/claude-code', '@anthropic-ai/claude-code-*'],
    testedVersions: testedVersions(tested),
    pingArgs: (prompt, version, home) => [
      // Else it also sends the CLAUDE.md of the folders above, so that of the user's home (2.1.330, 2026-11-29).
      ...(home === 'empty' && hasBareMode(version) ? ['--bare'] : []),
      '-p',
      prompt,
      '--output-format',
      'json',
      ...(canForgetSession(version) ? ['--no-session-persistence'] : []),
    ],
    // It reads this from its settings too, before its first connection.
    caFileVariables: [names.authorities],
    // 2.1.120 and 2.1.330. 2.1.54 was still a Node program and reads only NODE_EXTRA_CA_CERTS (2026-11-23).
    certificateStores: (env: Machine['env']) =>
      env['CLAUDE_CODE_CERT_STORE'] === 'bundled'
        ? { system: false, files: [names.authorities], folders: [] }
        : ofOwnRuntime()(),
    accepts: responses.protocols,
    tokens: { firstRequest: 11_200, oneWord: 11_200 },
    pingEnv: { CLAUDE_CODE_MAX_RETRIES: '0' },
    /** The output with `--output-format json` (2.1.329): `{"result": "…"}`. */
    answerIn(stdout) {
      const result = ifPossible(() => JSON.parse(stdout).result)
      return typeof result === 'string' ? result : undefined
    },
    restartAdvice: 'Close every running Claude Code and start it again.',
    needsVersion: true,
  },
  protocols: ['messages'],
  // It cannot send the key in `api-key` only: it sends the token or the API key in addition to every other
  // header.
  sends: { headers: true, otherKeyHeaders: { messages: ['x-api-key'] } },
  config: {
    sensitiveSettings,
    folderFiles: [
      {
        patterns: ['.mcp.json', '.claude/**'],
        reach: 'all',
        source: 'system calls of 2.1.330, 2026-11-24',
      },
    ],
    interpolation: { names: null, values: null },
    gatewayVariables: {
      addresses: [names.baseUrl],
      others: [names.token, names.model, names.smallFast, names.subagent, ...slotVariables],
    },
    variables,
    keptOptions: {
      ofClient: [
        'slot',
        'startModel',
        'slotModels',
        'subagentModel',
        'contextWindow',
        'outputLimit',
        ...settingOptions.map(({ option }) => option),
        'isDiscovering',
        'hidesAttribution',
        'sendsNoBetas',
      ],
      ofFamily: ['slot', ...settingOptions.map(({ option }) => option), 'isDiscovering'],
    },
    modelSuffix: windowSuffix,
  },

  files(machine, disk) {
    const { join, named } = pathsOf(machine)
    const { cwd, home } = machine
    const namedFolder = named(names.folder)
    const folder = namedFolder ?? join(home, '.claude')
    const settings = join(folder, 'settings.json')
    const project = join(cwd, '.claude')
    const root = projectFolders(machine, disk)[0]!
    const repository = mainWorktree(machine, disk, root) ?? root
    const managed = managedFolder(machine)

    const filesIn = (place: string, ending: string) =>
      disk
        .entries(place)
        .filter((name) => name.endsWith(ending) && !name.startsWith('.'))
        .map((name) => join(place, name))

    return [
      editableFile('settings', settings),
      ...layersThere(disk, settings, [
        {
          kind: 'credentials',
          owner: 'user',
          content: 'credentials',
          paths: [join(folder, '.credentials.json')],
        },
        { kind: 'state', owner: 'user', paths: [join(namedFolder ?? home, '.claude.json')] },
        {
          kind: 'project',
          owner: 'folder',
          paths: [
            join(project, 'settings.json'),
            // Of the folders above, Claude Code reads only this file in the root of the repository. In a
            // linked worktree it also reads the one of the main worktree (2.1.238 and 2.1.330; not in
            // 2.1.197; 2026-11-23).
            join(repository, '.claude', 'settings.local.json'),
            join(root, '.claude', 'settings.local.json'),
            join(project, 'settings.local.json'),
          ],
        },
        {
          kind: 'project-agent',
          owner: 'folder',
          content: 'agent',
          // In the home folder these files are the user's own.
          paths: cwd === home ? [] : filesIn(join(project, 'agents'), '.md'),
        },
        {
          kind: 'managed',
          owner: 'administrator',
          paths: [
            join(managed, 'managed-settings.json'),
            ...filesIn(join(managed, 'managed-settings.d'), '.json'),
          ],
        },
        ...codeSettings(machine).map(
          ({ kind, path }) => ({ kind, owner: 'user', use: 'companion', paths: [path] }) as const,
        ),
        { kind: 'desktop', owner: 'user', paths: desktopProfiles(machine, disk) },
      ]),
    ]
  },

  read(files) {
    const file = fileOf(files, 'settings')
    const settings = readSettings(file)
    const { env, whyIgnored } = settings
    const url = env[names.baseUrl] || undefined

    // Without a token Claude Code sends the API key, as x-api-key.
    const key = env[names.token] || env[names.apiKey] || undefined
    const isKeyAlone = key !== undefined && !env[names.token]
    const headers = readCustomHeaders(env[names.headers])
    const pins = pinsIn(settings)

    const model = whyIgnored === undefined ? modelIn(settings) : undefined
    const slot = model && slotOf(model.name)
    const smallModel = env[names.smallFast] || undefined

    return {
      endpoint: {
        baseUrl: url && withoutTrailingSlash(url),
        key,
        keyHeader: isKeyAlone ? 'x-api-key' : 'authorization',
        headers: headers.length === 0 ? undefined : headers,
        caFile: env[names.authorities] || undefined,
      },
      options: {
        slot,
        // A top-level `model` that does not name a slot overrides every pin.
        startModel: slot === undefined ? model?.name || undefined : undefined,
        slotModels: Object.keys(pins).length === 0 ? undefined : pins,
        subagentModel: env[names.subagent] || undefined,
        smallModel,
        contextWindow: tokensIn(env[names.contextTokens]),
        outputLimit: tokensIn(env[names.outputTokens]),
        ...readSettingOptions(settingOptions, settings.root),
        isDiscovering: hasDiscovery(settings) || undefined,
        hidesAttribution: env[names.attribution] === '0' || undefined,
        sendsNoBetas: env[names.withoutBetas] === '1' || undefined,
      },
      unsetOptions: model?.isNamed === false ? ['slot'] : undefined,
      shownModel: model?.name,
      origins: originsIn(file.path, {
        baseUrl: url,
        key,
        model: model?.isNamed ? model.name : undefined,
        smallModel,
      }),
      configuredAs: (isMapping(pins) ? claudeGptName : claudeName).id,
      login: key === undefined && hasLogin(files) ? 'a saved login' : undefined,
      findings: unreadable(whyIgnored && brokenText(file.path, whyIgnored)),
    }
  },

  checkNow,
  checkSetup,
  firstRequest,
  launchSettings,
  gatewaySettings,
} as const satisfies Partial<ClientModule>

/** Claude Code with Claude models. It chooses a model for each slot by itself, or repoint pins one. */
export const claude: ClientModule = {
  ...shared,

  resolve: resolveClaude,
  plan: planAs(claudeName.id),
}

/** Claude Code with a mapping to GPT models. */
export const claudeGpt: ClientModule = {
  ...shared,

  resolve: resolveClaudeGpt,
  plan: planAs(claudeGptName.id),
}

function tokensIn(value: string | undefined): number | undefined {
  return Number(value) > 0 ? Number(value) : undefined
}

/** Linux: seen in both versions. The others: code.claude.com/docs/en/settings. */
function managedFolder(machine: Machine): string {
  if (machine.os === 'darwin') return '/Library/Application Support/ClaudeCode'
  if (machine.os === 'win32') return 'C:\\Program Files\\ClaudeCode'
  return '/etc/claude-code'
}

/** The model that it starts with, as written. Without a top-level `model`, newer versions start with opus. */
function modelIn({ root, env }: ClaudeSettings): {
  readonly name: string
  readonly isNamed: boolean
} {
  if (env[names.model]) return { name: env[names.model]!, isNamed: true }
  if (typeof root['model'] === 'string') return { name: root['model'], isNamed: true }
  return { name: 'opus', isNamed: false }
}
