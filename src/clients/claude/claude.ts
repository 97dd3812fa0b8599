import { compact } from '../../compact.ts'
import type { FileEdit } from '../../edits/plan.ts'
import { UserError } from '../../errors.ts'
import type { Machine } from '../../platform/platform.ts'
import {
  type Choice,
  type ClientModule,
  type ConfigFile,
  type FileTexts,
  type Look,
  type Origins,
  type Settings,
  type SetupOptions,
  slots,
} from '../client.ts'
import { pathsOf } from '../paths.ts'
import { editKeys } from '../repairs.ts'
import { brokenText, fileOf, layersOf, originOf, readFile, rootOf } from '../texts.ts'
import { ourKeys } from './choice.ts'
import { chooseMapped, chooseSlots, usesOfMapping, usesOfSlots } from './models.ts'
import { inTheWay, wrongNow } from './obstacles.ts'
import { inEnv, names, readRepairedSettings, readSettings, slotVariable } from './settings.ts'

const demoFiles = {
  '.claude/settings.json': `{
  "permissions": { "allow": ["Bash(npm test:*)"], "deny": [] },
  "hooks": {},
  "model": "opus"
}
`,
}

/** The messages client. Facts: run against Claude Code 2.1.197 and 2.1.329, 2026-11-21. */
const shared = {
  binary: {
    command: 'claude',
    versionArgs: ['--version'],
    testedVersions: ['2.1.197', '2.1.329'],
    pingArgs: (prompt: string) => [
      '--bare',
      '-p',
      prompt,
      '--output-format',
      'json',
      '--no-session-persistence',
    ],
    pingEnv: { CLAUDE_CODE_MAX_RETRIES: '0' },
    answerIn,
  },
  protocol: 'messages',
  restartAdvice: 'Close every running Claude Code and start it again.',
  files: claudeFiles,
  checkOptions: checkOptionsOfClaude,
  readBack: readBackClaude,
  origins: originsOfClaude,
  asConfigured: optionsOf,
  inTheWay,
  wrongNow,
} as const

/** With its own models: the slots keep their meaning. */
export const claude: ClientModule = {
  ...shared,
  choose: chooseSlots,
  plan: (texts, choice) => planClaude('claude', texts, choice),
  wouldUse: usesOfSlots,
  isUsual: (settings) => !hasFilledSlots(settings),
}

/** With GPT models in its slots. */
export const claudeGpt: ClientModule = {
  ...shared,
  choose: chooseMapped,
  plan: (texts, choice) => planClaude('claude-gpt', texts, choice),
  wouldUse: usesOfMapping,
  isUsual: hasFilledSlots,
  demoFiles,
}

/** What it prints with `--output-format json` (2.1.329): `{"result": "…"}`. */
function answerIn(stdout: string): string | undefined {
  try {
    const { result } = JSON.parse(stdout)
    return typeof result === 'string' ? result : undefined
  } catch {
    return undefined
  }
}

function hasFilledSlots({ slotModels = {} }: Settings): boolean {
  return slots.every((slot) => slotModels[slot] !== undefined)
}

/** @throws UserError `usage` for two names of one model */
function checkOptionsOfClaude({ model, slot = 'sonnet', slotModels }: SetupOptions): void {
  if (model === undefined || slotModels?.[slot] === undefined) return
  throw new UserError({
    code: 'usage',
    message: `--model and --${slot}-model both name the model of ${slot}`,
    hint: 'Keep one of them.',
  })
}

function claudeFiles(machine: Machine, look: Look): readonly ConfigFile[] {
  const { join, named } = pathsOf(machine)
  const own = named(names.folder)
  const home = own ?? join(machine.home, '.claude')
  const settings = join(home, 'settings.json')
  // Only the working folder's own settings count, not those of folders above it.
  const project = join(machine.cwd, '.claude')
  const managed = managedFolder(machine)
  const drops = join(managed, 'managed-settings.d')
  const layers = [
    { role: 'credentials', path: join(home, '.credentials.json') },
    { role: 'state', path: join(own ?? machine.home, '.claude.json') },
    { role: 'project', path: join(project, 'settings.json') },
    { role: 'project', path: join(project, 'settings.local.json') },
    { role: 'managed', path: join(managed, 'managed-settings.json') },
    ...look
      .entries(drops)
      .filter((name) => name.endsWith('.json') && !name.startsWith('.'))
      .map((name) => ({ role: 'managed', path: join(drops, name) })),
  ]
  return [
    { role: 'settings', path: settings, format: 'json', holdsSecret: true, use: 'target' },
    ...layers
      .filter(({ path }) => path !== settings && look.exists(path))
      .map((layer) => ({ ...layer, format: 'json', holdsSecret: true, use: 'layer' }) as const),
  ]
}

/** Linux: seen in both versions, 2026-11-21. The others: code.claude.com/docs/en/settings. */
function managedFolder(machine: Machine): string {
  if (machine.os === 'darwin') return '/Library/Application Support/ClaudeCode'
  if (machine.os === 'win32') return 'C:\\Program Files\\ClaudeCode'
  return '/etc/claude-code'
}

function planClaude(
  id: 'claude' | 'claude-gpt',
  texts: FileTexts,
  choice: Choice,
): readonly FileEdit[] {
  const file = fileOf(texts, 'settings')
  const changes = ourKeys(readRepairedSettings(file), choice)
  const edit = editKeys(id, file, changes, choice.repairs)
  const after = readSettings({ ...file, bytes: edit.after })
  if (after.skipped !== undefined) {
    throw new UserError({
      code: 'config-invalid',
      message: `Claude Code would skip the file without a word: ${brokenText(file.path, after.skipped)}`,
      hint: 'Correct the file, or let repoint take comments and trailing commas out of it.',
    })
  }
  return [edit]
}

/** `opusplan` counts as sonnet; any other name that is no slot goes out as it stands. */
function optionsOf({ model, slotModels, subagentModel }: Settings): SetupOptions {
  const slot = model === 'opusplan' ? 'sonnet' : slots.find((name) => name === model)
  return { ...(slot === undefined ? { model } : { slot }), slotModels, subagentModel }
}

function originsOfClaude(texts: FileTexts): Origins {
  const settings = readFile(fileOf(texts, 'settings'))
  const model = originOf([settings], inEnv(names.model)) ?? originOf([settings], ['model'])
  return compact({
    baseUrl: originOf([settings], inEnv(names.baseUrl)),
    model,
    smallModel: originOf([settings], inEnv(names.smallFast)),
  })
}

function readBackClaude(texts: FileTexts): Settings {
  const file = fileOf(texts, 'settings')
  const { root, env, skipped } = readSettings(file)
  const url = env[names.baseUrl] || undefined
  // Without a token Claude Code sends the API key, as x-api-key.
  const key = env[names.token] || env[names.apiKey] || undefined
  const slotModels = Object.fromEntries(
    slots.flatMap((slot) => {
      const model = env[slotVariable(slot)]
      return model ? [[slot, model]] : []
    }),
  )
  const hasLogin = layersOf(texts, 'credentials').some((layer) => layer.bytes !== null)
  return {
    ...(url === undefined ? {} : { configuredUrl: url, baseUrl: rootOf(url) }),
    model: env[names.model] || (typeof root['model'] === 'string' ? root['model'] : 'opus'),
    ...(key === undefined ? {} : { key, keyPath: file.path }),
    ...(Object.keys(slotModels).length === 0 ? {} : { slotModels }),
    ...(env[names.subagent] ? { subagentModel: env[names.subagent] } : {}),
    ...(env[names.smallFast] ? { smallModel: env[names.smallFast] } : {}),
    ...(key === undefined && hasLogin ? { login: 'a saved login' } : {}),
    ...(skipped === undefined ? {} : { broken: brokenText(file.path, skipped) }),
  }
}
