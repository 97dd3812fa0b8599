import { claudeFlags, expectDistinctModelFlags } from './claude/flags.ts'
import { codexFlags } from './codex/flags.ts'
import type { Client, ClientModule, ClientName } from './contract/client.ts'
import type { ClientFlag, ClientOptions } from './contract/options.ts'
import {
  claudeGptName,
  claudeName,
  clineName,
  codexName,
  copilotName,
  droidName,
  grokName,
  kiloName,
  kimiName,
  openclawName,
  opencodeName,
  piName,
  qwenName,
} from './names.ts'
import {
  contextWindowFlag,
  expectUsableProviderId,
  factFlags,
  imageFlags,
  limitFlags,
  modelFlag,
  protocolFlag,
  providerIdFlag,
  reasoningEffortFlag,
} from './options/flags.ts'

/** What the command line must know about any client before the user chooses it. */
export interface AnyClientRow extends ClientName {
  /** Other names for it. repoint suggests the client for them, but does not accept them. */
  readonly alsoCalled?: readonly string[]
  /** For the list of commands. */
  readonly description: string
  /** For its help. */
  readonly examples: readonly string[]
  /** The start of repoint loads no client. */
  readonly load: () => Promise<ClientModule>
}

/** The same, for a client with files that a setup can write. */
export interface ClientRow extends AnyClientRow {
  /** The flags in addition to those of every setup, in the order of its help. */
  readonly flags: readonly ClientFlag[]
  /** The slot of `slotModels` that an import link's only model belongs in. Absent: the client has no slots. */
  readonly mainSlot?: string
  /** @throws UserError `usage` for flags that contradict each other */
  readonly expectConsistentFlags?: (options: ClientOptions) => void
}

/** Every client with files that a setup can write, in the order in which repoint offers them. */
export const clientRows: readonly ClientRow[] = [
  {
    ...codexName,
    description: 'set up Codex: config.toml and auth.json, together',
    examples: [
      'repoint codex',
      'repoint codex --base-url https://gw.example --key-stdin --yes < key',
    ],
    flags: codexFlags,
    load: async () => (await import('./modules.ts')).codex,
  },
  {
    ...claudeName,
    alsoCalled: ['claude-code', 'claudecode'],
    description: 'set up Claude Code with its own models',
    examples: ['repoint claude', 'repoint claude --slot opus --opus-model claude-opus-5-5'],
    flags: claudeFlags,
    mainSlot: 'sonnet',
    expectConsistentFlags: expectDistinctModelFlags,
    load: async () => (await import('./modules.ts')).claude,
  },
  {
    ...claudeGptName,
    description: 'set up Claude Code with GPT models in its slots',
    examples: ['repoint claude-gpt', 'repoint claude-gpt --haiku-model gpt-5.4-mini --dry-run'],
    flags: claudeFlags,
    mainSlot: 'sonnet',
    load: async () => (await import('./modules.ts')).claudeGpt,
  },
  {
    ...opencodeName,
    description: 'set up opencode: its config and its auth.json, together',
    examples: ['repoint opencode', 'repoint opencode --model gpt-5.6-sol --provider-id work'],
    flags: [modelFlag, protocolFlag, providerIdFlag, ...factFlags, reasoningEffortFlag],
    load: async () => (await import('./modules.ts')).opencode,
  },
  {
    ...kiloName,
    alsoCalled: ['kilo-code', 'kilocode'],
    description: 'set up Kilo: its config and its auth.json, together',
    examples: ['repoint kilo', 'repoint kilo --model gpt-5.6-sol --provider-id work'],
    flags: [modelFlag, protocolFlag, providerIdFlag, ...factFlags, reasoningEffortFlag],
    load: async () => (await import('./modules.ts')).kilo,
  },
  {
    ...piName,
    description: 'set up pi: models.json and settings.json, together',
    examples: ['repoint pi', 'repoint pi --model claude-opus-5-5 --protocol messages'],
    flags: [modelFlag, protocolFlag, providerIdFlag, ...factFlags],
    load: async () => (await import('./modules.ts')).pi,
  },
  {
    ...openclawName,
    description: 'set up OpenClaw: its openclaw.json',
    examples: ['repoint openclaw', 'repoint openclaw --model claude-opus-5-5 --protocol messages'],
    flags: [modelFlag, protocolFlag, providerIdFlag, ...factFlags],
    load: async () => (await import('./modules.ts')).openclaw,
  },
  {
    ...qwenName,
    alsoCalled: ['qwen-code', 'qwencode'],
    description: 'set up Qwen Code: its settings.json',
    examples: ['repoint qwen', 'repoint qwen --model gpt-5.6-sol --context-window 400000'],
    flags: [modelFlag, protocolFlag, ...limitFlags, ...imageFlags],
    load: async () => (await import('./modules.ts')).qwen,
  },
  {
    ...droidName,
    alsoCalled: ['factory', 'factory-droid'],
    description: 'set up Factory droid: a custom model that it starts with',
    examples: ['repoint droid', 'repoint droid --model gpt-5.6-sol --provider-id work'],
    flags: [modelFlag, protocolFlag, providerIdFlag, ...limitFlags, ...imageFlags],
    load: async () => (await import('./modules.ts')).droid,
  },
  {
    ...clineName,
    description: 'set up the Cline CLI: its providers.json',
    examples: ['repoint cline', 'repoint cline --model gpt-5.6-sol --context-window 400000'],
    flags: [modelFlag, contextWindowFlag],
    load: async () => (await import('./modules.ts')).cline,
  },
  {
    ...kimiName,
    alsoCalled: ['kimi-code', 'kimicode', 'kimi-cli'],
    description: 'set up Kimi Code: its config.toml',
    examples: ['repoint kimi', 'repoint kimi --model gpt-5.6-sol --provider-id work'],
    flags: [modelFlag, protocolFlag, providerIdFlag, ...limitFlags, ...imageFlags],
    load: async () => (await import('./modules.ts')).kimi,
  },
  {
    ...grokName,
    alsoCalled: ['grok-build', 'grok-cli'],
    description: 'set up Grok Build: its config.toml',
    examples: ['repoint grok', 'repoint grok --model claude-opus-5-5 --protocol messages'],
    flags: [modelFlag, protocolFlag, providerIdFlag, ...limitFlags],
    load: async () => (await import('./modules.ts')).grok,
  },
]

/** The clients that store no gateway in a file: only their environment configures them, see `launchSettings`. */
export const environmentRows: readonly AnyClientRow[] = [
  {
    ...copilotName,
    alsoCalled: ['github-copilot', 'copilot-cli'],
    description:
      'check the key and print the variables that point GitHub Copilot CLI at the gateway',
    examples: ['repoint copilot', 'repoint copilot --name work', 'repoint run work -- copilot'],
    load: async () => (await import('./modules.ts')).copilot,
  },
]

/** The rows of clients that have files: the first of each family. */
export const familyRows: readonly ClientRow[] = clientRows.filter(
  (row) => clientRows.find(({ family }) => family === row.family) === row,
)

export function rowOf(id: string): ClientRow {
  const row = clientRows.find((candidate) => candidate.id === id)
  if (row === undefined) throw new Error(`there is no client ${id}`)
  return row
}

/** The IDs of the clients that share files with `id`. Records name one of them. */
export function familyIds(id: string): readonly string[] {
  if (environmentRows.some((row) => row.id === id)) return [id]
  const { family } = rowOf(id)
  return clientRows.filter((row) => row.family === family).map((row) => row.id)
}

/** Loads every client, also those without files. */
export function loadAllClients(): Promise<Client[]> {
  return loadClients([...clientRows, ...environmentRows])
}

export async function loadClient(row: AnyClientRow): Promise<Client> {
  const { id, family, label } = row
  const { withInterpolationGuard, withUsableAddress } = await import('./modules.ts')
  return withUsableAddress(withInterpolationGuard({ ...(await row.load()), id, family, label }))
}

/** Loads clients, in the order of the rows. By default those with files. */
export function loadClients(wanted: readonly AnyClientRow[] = clientRows): Promise<Client[]> {
  return Promise.all(wanted.map(loadClient))
}

/** Checks the options as far as possible without the gateway. @throws UserError `usage` */
export function expectUsableOptions(
  { id, label, config: { reservedProviderIds = [] } }: Client,
  requested: ClientOptions,
): void {
  expectUsableProviderId(requested.providerId, label, reservedProviderIds)
  clientRows.find((row) => row.id === id)?.expectConsistentFlags?.(requested)
}
