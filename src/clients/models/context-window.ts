import type { Finding } from '../../finding.ts'
import { withKnownFacts } from '../../gateway/models/facts.ts'
import { catalogEntry } from '../../gateway/models/rules.ts'
import { catalogIn, type ResolveInput } from '../contract/setup.ts'
import { keepsModels } from '../options/chosen-options.ts'

/** How a client treats the context windows of models. */
export interface WindowHandling {
  /** Whether the client itself knows the window of a model. */
  readonly knows?: (id: string) => boolean
  /** What it does if nobody knows the window of a model, as shown to the user. */
  readonly ifUnknown: string
}

/** For a client that knows the windows, or has no setting for one: no note says that one is unknown. */
export const everyWindowKnown: WindowHandling = { knows: () => true, ifUnknown: '' }

/**
 * The context window to write. It is the requested window, or else the earlier one for this gateway, or
 * else the smallest of the models' windows in the catalog, or else the earlier one for another gateway.
 * None is written if the client itself knows the window of one of the models.
 */
export function windowOf(
  input: ResolveInput,
  ids: readonly string[],
  { knows = () => false, ifUnknown }: WindowHandling,
): { readonly contextWindow?: number; readonly notes: readonly Finding[] } {
  const { requested, earlier, gatewayInfo } = input
  // Notes are only for models that the user has not seen in an earlier setup.
  const notesUnlessKept = (notes: readonly Finding[]) => (keepsModels(input) ? [] : notes)

  const before = earlier?.options.contextWindow
  const chosen = requested.contextWindow ?? (earlier?.isOtherGateway ? undefined : before)
  if (chosen !== undefined)
    return { contextWindow: chosen, notes: notesUnlessKept(smallWindowFindings(chosen)) }

  const listedWindows = ids.map((id) => catalogEntry(catalogIn(gatewayInfo), id)?.contextWindow)
  const isEveryListed = ids.length > 0 && !listedWindows.includes(undefined)
  if (before !== undefined && !isEveryListed) return { contextWindow: before, notes: [] }

  const windows = ids.map((id, index) => {
    if (listedWindows[index] !== undefined) return listedWindows[index]
    return knows(id) ? 'known to the client' : withKnownFacts({ id }).contextWindow
  })
  const unknown = [...new Set(ids.filter((_, index) => windows[index] === undefined))]
  if (unknown.length > 0)
    return { notes: notesUnlessKept([unknownWindowFinding(unknown, ifUnknown)]) }

  const sizes = windows.filter((window) => typeof window === 'number')
  if (sizes.length === 0 || sizes.length < ids.length) return { notes: [] }
  const smallest = Math.min(...sizes)
  return { contextWindow: smallest, notes: notesUnlessKept(smallWindowFindings(smallest)) }
}

/**
 * The smallest usable context window, in tokens. Before the first question, the clients send up to 14,000 for
 * their instructions and tools (opencode 1.18.33, Claude Code 2.1.330, 2026-11-23).
 */
const minWindow = 16_000

export const smallWindowHint =
  'Increase the window on the server (Ollama: OLLAMA_CONTEXT_LENGTH; vLLM: --max-model-len; llama.cpp: -c). Or name another model: {--model ID}'

function smallWindowFindings(window: number): readonly Finding[] {
  if (window >= minWindow) return []
  return [
    {
      code: 'context-window-small',
      severity: 'note',
      message: `A context window of ${window} tokens is too small for a coding client: its instructions and tools fill most of it`,
      hint: smallWindowHint,
    },
  ]
}

function unknownWindowFinding(ids: readonly string[], effect: string): Finding {
  return {
    code: 'context-window-unknown',
    topic: 'context-window-unknown',
    severity: 'note',
    message: `The gateway does not report the context window of ${ids.join(', ')}: ${effect}`,
    hint: 'If it has another one: {--context-window TOKENS}',
  }
}
