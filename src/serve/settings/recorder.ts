import { writeFileSync } from 'node:fs'
import { performance } from 'node:perf_hooks'
import { UserError } from '../../errors.ts'
import type { LogEntry, LoggedRequest } from '../log/request-log.ts'
import { hideKeys, hideKeysInEvents } from '../log/secrets.ts'
import type { RawReply } from './scenario.ts'
import { recordedText } from './scenario-text.ts'

/** A longer answer is not recorded, in bytes. */
const maxRecordedBytes = 4 * 1024 * 1024

interface Piece {
  readonly atMs: number
  readonly bytes: Buffer
}

/** An answer of the upstream that is being passed on. */
interface Followed {
  readonly entry: LogEntry
  /** Content-Type. */
  readonly type: string
  readonly pieces: Piece[]
}

/**
 * Writes the answers of an upstream into a scenario file, which gives them again. What it keeps of them
 * is status, type, bytes and time; keys are masked, other headers left out.
 */
export class Recorder {
  readonly #path: string
  readonly #secrets: readonly string[]
  readonly #followed = new Map<string, Followed>()
  readonly #recorded = new Map<LoggedRequest, RawReply>()

  /**
   * @param secrets the keys of the gateway and of its upstream
   * @throws UserError `usage` where there is a file already
   */
  constructor(path: string, secrets: readonly string[]) {
    this.#path = path
    this.#secrets = secrets
    try {
      writeFileSync(path, 'answers: []\n', { mode: 0o600, flag: 'wx' })
    } catch (error) {
      const isThere = (error as NodeJS.ErrnoException).code === 'EEXIST'
      throw new UserError({
        code: 'usage',
        message: `Cannot record into ${path}: ${isThere ? 'there is a file already' : (error as Error).message}`,
        hint: 'Name a file that is not there yet.',
        cause: error,
      })
    }
  }

  /** Returns what to call with each piece; undefined: of this answer nothing is kept. */
  follow(
    entry: LogEntry,
    headers: NodeJS.Dict<string | string[]>,
  ): ((bytes: Buffer) => void) | undefined {
    if (entry.protocol === undefined || headers['content-encoding'] !== undefined) return undefined
    const pieces: Piece[] = []
    this.#followed.set(entry.id, { entry, type: String(headers['content-type'] ?? ''), pieces })
    return (bytes) => pieces.push({ atMs: performance.now(), bytes })
  }

  /** To be called when an answer has ended. */
  finish(request: LoggedRequest): void {
    const followed = this.#followed.get(request.id)
    this.#followed.delete(request.id)
    if (followed === undefined || request.state !== 'done') return

    const size = followed.pieces.reduce((sum, { bytes }) => sum + bytes.length, 0)
    if (size > maxRecordedBytes) return
    const keys = [...this.#secrets, followed.entry.key]
    this.#recorded.set(request, rawOf(followed, keys))
    writeFileSync(this.#path, recordedText(this.#recorded), { mode: 0o600 })
  }
}

function rawOf({ entry, type, pieces }: Followed, keys: readonly string[]): RawReply {
  const whole = Buffer.concat(pieces.map(({ bytes }) => bytes))
  const text = whole.toString()
  const head = { status: entry.status ?? 200, type, afterMs: Math.round(entry.firstByteMs ?? 0) }
  if (!type.startsWith('text/event-stream')) return { ...head, body: hideKeys(text, keys) }

  const shown = eventsIn(hideKeysInEvents(text, keys))
  let bytes = 0
  let before = pieces[0]?.atMs ?? 0
  const delays = eventsIn(text).map((event) => {
    bytes += Buffer.byteLength(event)
    const atMs = timeOf(pieces, bytes)
    const afterMs = Math.round(atMs - before)
    before = atMs
    return afterMs
  })
  return {
    ...head,
    events: shown.map((event, index) => ({ afterMs: delays[index] ?? 0, text: event })),
  }
}

/** The events of a stream, each with the empty line behind it. */
function eventsIn(text: string): readonly string[] {
  return text.match(/[\s\S]+?(?:\n\n|\r\n\r\n|$)/g) ?? []
}

/** When so many bytes had come. */
function timeOf(pieces: readonly Piece[], bytes: number): number {
  let come = 0
  const piece = pieces.find((one) => {
    come += one.bytes.length
    return come >= bytes
  })
  return piece?.atMs ?? pieces.at(-1)?.atMs ?? 0
}
