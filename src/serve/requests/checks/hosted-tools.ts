import { type JsonObject, toObject } from '../json.ts'
import { unsupportedFeature } from '../rejection.ts'

/**
 * Types of tools that the vendors define. A model need not call them. This gateway ignores them if a request
 * also offers other tools, as Codex 0.169.0 (2026-11-23) and Claude Code do.
 */
const skippedTypePattern = /^(web_search|web_fetch|tool_search)/

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

const text = { type: 'string' }
const texts = { type: 'array', items: text, minItems: 1 }
const objectWith = (properties: JsonObject, required = Object.keys(properties)) => {
  return { type: 'object', properties, required }
}
const computerAction = objectWith({ type: text })

/**
 * The tools of responses that the vendor defines and the client executes, with the schemas of their calls: the
 * `action` or the `operation` (types of openai 7.59.0).
 */
export const responsesClientTools = {
  local_shell: objectWith({ command: texts }),
  shell: objectWith({ commands: texts }),
  apply_patch: objectWith({
    type: { enum: ['create_file', 'update_file', 'delete_file'] },
    path: text,
  }),
  computer: computerAction,
  computer_use: computerAction,
  computer_use_preview: computerAction,
} as const

export type ClientToolType = keyof typeof responsesClientTools

/** Whether the client executes the tool. A shell in a container of the vendor is no such tool. */
export function isResponsesClientTool({ type, environment }: JsonObject): boolean {
  const { type: place = 'local' } = toObject(environment)
  return Object.hasOwn(responsesClientTools, String(type)) && place === 'local'
}

/** The same for messages, without the dates in their types (https://platform.claude.com/docs/en/agents-and-tools/tool-use). */
const messagesClientTools: Readonly<Record<string, JsonObject>> = {
  bash: { anyOf: [objectWith({ command: text }), objectWith({ restart: { const: true } })] },
  text_editor: objectWith({
    command: { enum: ['view', 'create', 'str_replace', 'insert', 'undo_edit'] },
    path: text,
  }),
  computer: objectWith({ action: text }),
  memory: objectWith({
    command: { enum: ['view', 'create', 'str_replace', 'insert', 'delete', 'rename'] },
  }),
}

/** The schema for the input of a tool that the client executes. Undefined: it is no such tool. */
export function messagesClientTool({ type }: JsonObject): JsonObject | undefined {
  const [, name = ''] = /^([a-z_]+)_\d{8}$/.exec(String(type)) ?? []
  return Object.hasOwn(messagesClientTools, name) ? messagesClientTools[name] : undefined
}
