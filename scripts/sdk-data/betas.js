import { textsOf, visit } from './walk.js'

/**
 * By place: the betas that bring it, by the beginnings of their names. The types of the SDK have both lists, what is a
 * beta and the names of the betas, but do not say which belongs to which. `type=` is one of the types at that place.
 */
const betaNames = {
  billing_policy: ['user-profiles-billing-'],
  compaction: ['compact-'],
  context_management: ['context-management-', 'compact-'],
  fallback_credit_token: ['fallback-credit-'],
  fallbacks: ['server-side-fallback-'],
  mcp_servers: ['mcp-client-'],
  'messages.clear_at': ['mid-conversation-system-clear-at-'],
  'messages.content.type=compaction': ['compact-'],
  'messages.content.type=fallback': ['server-side-fallback-'],
  'messages.content.type=mcp_tool_use': ['mcp-client-'],
  'messages.content.type=mcp_tool_result': ['mcp-client-'],
  'messages.content.type=mcp_tool_listing': ['mcp-client-'],
  'messages.content.type=advisor_tool_result': ['advisor-tool-'],
  'messages.content.type=tool_addition': ['mid-conversation-tool-changes-', 'inline-tools-'],
  'messages.content.type=tool_removal': ['mid-conversation-tool-changes-', 'inline-tools-'],
  // The second one is the name that Claude Code 2.1.330 sends (2026-11-26). The SDK does not list it.
  'messages.output_config': ['mid-conversation-output-config-', 'per-turn-control-2026-07-01'],
  'output_config.task_budget': ['task-budgets-'],
  output_format: ['structured-outputs-'],
  'thinking.block_binding': ['thinking-binding-controls-'],
  thread: ['message-threads-'],
  'tools.type=advisor_20260301': ['advisor-tool-'],
  'tools.type=bash_20241022': ['computer-use-'],
  'tools.type=computer_20241022': ['computer-use-2024-10-22'],
  'tools.type=computer_20250124': ['computer-use-2025-01-24'],
  'tools.type=computer_20251124': ['computer-use-2025-11-24'],
  'tools.type=mcp_toolset': ['mcp-client-'],
  'tools.type=text_editor_20241022': ['computer-use-2024-10-22'],
}

/**
 * What only the beta types of messages have. A place below a type of `betaNames` is part of it.
 *
 * @returns {object[]} rows in the notation of combinations.ts
 */
export function betasOf({ messages, withoutBetas, betas }) {
  const stable = new Set(placesOf(withoutBetas))
  const onlyBeta = placesOf(messages).filter((place) => !stable.has(place))
  const names = textsOf(betas)

  const found = onlyBeta.filter((place) => place in betaNames)
  const unknown = onlyBeta.filter((place) => isNewRoot(place, onlyBeta))
  if (unknown.length > 0)
    throw new Error(`Which beta brings ${unknown.join(', ')}? Add it in scripts/sdk-data/betas.js.`)

  return found.map((place) => {
    const [path, type] = place.split('=')
    return {
      protocols: ['messages'],
      paths: path.replace(/^(messages|tools)\./, '$1.each.').replace('.content.', '.content.each.'),
      ...(type === undefined ? {} : { rejected: [type] }),
      betas: betaNames[place].flatMap((start) =>
        start.endsWith('-') ? names.filter((name) => name.startsWith(start)) : start,
      ),
    }
  })
}

/** Members of a variant whose `type` is a beta. They need no row. */
const partOfType = /^(messages\.content|tools)\.\w/

function isNewRoot(place, onlyBeta) {
  if (place in betaNames || partOfType.test(place.replace(/=.*/, ''))) {
    const isType = /^(messages\.content|tools)\.type=/.test(place)
    return isType && !(place in betaNames)
  }
  if (place === 'betas' || place.includes('=')) return false
  return !onlyBeta.some((other) => place.startsWith(`${other}.`))
}

function placesOf(schema) {
  const places = new Set()
  visit(schema, ({ enum: values, const: value }, { place }) => {
    if (place !== '') places.add(place)
    if (/(^|\.)type$/.test(place))
      for (const one of values ?? (value === undefined ? [] : [value]))
        places.add(`${place}=${one}`)
  })
  return [...places].sort()
}
