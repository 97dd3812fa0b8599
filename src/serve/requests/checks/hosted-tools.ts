import type { JsonObject } from '../json.ts'
import { unsupportedFeature } from '../rejection.ts'

/**
 * Types of tools that the vendors define. A model need not call them. This gateway ignores them if a request
 * also offers other tools, as Codex 0.169.0 (2026-11-23) and Claude Code do.
 */
const skippedTypePattern = /^(web_search|web_fetch|tool_search|local_shell|apply_patch)/

export function isSkippedTool({ type }: JsonObject): boolean {
  return skippedTypePattern.test(String(type))
}

/** @throws RequestRejection if a request offers only web search, or forces it */
export function checkSearch(tools: readonly JsonObject[], choice: JsonObject): void {
  const isSearch = ({ type }: JsonObject) => String(type).startsWith('web_search')
  const isForced = tools.some((tool) => isSearch(tool) && tool['name'] === choice['name'])
  const isAlone = tools.length > 0 && tools.every(isSearch)
  if (isAlone || isSearch(choice) || (choice['type'] === 'tool' && isForced))
    throw unsupportedFeature('web search', 'tools')
}
