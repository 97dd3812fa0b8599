import { compact } from '../../compact.ts'
import type { FirstRequest } from '../../gateway/types.ts'
import { type FirstRequestInput, type LoadedFiles, slots } from '../client.ts'
import { fileOf } from '../loaded-files.ts'
import { isBefore } from '../tested.ts'
import { safeguardsOf } from './auto-mode.ts'
import { knowsModel, sentFirst, tableVersions } from './sent.ts'
import { isOn, names, readSettings } from './settings.ts'

/**
 * The values of `anthropic-beta`, each with the first and last version that sends it. 2.1.54, 2.1.197,
 * 2.1.238 and 2.1.330 were run (2026-11-23). Values that stay with `withoutBetas` are marked.
 */
const betas: readonly {
  readonly name: string
  readonly since?: string
  readonly until?: string
  readonly stays?: true
}[] = [
  { name: 'claude-code-20250219', stays: true },
  { name: 'interleaved-thinking-2025-05-14', stays: true },
  { name: 'effort-2025-11-24', stays: true },
  { name: 'prompt-caching-scope-2026-01-05', until: '2.1.238' },
  { name: 'thinking-token-count-2026-05-13', since: '2.1.197' },
  { name: 'context-management-2025-06-27', since: '2.1.197' },
  { name: 'mid-conversation-system-2026-04-07', since: '2.1.197', until: '2.1.238', stays: true },
  { name: 'mid-conversation-tool-changes-2026-07-01', since: '2.1.330' },
  { name: 'advanced-tool-use-2025-11-20', since: '2.1.330' },
]

/** In tokens: the limit for its own models from 2.1.330 on, and for all others (run 2026-11-23). */
const outputTokens = { own: 128_000, other: 32_000 }

/**
 * Follows the requests of the same versions, each run with a gateway that rejects one of these members. For
 * the client's older models, which were not run, it has only what the client sends for every model.
 */
export function firstRequest(files: LoadedFiles, asking: FirstRequestInput): FirstRequest {
  const { model, version = tableVersions.newest } = asking
  const env = { ...asking.env, ...readSettings(fileOf(files, 'settings')).env }
  const isPlain = isOn(env[names.withoutBetas])
  const isOwn = slots.some((slot) => sentFirst(version, slot) === model)
  const isFrom = (first: string) => !isBefore(version, first)

  const sent = betas.filter(({ since, until, stays }) => {
    const isOfVersion = (!since || isFrom(since)) && (!until || !isBefore(until, version))
    return isOfVersion && (stays || !isPlain)
  })
  const usual = isOwn && isFrom('2.1.330') ? outputTokens.own : outputTokens.other
  const thinks = (isOwn || !knowsModel(model, version)) && !env['MAX_THINKING_TOKENS']
  const managed = { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] }

  return compact({
    query: 'beta=true',
    body: {
      max_tokens: Number(env[names.outputTokens]) || usual,
      thinking: thinks ? { type: 'adaptive' } : undefined,
      context_management: thinks && isFrom('2.1.197') && !isPlain ? managed : undefined,
      output_config:
        thinks && isFrom('2.1.197') ? { effort: env[names.effort] || 'high' } : undefined,
    },
    headers: {
      'anthropic-beta': sent.map(({ name }) => name).join(','),
      'anthropic-dangerous-direct-browser-access': 'true',
      'x-app': 'cli',
    },
    safeguards: safeguardsOf(version, isPlain),
    // 2.1.238 does not retry; a version between the two began to.
    retryWithout: isBefore('2.1.238', version) ? unknownBetas : undefined,
    hints: isPlain ? { max_tokens: limitCure } : cures,
  })
}

/** Anthropic's own error text; for any other text Claude Code gives up (2.1.330, 2026-11-23). */
const unknownBetas = {
  to: /^Unexpected value\(s\) /,
  names: ['anthropic-beta', 'context_management'],
}

const limitCure = `Set ${names.outputTokens} to what the gateway takes, in "env" of the settings, then run the command again.`
const betaCure = `Set ${names.withoutBetas} to 1, in "env" of the settings, then run the command again: Claude Code leaves it out then.`
const cures = { 'anthropic-beta': betaCure, context_management: betaCure, max_tokens: limitCure }
