import { win32 } from 'node:path'
import type { Machine } from '../../platform/platform.ts'
import type { ClientModule, ClientName } from '../contract/client.ts'
import type { FolderFiles, HarmfulVariable, KnownVariables } from '../contract/config.ts'
import type { ConfigFile, DiskReader } from '../contract/files.ts'
import type { Program } from '../contract/program.ts'
import { wordsIn } from '../files/parse-file.ts'
import { editableFile, layersThere, pathsOf } from '../files/paths.ts'
import type { WindowHandling } from '../models/context-window.ts'
import type { testedVersions } from '../program/tested.ts'

/**
 * What opencode or one of its forks passes to the module that they share (`clientOf`). What only one of them does
 * is in its own file instead, as a function that replaces one of that module (kilo.ts). The program has the
 * client's ID as its name.
 */
export interface Fork
  extends ClientName,
    Required<Pick<ClientModule, 'accepts' | 'loadRecordings'>> {
  /** The name of its folder among those of the XDG specification, and of the administrator's folder. */
  readonly folder: string
  /** The names of its configuration in its own folder, weakest first. */
  readonly configNames: readonly string[]
  /** The file that it creates if there is none. */
  readonly newConfig: string
  /** The names of its configuration in a project and in folders below it, weakest first. */
  readonly projectNames: readonly string[]
  /** Folders with configuration in a project and in the home folder, weakest first. */
  readonly dotFolders: readonly string[]
  readonly folderFiles: readonly FolderFiles[]
  /** The prefix of its variables: `OPENCODE` of `OPENCODE_CONFIG` and others. */
  readonly variables: string
  readonly schema: string
  /** IDs of providers that it ships: it merges its own settings for an ID with the configured ones. */
  readonly reservedProviderIds: readonly string[]
  /** Models for which it sends no token limit. Absent: none. */
  readonly asksForNoLimit?: RegExp
  /** What it does with the context windows of models. */
  readonly window: WindowHandling
  /**
   * The version that does not start with keys of the next major version of opencode. Absent: all versions do.
   */
  readonly refusesPermissionsAs?: string
  /** Its `tested.json`. */
  readonly tested: Parameters<typeof testedVersions>[0]
  readonly program: Omit<Program, 'command' | 'testedVersions' | 'restartAdvice'>
}

/** Provider IDs that opencode ships and that a user may choose (of the 225 of 1.18.33). */
export const reservedProviderIds = wordsIn(`
  alibaba amazon-bedrock anthropic azure azure-cognitive-services baseten cerebras chutes
  cloudflare-ai-gateway cloudflare-workers-ai cohere databricks deepinfra deepseek digitalocean
  fireworks-ai github-copilot gitlab google google-vertex google-vertex-anthropic groq helicone
  huggingface llama lmstudio meta minimax mistral modelscope moonshotai nebius nvidia ollama-cloud
  openai opencode opencode-go openrouter perplexity requesty scaleway siliconflow snowflake-cortex
  togetherai v0 venice vercel volcengine wandb watsonx xai zai zhipuai`)

/** Subfolders with agents, each of which may set a model (1.18.34, Kilo 7.7.9). */
const agentFolders = ['agent', 'agents', 'mode', 'modes']

const xdgFolders = { CONFIG: '.config', DATA: '.local/share', STATE: '.local/state' } as const

/** These clients use the XDG folders on every system, including Windows. */
export function xdgFolder(machine: Machine, kind: keyof typeof xdgFolders): string {
  const { join, named } = pathsOf(machine)
  return named(`XDG_${kind}_HOME`) ?? join(machine.home, xdgFolders[kind])
}

export function filesOf(fork: Fork, machine: Machine, disk: DiskReader): readonly ConfigFile[] {
  const { join, dirname, named } = pathsOf(machine)
  const { home, cwd } = machine
  const { folder, configNames, projectNames, dotFolders, variables } = fork

  const config = join(xdgFolder(machine, 'CONFIG'), folder)
  const data = join(xdgFolder(machine, 'DATA'), folder)
  const inFolder = (place: string) => projectNames.map((name) => join(place, name))
  const dotsIn = (place: string) => dotFolders.map((name) => join(place, name))
  const agentsIn = (place: string) =>
    dotsIn(place)
      .flatMap((dot) => agentFolders.map((kind) => join(dot, kind)))
      .flatMap((kind) => disk.entries(kind).map((name) => join(kind, name)))
      .filter((path) => path.endsWith('.md'))

  const [lowest, ...others] = configNames.map((name) => join(config, name))
  const configPath =
    named(`${variables}_CONFIG`) ??
    others.findLast((path) => disk.exists(path)) ??
    join(config, fork.newConfig)

  const above: string[] = []
  const dots: string[] = []
  const agents: string[] = []
  // Up to the root: if git reports no repository, because it is broken or git is missing, opencode also reads
  // the folders above it (1.18.34, not 1.14.41; 2026-11-23).
  for (let place = cwd; ; place = dirname(place)) {
    above.unshift(...inFolder(place))
    dots.unshift(...dotsIn(place).flatMap(inFolder))
    if (place !== home) agents.unshift(...agentsIn(place))
    if (dirname(place) === place) break
  }

  const managed = managedFolder(machine, folder)
  const extra = named(`${variables}_CONFIG_DIR`)

  return [
    { ...editableFile('auth', join(data, 'auth.json')), content: 'credentials' },
    { ...editableFile('config', configPath), holdsSecret: false },
    ...layersThere(disk, configPath, [
      { kind: 'lower', owner: 'user', paths: [lowest!, ...others] },
      { kind: 'upper', owner: 'user', paths: dotsIn(home).flatMap(inFolder) },
      { kind: 'project', owner: 'folder', paths: [...above, ...dots] },
      { kind: 'project-agent', owner: 'folder', content: 'agent', paths: agents },
      { kind: 'upper', owner: 'user', paths: extra === undefined ? [] : inFolder(extra) },
      { kind: 'managed', owner: 'administrator', paths: inFolder(managed) },
    ]),
  ]
}

function managedFolder({ os, env }: Machine, folder: string): string {
  if (os === 'darwin') return `/Library/Application Support/${folder}`
  if (os === 'win32') return win32.join(env['ProgramData'] || 'C:\\ProgramData', folder)
  return `/etc/${folder}`
}

/** `_CONFIG_CONTENT` is extended by a launch. */
export function harmfulVariables({
  id,
  label,
  variables,
}: Pick<Fork, 'id' | 'label' | 'variables'>): readonly HarmfulVariable[] {
  return [
    {
      name: `${variables}_AUTH_CONTENT`,
      code: `${id}-environment-auth`,
      effect: `${label} reads it instead of auth.json`,
      severity: 'error',
    },
    {
      name: `${variables}_CONFIG_CONTENT`,
      code: `${id}-environment-config`,
      effect: 'it overrides every file',
      severity: 'warning',
      isLeftToLaunch: true,
    },
  ]
}

export function knownVariables(fork: Fork): KnownVariables {
  const { variables } = fork
  return {
    families: [`${variables}_`],
    harmful: harmfulVariables(fork),
    // For its own service, its server and its list of models (names in 1.18.34 and Kilo 7.7.9, 2026-11-28; not run).
    harmless: ['API_KEY', 'SERVER_PASSWORD', 'MODELS_URL', 'EXPERIMENTAL_OUTPUT_TOKEN_MAX'].map(
      (name) => `${variables}_${name}`,
    ),
  }
}
