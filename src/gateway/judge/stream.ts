/** Reads server-sent events, and the parts of events that the protocols share. */
import { asList, asObject, isFilledList, isFilledText, jsonIn } from '../foreign-text.ts'

/** An event of a stream. */
export type Event = Readonly<Record<string, unknown>>

/** What is on the `data:` lines of a stream, the lines of one event joined. */
export interface StreamData {
  readonly events: readonly Event[]
  /** Data that is not JSON. `[DONE]` is neither. */
  readonly broken: number
  readonly isDone: boolean
}

/** Reads a stream as the specification of server-sent events says, with any line ends. */
export function readStream(body: string): StreamData {
  const events: Event[] = []
  let broken = 0
  let isDone = false
  for (const block of body.replace(/^\ufeff/, '').split(/\r?\n\r?\n/)) {
    const lines = block.split(/\r?\n/).filter((line) => line.startsWith('data:'))
    if (lines.length === 0) continue
    const data = lines.map((line) => line.slice(5).trimStart()).join('\n')
    const event = asObject(jsonIn(data))
    if (event !== undefined) events.push(event)
    else if (data.trim() === '[DONE]') isDone = true
    else broken++
  }

  return { events, broken, isDone }
}

/** A filter for events of these types. */
export const isEvent =
  (...types: readonly string[]) =>
  ({ type }: Event) =>
    types.includes(String(type))

/** The choices in events of the chat protocol. */
export function chatChoices(events: readonly Event[]): readonly Event[] {
  return events.flatMap(({ choices }) => asList(choices).map((choice) => asObject(choice) ?? {}))
}

export function isSaid(value: unknown): boolean {
  return value !== undefined && value !== null
}

export function isFilled(value: unknown): boolean {
  return isFilledText(value) || isFilledList(value)
}
