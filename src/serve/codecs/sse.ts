/** Text of one server-sent event. `data` must hold no line break: JSON never does. */
export function sseFrame(event: string, data: string): string {
  return `event: ${event}\ndata: ${data}\n\n`
}

/** The same without a name, as the chat protocol sends it. */
export function sseData(data: string): string {
  return `data: ${data}\n\n`
}

export const sseHeaders = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-cache',
  'X-Accel-Buffering': 'no',
} as const
