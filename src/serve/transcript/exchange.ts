import type { ProtocolName } from '../../protocols.ts'
import type { LoggedRequest } from '../log/request-log.ts'
import type { JsonObject } from '../requests/read.ts'
import { asString, isObject, objectIn } from '../requests/read.ts'
import { chat } from '../requests/reading/chat.ts'
import { messages } from '../requests/reading/messages.ts'
import { responses } from '../requests/reading/responses.ts'
import type { ProtocolReader } from '../requests/reading/turns.ts'

const readers: Readonly<Record<ProtocolName, ProtocolReader>> = { chat, responses, messages }

/** A request and its answer, read. */
export type Exchange = ReturnType<typeof readExchange>

export function readExchange(request: LoggedRequest) {
  const { requestBody, responseBody } = request
  const reader = readerOf(request)
  const body = objectIn(requestBody)
  const events = eventsIn(responseBody)
  const document = objectIn(responseBody) ?? (events && reader?.assemble(events))

  return {
    /** Undefined: it is no conversation, or its body cannot be read. */
    question: reader && body && reader.question(body),
    answer: reader && document && reader.answer(document),
    /** What an error says, whoever answers it. */
    problem: [...(events ?? []), ...(document === undefined ? [] : [document])]
      .map(problemIn)
      .find((text) => text !== undefined),
  }
}

/** A wrong route has no protocol; what it was meant for is told by its end. */
function readerOf({ protocol, path }: LoggedRequest): ProtocolReader | undefined {
  const word = protocol ?? /\/(chat\/completions|responses|messages)\/?(?:\?.*)?$/.exec(path)?.[1]
  if (word === undefined) return undefined
  return readers[word === 'chat/completions' ? 'chat' : (word as ProtocolName)]
}

/** The data of server-sent events; undefined: there are none. */
function eventsIn(text: string): readonly JsonObject[] | undefined {
  if (!/^data:/m.test(text)) return undefined
  return text.split('\n').flatMap((line) => {
    const data = line.startsWith('data:') ? objectIn(line.slice(5)) : undefined
    return data === undefined ? [] : [data]
  })
}

function problemIn({ type, message, error, response }: JsonObject): string | undefined {
  if (type === 'error' && error === undefined) return asString(message)
  const held = error ?? (isObject(response) ? response['error'] : undefined)
  if (typeof held === 'string') return held
  return isObject(held) ? asString(held['message']) : undefined
}
