import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  lstatSync,
  openSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { performance } from 'node:perf_hooks'
import { stringify } from 'yaml'
import { UserError } from '../../errors.ts'
import type { Protocol } from '../../protocols.ts'
import type { LogEntry, LoggedRequest } from '../log/entry.ts'
import { maskKeys } from '../log/secrets.ts'
import { lastUserText } from '../model/user-text.ts'
import { type JsonObject, readJson, toObject } from '../requests/json.ts'
import { endsWithResults } from '../requests/model-request.ts'
import { readChatTurns } from '../requests/turns/chat-turns.ts'
import { readMessagesTurns } from '../requests/turns/messages-turns.ts'
import { readResponsesTurns } from '../requests/turns/responses-turns.ts'
import type { Turn } from '../requests/turns/turns.ts'
import type { RawReply } from './scenario.ts'

/** The longest answer that is recorded, in bytes. */
const maxRecordedBytes = 4 * 1024 * 1024

/** The longest question in a rule, in characters. Longer ones are cut. */
const maxQuestion = 200

/** An answer of the upstream that is being forwarded. */
interface RecordingAnswer {
  readonly entry: LogEntry
  /** The condition of its rule. */
  readonly when: RuleCondition
  /** Content-Type. */
  readonly type: string
  readonly pieces: { readonly atMs: number; readonly bytes: Buffer }[]
}

interface RecordedAnswer {
  readonly when: RuleCondition
  readonly raw: RawReply
}

/**
 * Writes the answers of an upstream to a scenario file, which can replay them. It records the status,
 * the type, the bytes and the timing. Keys are masked, and other headers are not recorded.
 */
export class Recorder {
  readonly #path: string
  /** The open file. If someone replaces the file later, the new file is not changed. */
  readonly #file: number
  readonly #secrets: () => readonly string[]
  readonly #recording = new Map<string, RecordingAnswer>()
  /** In the order in which they ended. */
  readonly #recorded: RecordedAnswer[] = []

  /**
   * @param secrets the keys of the gateway and of its upstream
   * @throws UserError `usage` if the file, or a link, exists already
   */
  constructor(path: string, secrets: () => readonly string[]) {
    this.#path = path
    this.#secrets = secrets
    const { O_CREAT, O_EXCL, O_NOFOLLOW = 0, O_WRONLY } = constants

    try {
      this.#file = openSync(path, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, 0o600)
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      const problem = code === 'EEXIST' ? 'there is a file already' : message
      throw new UserError({
        code: 'usage',
        message: `Cannot record into ${path}: ${problem}`,
        hint: 'Name a file that does not exist yet.',
        cause: error,
      })
    }
  }

  /** Returns a function that records each piece. Undefined if the answer is not recorded. */
  startRecording(
    entry: LogEntry,
    headers: NodeJS.Dict<string | string[]>,
  ): ((bytes: Buffer) => void) | undefined {
    if (entry.protocol === undefined || headers['content-encoding'] !== undefined) return undefined
    const pieces: RecordingAnswer['pieces'] = []
    const type = String(headers['content-type'] ?? '')
    // The log cuts a long body as soon as the answer has ended.
    const when = ruleCondition(entry, this.#secretsOf(entry))
    this.#recording.set(entry.id, { entry, when, type, pieces })
    return (bytes) => pieces.push({ atMs: performance.now(), bytes })
  }

  /** Records an answer that has ended. */
  finish(request: LoggedRequest): void {
    const recording = this.#recording.get(request.id)
    this.#recording.delete(request.id)
    if (recording === undefined || request.state !== 'done') return

    const size = recording.pieces.reduce((sum, { bytes }) => sum + bytes.length, 0)
    if (size > maxRecordedBytes) return
    const raw = toRawReply(recording, this.#secretsOf(recording.entry))
    this.#recorded.push({ when: recording.when, raw })

    const text = Buffer.from(formatScenario(this.#recorded))
    ftruncateSync(this.#file)
    for (let offset = 0; offset < text.length; )
      offset += writeSync(this.#file, text, offset, text.length - offset, offset)
  }

  #secretsOf({ key }: LogEntry): readonly string[] {
    return [...this.#secrets(), key]
  }

  /** Closes the file. If nothing was recorded, it deletes the file that it created. */
  close(): void {
    this.#recording.clear()
    const { ino, dev } = fstatSync(this.#file)
    closeSync(this.#file)
    const current = lstatSync(this.#path, { throwIfNoEntry: false })
    const isOurs = current?.ino === ino && current.dev === dev
    if (this.#recorded.length === 0 && isOurs) unlinkSync(this.#path)
  }
}

function toRawReply({ entry, type, pieces }: RecordingAnswer, keys: readonly string[]): RawReply {
  const text = Buffer.concat(pieces.map(({ bytes }) => bytes)).toString()
  const head = {
    status: entry.status ?? 200,
    type: maskKeys(type, keys),
    afterMs: Math.round(entry.firstByteMs ?? 0),
  }

  if (!type.startsWith('text/event-stream')) return { ...head, body: maskKeys(text, keys) }

  const delaysMs = eventDelays(text, pieces)
  const maskedEvents = splitEvents(maskKeys(text, keys))
  return {
    ...head,
    events: maskedEvents.map((event, index) => ({ afterMs: delaysMs[index] ?? 0, text: event })),
  }
}

/** The delay of each event after the previous one, in ms. */
function eventDelays(stream: string, pieces: RecordingAnswer['pieces']): readonly number[] {
  let bytes = 0
  let previousMs = pieces[0]?.atMs ?? 0
  return splitEvents(stream).map((event) => {
    bytes += Buffer.byteLength(event)
    const arrivedMs = arrivalTime(pieces, bytes)
    const delayMs = Math.round(arrivedMs - previousMs)
    previousMs = arrivedMs
    return delayMs
  })
}

/** The events of a stream, each with the empty line after it. */
function splitEvents(text: string): readonly string[] {
  return text.match(/[\s\S]+?(?:\n\n|\r\n\r\n|$)/g) ?? []
}

/** The time at which this many bytes had arrived. */
function arrivalTime(pieces: RecordingAnswer['pieces'], bytes: number): number {
  let receivedBytes = 0
  for (const piece of pieces) {
    receivedBytes += piece.bytes.length
    if (receivedBytes >= bytes) return piece.atMs
  }
  return pieces.at(-1)?.atMs ?? 0
}

/**
 * Formats the recorded responses as a scenario file. A rule matches the question, the model, the
 * protocol and whether tool results came last. Requests that match get the responses in order.
 */
function formatScenario(recorded: readonly RecordedAnswer[]): string {
  const rules = new Map<string, { when: RuleCondition; reply: { raw: RawReply }[] }>()
  for (const { when, raw } of recorded) {
    const key = JSON.stringify(when)
    const rule = rules.get(key) ?? { when, reply: [] }
    rules.set(key, rule)
    rule.reply.push({ raw })
  }

  // The first matching rule answers, so a question that contains another one must come before it.
  const lengthOf = ({ when }: { when: RuleCondition }) => when.text?.length ?? 0
  const answers = [...rules.values()].sort((a, b) => lengthOf(b) - lengthOf(a))
  return stringify({ answers }, { lineWidth: 0 })
}

type RuleCondition = ReturnType<typeof ruleCondition>

function ruleCondition({ requestBody, modelAsked, protocol }: LogEntry, keys: readonly string[]) {
  const body = toObject(readJson(maskKeys(requestBody, keys)))
  const turns = protocol === undefined ? [] : turnReaders[protocol](body)
  const text = lastUserText(turns).slice(0, maxQuestion)
  return {
    ...(text === '' ? {} : { text }),
    model: modelAsked && maskKeys(modelAsked, keys),
    protocol,
    afterTool: endsWithResults(turns),
  }
}

const turnReaders: Readonly<Record<Protocol, (body: JsonObject) => readonly Turn[]>> = {
  chat: readChatTurns,
  responses: readResponsesTurns,
  messages: readMessagesTurns,
}
