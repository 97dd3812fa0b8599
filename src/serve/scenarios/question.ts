import type { Protocol } from '../../protocols.ts'
import { lastUserText } from '../model/user-text.ts'
import {
  endsWithResults,
  type ModelRequest,
  type RequestHeaders,
} from '../requests/model-request.ts'
import { newestTurns, type Turn } from '../requests/turns/turns.ts'
import type { GatewayQuestion } from './written-scenario.ts'

/** A request as rules and answer functions see it. Members are computed when a rule reads them. */
export function toQuestion(
  request: ModelRequest,
  protocol: Protocol,
  headers: RequestHeaders = {},
): GatewayQuestion {
  const { model, turns, tools } = request

  return {
    model,
    protocol,
    messages: turns,
    get text() {
      return lastUserText(turns)
    },
    get afterTool() {
      return endsWithResults(turns)
    },
    get tools() {
      return tools.map(({ name }) => name)
    },
    get system() {
      return systemPrompt(turns)
    },
    get toolResults() {
      return newestTurns(turns).results.map((result) => result.text)
    },
    get turn() {
      return 1 + countModelTurns(turns)
    },
    get headers() {
      return Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [name, String(value)]),
      )
    },
  }
}

function systemPrompt(turns: readonly Turn[]): string {
  return turns
    .filter(({ role }) => role === 'system')
    .flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'text' ? part.text : [])))
    .join('\n\n')
}

/** How often the model has answered. Consecutive messages of the model are one answer. */
function countModelTurns(turns: readonly Turn[]): number {
  const isModel = (index: number) => turns[index]?.role === 'assistant'
  return turns.filter((_, index) => isModel(index) && !isModel(index - 1)).length
}
