/**
 * The data of a server-sent event. If it has a `type`, that is also the name of the event, as in
 * responses and messages. The events of chat have no name, and its last one is the text `[DONE]`.
 */
export type StreamEvent = { readonly type?: string; readonly [member: string]: unknown } | '[DONE]'

/** Formats a server-sent event as a frame. */
export function sseFrame(event: StreamEvent): string {
  return event === '[DONE]' ? 'data: [DONE]\n\n' : namedFrame(event.type, event)
}

/** Formats an event with data of any kind. */
export function namedFrame(name: string | undefined, data: object): string {
  const nameLine = name === undefined ? '' : `event: ${name}\n`
  // JSON contains no line break.
  return `${nameLine}data: ${JSON.stringify(data)}\n\n`
}

/**
 * Creates a function that formats events which differ only in some values. The rest of them is
 * serialized once: serializing each of 50 events takes longer than everything else that a streamed answer
 * needs.
 *
 * @param createEvent must use each value once, in the order of its parameters
 */
export function frameTemplate<Values extends readonly unknown[]>(
  createEvent: (...values: Values) => StreamEvent,
): (...values: Values) => string {
  // A text for each parameter, whose place in the frame is that of the value.
  const slots = Array.from({ length: createEvent.length }, (_, index) => `<slot ${index}>`)
  const texts: string[] = []
  let remaining = sseFrame(createEvent(...(slots as unknown as Values)))
  for (const slot of slots) {
    const marker = JSON.stringify(slot)
    const start = remaining.indexOf(marker)
    texts.push(remaining.slice(0, start))
    remaining = remaining.slice(start + marker.length)
  }

  return (...values) => {
    let frame = ''
    for (let index = 0; index < texts.length; index++)
      frame += texts[index] + JSON.stringify(values[index])
    return frame + remaining
  }
}

export const sseHeaders = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-cache',
  'X-Accel-Buffering': 'no',
} as const
