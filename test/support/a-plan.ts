import { formatOf } from '../../src/edits/format.ts'
import type { FileEdit, Plan, SettingChange } from '../../src/edits/types.ts'

/** A home on the disk or in memory, from which a plan reads its files. */
export interface PlanSource {
  /** The absolute path of a file in the home. */
  at(name: string): string
  /** The text of a file in the home, or null. */
  text(name: string): string | null
}

const encoder = new TextEncoder()

export function bytesOf(text: string): Uint8Array {
  return encoder.encode(text)
}

/** A plan with these edits, as for a setup of Codex. */
export function aPlan(edits: readonly FileEdit[], kind: Plan['kind'] = 'setup'): Plan {
  const command = kind === 'repair' ? 'doctor' : 'codex'
  return { kind, command, address: 'https://gateway.example', model: 'gpt-5.6-sol', edits }
}

/** Only files for secrets may contain this key. */
export const canaryKey = 'sk-canary-0123456789abcdef'

/** A setup of Codex's two files in this home. The file with the secret is first. */
export function aPairPlan(home: PlanSource, key = canaryKey): Plan {
  return aPlan([authEdit(home, key), configEdit(home)])
}

export function authEdit(home: PlanSource, key = canaryKey): FileEdit {
  const before = home.text('.codex/auth.json')
  return {
    client: 'codex',
    path: home.at('.codex/auth.json'),
    format: 'json',
    scope: 'whole',
    changes: [{ path: ['OPENAI_API_KEY'], value: key, isSecret: true, role: 'key' }],
    before: before === null ? null : bytesOf(before),
    after: bytesOf(`{"OPENAI_API_KEY": "${key}"}\n`),
    holdsSecret: true,
  }
}

export function configEdit(home: PlanSource, baseUrl = 'https://gateway.example/v1'): FileEdit {
  return keysEdit(home, '.codex/config.toml', [
    { path: ['model'], value: 'gpt-5.6-sol' },
    { path: ['model_provider'], value: 'gateway', role: 'address' },
    { path: ['model_providers', 'gateway', 'name'], value: 'Gateway' },
    { path: ['model_providers', 'gateway', 'base_url'], value: baseUrl, role: 'address' },
    { path: ['model_providers', 'gateway', 'requires_openai_auth'], value: true },
  ])
}

/** Claude Code's address and key, which are in one file. */
export function settingsEdit(
  home: PlanSource,
  baseUrl = 'https://gateway.example',
  key = canaryKey,
): FileEdit {
  const changes: SettingChange[] = [
    { path: ['env', 'ANTHROPIC_AUTH_TOKEN'], value: key, isSecret: true, role: 'key' },
    { path: ['env', 'ANTHROPIC_BASE_URL'], value: baseUrl, role: 'address' },
    { path: ['model'], value: 'sonnet' },
  ]
  return keysEdit(home, '.claude/settings.json', changes, { client: 'claude', holdsSecret: true })
}

/** opencode's key and address, each in a file that belongs to the user. */
export function providerEdits(
  home: PlanSource,
  baseUrl = 'https://gateway.example/v1',
  key = canaryKey,
): FileEdit[] {
  const entry = { type: 'api', key }
  return [
    keysEdit(
      home,
      '.local/share/opencode/auth.json',
      [{ path: ['gateway'], value: entry, isSecret: true, role: 'key' }],
      { client: 'opencode', holdsSecret: true },
    ),
    keysEdit(
      home,
      '.config/opencode/opencode.json',
      [
        { path: ['provider', 'gateway', 'options', 'baseURL'], value: baseUrl, role: 'address' },
        { path: ['model'], value: 'gateway/gpt-5.6-sol' },
      ],
      { client: 'opencode' },
    ),
  ]
}

/** An edit of some keys in a file that belongs to the user. */
export function keysEdit(
  home: PlanSource,
  name: string,
  changes: readonly SettingChange[],
  options: { client?: string; holdsSecret?: boolean } = {},
): FileEdit {
  const text = home.text(name)
  const before = text === null ? null : bytesOf(text)
  const format = name.endsWith('.toml') ? 'toml' : 'json'
  return {
    client: options.client ?? 'codex',
    path: home.at(name),
    format,
    scope: 'keys',
    changes,
    before,
    after: formatOf(format).edit(before, changes, name),
    holdsSecret: options.holdsSecret ?? false,
  }
}
