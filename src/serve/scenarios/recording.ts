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
import type { LogEntry } from '../log/entry.ts'
import { maskKeys } from '../log/secrets.ts'
import { lastUserText } from '../model/user-text.ts'
import { type JsonObject, readJson, toObject } from '../requests/json.ts'
import { endsWithResults } from '../requests/model-request.ts'
import { readChatTurns } from '../requests/turns/chat-turns.ts'
import { readMessagesTurns } from '../requests/turns/messages-turns.ts'
import { readResponsesTurns } from '../requests/turns/responses-turns.ts'
import type { Turn } from '../requests/turns/turns.ts'
import { maxYamlBytes } from '../settings/yaml.ts'
import type { RawReply, Scenario } from './scenario.ts'
import { readScenarioFile } from './scenario-file.ts'

/** The longest answer that is recorded, in bytes. */
const maxRecordedBytes = 4 * 1024 * 1024

/** How long a closing recording waits for the ends of its answers, in ms. */
const closeDelayMs = 1000

/**
 * The longest question in a rule, in characters. Longer ones are cut. Questions that begin alike, such as
 * "Summarise: …", must differ.
 */
const maxQuestion = 16 * 1024

/** What decides which recorded answer a request gets, and its key, which is masked. */
type RecordedRequest = Pick<LogEntry, 'requestBody' | 'modelAsked' | 'protocol' | 'key'>

/** An answer of the upstream that is being forwarded. */
interface RecordingAnswer {
  readonly entry: LogEntry
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
 * A scenario file with answers of an upstream. It replays the answers that it has, to the byte, and gets those
 * that it lacks. A recorded answer is its status, its type, its bytes and its timing. Keys are masked, and other
 * headers are not recorded.
 */
export class Recording {
  readonly #path: string
  readonly #isNew: boolean
  /** The open file. If someone replaces the file later, the new file is not changed. Undefined: only replays. */
  readonly #file: number | undefined
  readonly #secrets: () => readonly string[]
  readonly #open = new Map<string, RecordingAnswer>()
  /** Old answers, then new ones in the order in which they ended. */
  readonly #answers: RecordedAnswer[]
  #onIdle = () => {}
  /** How many requests each condition has matched. */
  readonly #requestCounts = new Map<string, number>()

  /**
   * Reads the file, or creates it if the scope has an upstream.
   *
   * @param secrets the keys of the gateway and of its upstreams
   * @throws UserError `usage` if the file is a link, or has other answers than recorded ones
   */
  constructor(path: string, hasUpstream: boolean, secrets: () => readonly string[]) {
    this.#path = path
    this.#secrets = secrets
    const exists = lstatSync(path, { throwIfNoEntry: false }) !== undefined
    if (!exists && !hasUpstream)
      throw new UserError({
        code: 'usage',
        message: `There is nothing to replay at ${path}, and no upstream to record`,
        hint: 'Name a file with recorded answers, or add an upstream: the address of a real gateway.',
      })

    this.#isNew = !exists
    this.#answers = exists ? readAnswers(path) : []
    this.#file = hasUpstream ? openRecording(path, exists) : undefined
    if (this.#file !== undefined) recordedFiles.add(fileIdentity(this.#file))
  }

  get models(): readonly string[] {
    return [...new Set(this.#answers.flatMap(({ when }) => when.model ?? []))]
  }

  /** The next recorded answer for a request. Undefined: the file lacks it. */
  replay(request: RecordedRequest): RawReply | undefined {
    const key = conditionKey(this.#conditionOf(request))
    const count = this.#requestCounts.get(key) ?? 0
    this.#requestCounts.set(key, count + 1)
    const matching = this.#answers.filter(({ when }) => conditionKey(when) === key)
    // Without an upstream, the last answer is repeated, as that of a rule.
    return (matching[count] ?? (this.#file === undefined ? matching.at(-1) : undefined))?.raw
  }

  /** Returns a function that records each piece. Undefined if the answer is not recorded. */
  startRecording(
    entry: LogEntry,
    headers: NodeJS.Dict<string | string[]>,
  ): ((bytes: Buffer) => void) | undefined {
    if (this.#file === undefined || headers['content-encoding'] !== undefined) return undefined
    if (entry.protocol === undefined) return undefined
    const pieces: RecordingAnswer['pieces'] = []
    const type = String(headers['content-type'] ?? '')
    // The log cuts a long body as soon as the answer has ended.
    const when = this.#conditionOf(entry)
    this.#open.set(entry.id, { entry, when, type, pieces })
    return (bytes) => pieces.push({ atMs: performance.now(), bytes })
  }

  /** Records an answer that has ended. */
  finish({ id, state }: Pick<LogEntry, 'id' | 'state'>): void {
    const recording = this.#open.get(id)
    this.#open.delete(id)
    if (recording !== undefined && state === 'done') this.#add(recording)
    if (this.#open.size === 0) this.#onIdle()
  }

  #add(recording: RecordingAnswer): void {
    if (this.#file === undefined) return

    const size = recording.pieces.reduce((sum, { bytes }) => sum + bytes.length, 0)
    if (size > maxRecordedBytes) return
    const raw = toRawReply(recording, this.#secretsOf(recording.entry))
    this.#answers.push({ when: recording.when, raw })

    const text = Buffer.from(formatScenario(this.#answers))
    // A larger file could not be read again.
    if (text.length > maxYamlBytes) {
      this.#answers.pop()
      return
    }
    ftruncateSync(this.#file)
    for (let offset = 0; offset < text.length; )
      offset += writeSync(this.#file, text, offset, text.length - offset, offset)
  }

  #conditionOf(request: RecordedRequest): RuleCondition {
    return ruleCondition(request, this.#secretsOf(request))
  }

  #secretsOf({ key }: RecordedRequest): readonly string[] {
    return [...this.#secrets(), key]
  }

  /** Closes the file. If it has no answers, and is still the one that was created, it is deleted. */
  async close(): Promise<void> {
    if (this.#file === undefined) return
    // A client may have read an answer before the gateway knows that it has.
    if (this.#open.size > 0)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, closeDelayMs)
        this.#onIdle = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    this.#open.clear()
    const { ino, dev } = fstatSync(this.#file)
    recordedFiles.delete(fileIdentity(this.#file))
    closeSync(this.#file)
    const current = lstatSync(this.#path, { throwIfNoEntry: false })
    const isOurs = current?.ino === ino && current.dev === dev
    if (this.#isNew && this.#answers.length === 0 && isOurs) unlinkSync(this.#path)
  }
}

/** The files into which this process records. Two recordings would overwrite each other. */
const recordedFiles = new Set<string>()

function fileIdentity(file: number): string {
  const { ino, dev } = fstatSync(file)
  return `${dev} ${ino}`
}

function openRecording(path: string, exists: boolean): number {
  const { O_CREAT, O_EXCL, O_NOFOLLOW = 0, O_WRONLY } = constants
  const flags = exists ? O_NOFOLLOW | O_WRONLY : O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY
  let file: number
  try {
    file = openSync(path, flags, 0o600)
  } catch (error) {
    throw cannotRecord(path, (error as Error).message, error)
  }

  if (!recordedFiles.has(fileIdentity(file))) return file
  closeSync(file)
  throw cannotRecord(path, 'another scope records into it')
}

function cannotRecord(path: string, problem: string, cause?: unknown): UserError {
  return new UserError({
    code: 'usage',
    message: `Cannot record into ${path}: ${problem}`,
    hint: 'Name a file that does not exist yet, or one with recorded answers, for this scope alone.',
    cause,
  })
}

/** Reads the answers of a file that `formatScenario` wrote. */
function readAnswers(path: string): RecordedAnswer[] {
  if (lstatSync(path).isSymbolicLink()) throw cannotRecord(path, 'it is a link')
  let scenario: Scenario
  try {
    scenario = readScenarioFile(path)
  } catch (error) {
    throw cannotRecord(path, `it has no recorded answers (${(error as Error).message})`, error)
  }

  if (scenario.faults.length > 0) throw cannotRecord(path, 'it has faults')
  return scenario.answers.flatMap(({ when, reply, repeat }) => {
    const { text, model, protocol, afterTool, ...others } = when
    const isRecorded =
      protocol !== undefined && afterTool !== undefined && Object.keys(others).length === 0
    return reply.map(({ raw, ...more }) => {
      if (!isRecorded || repeat !== 'last' || raw === undefined || Object.keys(more).length > 0)
        throw cannotRecord(path, 'it has an answer that is not recorded')
      return { when: { ...(text === undefined ? {} : { text }), model, protocol, afterTool }, raw }
    })
  })
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
    const key = conditionKey(when)
    const rule = rules.get(key) ?? { when, reply: [] }
    rules.set(key, rule)
    rule.reply.push({ raw })
  }

  // The first matching rule answers, so a question that contains another one must come before it.
  const lengthOf = ({ when }: { when: RuleCondition }) => when.text?.length ?? 0
  const answers = [...rules.values()].sort((a, b) => lengthOf(b) - lengthOf(a))
  return stringify({ answers }, { lineWidth: 0 })
}

interface RuleCondition {
  readonly text?: string
  readonly model: string | undefined
  readonly protocol: Protocol | undefined
  readonly afterTool: boolean
}

/** Requests with the same key get the recorded answers in order. */
function conditionKey({ text, model, protocol, afterTool }: RuleCondition): string {
  return JSON.stringify([text, model, protocol, afterTool])
}

function ruleCondition(
  { requestBody, modelAsked, protocol }: RecordedRequest,
  keys: readonly string[],
): RuleCondition {
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
