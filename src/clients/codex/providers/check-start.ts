import type { Findings } from '../../../finding.ts'
import { findingAt } from '../../checks/findings.ts'
import type { ParsedFile } from '../../files/parse-file.ts'
import {
  configRepair,
  type Provider,
  providerInUse,
  providersOf,
  reservedIds,
  tableName,
} from './provider.ts'

/**
 * Reports what keeps Codex from starting, whichever provider is in use.
 *
 * @param plannedId the ID of the provider whose table a setup is about to write; the setup fixes its faults
 */
export function* startupFindings(config: ParsedFile, plannedId?: string): Findings {
  for (const finding of checkStart(config, plannedId)) yield { ...finding, topic: 'broken' }
}

function* checkStart(config: ParsedFile, plannedId: string | undefined): Findings {
  yield* checkRoot(config, plannedId)
  for (const provider of providersOf(config)) {
    if (reservedIds.includes(provider.id)) yield* checkReservedId(config, provider)
    else if (provider.id !== plannedId) yield* checkTable(config, provider)
  }
}

function* checkRoot(config: ParsedFile, plannedId: string | undefined): Findings {
  if (config.error !== undefined)
    yield {
      code: 'codex-config-invalid',
      message: `Codex does not start: ${config.error.message}`,
      location: config.path,
      hint: 'Fix the file, then run the command again.',
      severity: 'error',
    }

  if (config.get(['profile']) !== undefined)
    yield findingAt(config, ['profile'], {
      code: 'codex-legacy-profile',
      message: 'Codex does not start with `profile` at the root of the file',
      hint: 'Remove the line. To choose a profile: codex --profile NAME',
      becomes: { value: undefined },
    })

  // A setup writes these itself.
  const texts = plannedId === undefined ? ['model', 'model_provider', 'openai_base_url'] : []
  for (const name of texts) {
    const value = config.get([name])
    if (value !== undefined && typeof value !== 'string')
      yield findingAt(config, [name], {
        code: 'codex-config-invalid',
        message: `Codex does not start: ${name} must be a text`,
        hint: 'Fix the line, or set Codex up: repoint codex',
      })
  }

  const inUse = plannedId === undefined ? providerInUse(config) : undefined
  if (inUse && !inUse.table && !reservedIds.includes(inUse.id))
    yield findingAt(config, ['model_provider'], {
      code: 'codex-provider-missing',
      message: `Codex does not start: model_provider = ${JSON.stringify(inUse.id)} has no table in model_providers`,
      hint: 'Remove the line, or set Codex up: repoint codex',
    })
}

const bedrockKeys = ['base_url', 'auth', 'http_headers', 'aws']

/** The settings that the tables of built-in providers may contain (0.169.0, 2026-11-24). */
const builtInKeys: Readonly<Record<string, readonly string[]>> = {
  'amazon-bedrock': bedrockKeys,
  'amazon-bedrock-runtime': bedrockKeys,
  gcp: ['base_url', 'auth', 'http_headers', 'project_id', 'location', 'credential_file'],
}

function* checkReservedId(config: ParsedFile, { id, table, path }: Provider): Findings {
  const allowed = builtInKeys[id]
  if (allowed && Object.keys(table).every((key) => allowed.includes(key))) return
  yield findingAt(config, path, {
    code: 'codex-reserved-provider',
    message: `Codex does not start: ${tableName(id)} uses an ID that Codex reserves`,
    hint: 'Remove the table, or rename it.',
    becomes: { value: undefined },
    needsConsentTo: `Remove the table ${tableName(id)} from config.toml.`,
  })
}

/** Codex validates every table, also one that it does not use (0.169.0, 2026-11-28). */
function* checkTable(config: ParsedFile, { id, table, path }: Provider): Findings {
  const [other] = ['env_key', 'experimental_bearer_token', 'requires_openai_auth'].filter(
    (name) => table[name] !== undefined && table[name] !== false,
  )
  if (table['auth'] !== undefined && other !== undefined)
    yield findingAt(config, [...path, 'auth'], {
      code: 'codex-auth-combined',
      message: `Codex does not start: ${tableName(id)} has auth and ${other}`,
      hint: 'Remove one of the two.',
    })

  const wire = table['wire_api']
  if (wire !== undefined && wire !== 'responses')
    yield findingAt(config, [...path, 'wire_api'], {
      code: 'codex-chat-wire',
      message: `Codex does not start: ${tableName(id)} has wire_api = ${typeof wire === 'string' ? JSON.stringify(wire) : typeof wire}`,
      hint: 'Set it to "responses".',
      becomes: { value: 'responses' },
    })

  const name = table['name']
  if (name === undefined || (typeof name === 'string' && name.trim() === ''))
    yield findingAt(config, path, {
      code: 'codex-nameless-provider',
      message: `Codex does not start: ${tableName(id)} has no name`,
      hint: 'Give it a name, or remove the table.',
      fix: configRepair({ path: [...path, 'name'], value: id }),
    })
}
