import { objectsIn } from './read.ts'
import { anthropicWords, openaiWords, Refusal, type Words } from './refusal.ts'
import type { ProtocolName } from './request.ts'
import type { Shape } from './shapes.ts'

/** What holds for a member beside its type. */
interface Row {
  readonly least?: number
  readonly most?: number
  readonly isWhole?: true
  /** In characters of a text, in entries of a list. */
  readonly longest?: number
  readonly pattern?: RegExp
  /** As the vendor lists them, where that is not what the types say. */
  readonly choices?: readonly string[]
  /** Although the types want it. */
  readonly isOptional?: true
  /** A member that the types lack. */
  readonly also?: Shape
  /** What this gateway does not do; a value that asks for nothing is taken all the same. */
  readonly notDone?: string
  readonly isNothing?: (value: unknown) => boolean
}

/** The rows of one member, and of those within it. */
export interface Rows extends Row {
  readonly inner: ReadonlyMap<string, Rows>
}

/** Where it stands, without the places in lists; what holds; who says or sends so. */
type Line = readonly [paths: string, row: Row, source: string]

const openaiReference = 'https://platform.openai.com/docs/api-reference, read 2026-11-22'
const messagesReference = 'https://platform.claude.com/docs/en/api/messages, read 2026-11-22'
const isFalse = (value: unknown) => value === false
const isEmpty = (value: unknown) => Array.isArray(value) && value.length === 0
const name = { pattern: /^[a-zA-Z0-9_-]+$/, longest: 64 }

/** Chat and responses. */
const openaiLines: readonly Line[] = [
  ['temperature', { least: 0, most: 2 }, openaiReference],
  ['top_p', { least: 0, most: 1 }, openaiReference],
  ['top_logprobs', { isWhole: true, least: 0, most: 20 }, openaiReference],
  ['tools', { longest: 128 }, openaiReference],
  ['frequency_penalty presence_penalty', { least: -2, most: 2 }, openaiReference],
  ['safety_identifier', { longest: 64 }, openaiReference],
  ['moderation', { notDone: 'moderation of questions and answers' }, 'here'],
]

const chatLines: readonly Line[] = [
  ...openaiLines,
  ['max_tokens max_completion_tokens', { isWhole: true, least: 1 }, openaiReference],
  [
    'n',
    {
      isWhole: true,
      least: 1,
      most: 128,
      notDone: 'several answers to one request (n above 1)',
      isNothing: (n) => n === 1 || typeof n !== 'number' || n < 1 || n > 128,
    },
    openaiReference,
  ],
  ['seed', { isWhole: true }, openaiReference],
  ['stop', { longest: 4 }, openaiReference],
  ['messages.tool_calls.function.name messages.tool_calls.custom.name', name, openaiReference],
  [
    'tools.function.name tools.custom.name functions.name response_format.json_schema.name',
    name,
    openaiReference,
  ],
  [
    'messages.role',
    { choices: ['system', 'assistant', 'user', 'function', 'tool', 'developer'] },
    openaiReference,
  ],
  ['messages.content messages.tool_call_id', { isOptional: true }, 'said in words of its own'],
  ['response_format.type', { choices: ['json_object', 'json_schema', 'text'] }, openaiReference],
  ['logprobs', { notDone: 'log probabilities', isNothing: isFalse }, 'here'],
  ['audio', { notDone: 'spoken answers' }, 'here'],
  [
    'modalities',
    { notDone: 'spoken answers', isNothing: (list) => !(list as unknown[]).includes('audio') },
    'here',
  ],
  ['web_search_options', { notDone: 'web search' }, 'here'],
]

const responsesLines: readonly Line[] = [
  ...openaiLines,
  [
    'max_output_tokens',
    { isWhole: true, least: 16 },
    'https://github.com/earendil-works/pi/issues/6265',
  ],
  ['max_tool_calls', { isWhole: true, least: 1 }, openaiReference],
  ['tools.name text.format.name', name, openaiReference],
  [
    'input.content.type',
    {
      choices: [
        'input_text',
        'input_image',
        'input_audio',
        'output_text',
        'refusal',
        'input_file',
        'computer_screenshot',
        'summary_text',
        'encrypted_content',
      ],
    },
    'https://github.com/MervinPraison/PraisonAI/issues/3934, read 2026-11-22',
  ],
  ['input.call_id', { longest: 64 }, 'https://github.com/orchidfiles/ungate/pull/41'],
  ['background', { notDone: 'answers in the background', isNothing: isFalse }, 'here'],
  ['conversation', { notDone: 'stored conversations (previous_response_id it does)' }, 'here'],
  ['prompt', { notDone: 'stored prompts' }, 'here'],
  ['context_management', { notDone: 'compaction', isNothing: isEmpty }, 'here'],
  ['top_logprobs', { notDone: 'log probabilities', isNothing: (count) => count === 0 }, 'here'],
  [
    'include',
    {
      notDone: 'log probabilities',
      isNothing: (list) => !(list as unknown[]).includes('message.output_text.logprobs'),
    },
    'here',
  ],
]

const messagesLines: readonly Line[] = [
  ['max_tokens', { isWhole: true, least: 1, isOptional: true }, 'the service fills it in'],
  ['temperature top_p', { also: 'number', least: 0, most: 1 }, messagesReference],
  ['top_k', { also: 'number', isWhole: true, least: 0 }, messagesReference],
  ['messages.role', { choices: ['user', 'assistant'] }, messagesReference],
  ['tools.name', { pattern: /^[a-zA-Z0-9_-]{1,128}$/ }, messagesReference],
  ['thinking.budget_tokens', { isWhole: true, least: 1024 }, messagesReference],
  ['mcp_servers', { notDone: 'MCP servers', isNothing: isEmpty }, 'here'],
  ['compaction', { notDone: 'compaction' }, 'here'],
  ['container', { notDone: 'containers and their skills' }, 'here'],
  [
    'fallbacks',
    { notDone: 'other models in place of one that refuses', isNothing: isEmpty },
    'here',
  ],
  [
    'context_management.edits',
    { notDone: 'edits of the context', isNothing: keepsAllThoughts },
    'here',
  ],
]

/** Chat has another word for a member of the body itself. */
const chatWords: Words = {
  ...openaiWords,
  unknown: (where) =>
    /[.[]/.test(where)
      ? openaiWords.unknown(where)
      : new Refusal(`Unrecognized request argument supplied: ${where}`),
}

/** Claude Code 2.1.330 asks with each request that all thoughts be kept, as they are (2026-11-23). */
function keepsAllThoughts(edits: unknown): boolean {
  return objectsIn(edits).every(
    ({ type, keep }) => type === 'clear_thinking_20251015' && keep === 'all',
  )
}

function rowsIn(lines: readonly Line[]): Rows {
  const root = { inner: new Map<string, Rows>() }
  for (const [paths, row] of lines)
    for (const path of paths.split(' ')) {
      let rows: Rows = root
      for (const key of path.split('.')) {
        const inner = rows.inner as Map<string, Rows>
        const found = inner.get(key) ?? { inner: new Map() }
        inner.set(key, found)
        rows = found
      }
      Object.assign(rows, row)
    }
  return root
}

/** What real clients send beside what the vendors' types say, of which the vendors take no notice. */
const beyondChat: readonly Line[] = [
  [
    'messages.reasoning_content messages.reasoning',
    { also: 'any' },
    'opencode 1.18.34, of models that think aloud (2026-11-23)',
  ],
  ['reasoningSummary', { also: 'string' }, 'opencode 1.2.27, Kilo 7.0.33 (2026-11-23)'],
  [
    'messages.annotations',
    { also: 'any' },
    'openai 7.57.0: its tool runner hands an answer back as it came (2026-11-23)',
  ],
]

const beyondResponses: readonly Line[] = [
  [
    'input.internal_chat_message_metadata_passthrough',
    { also: 'any' },
    'Codex 0.169.0 (2026-11-23)',
  ],
  ['client_metadata', { also: { map: 'any' } }, 'Codex 0.169.0 (2026-11-23)'],
  [
    'input.id input.status',
    { also: 'string', isOptional: true },
    'Codex 0.169.0 on what a user says, opencode 1.18.34 without it on what a model said (2026-11-23)',
  ],
  ['input.content.annotations', { isOptional: true }, 'Codex 0.169.0 (2026-11-23)'],
  ['input.content.detail', { isOptional: true }, 'llmprobe 0.6.12 (2026-11-23)'],
]

const all: Readonly<Record<ProtocolName, { readonly rows: Rows; readonly words: Words }>> = {
  chat: { rows: rowsIn([...chatLines, ...beyondChat]), words: chatWords },
  responses: { rows: rowsIn([...responsesLines, ...beyondResponses]), words: openaiWords },
  messages: { rows: rowsIn(messagesLines), words: anthropicWords },
}

export function rowsOf(protocol: ProtocolName) {
  return all[protocol]
}
