import { expect, test } from 'vitest'
import type { LoggedRequest } from '../../../src/serve/index.ts'
import { digestOf } from '../../../src/serve/page/read/digest.ts'
import { placesOf } from '../../../src/serve/page/read/threads.ts'
import { aRequest } from '../support/a-request.ts'

let count = 0

function asked(turns: readonly string[], more: Partial<LoggedRequest> & { body?: object } = {}) {
  const { body, ...facts } = more
  const input = turns.map((content, at) => ({ role: ['user', 'assistant'][at % 2], content }))
  const requestBody = JSON.stringify({ input, ...body })
  return aRequest({ id: `r${++count}`, number: count, requestBody, ...facts })
}

/** Which of them go on from which: the place of the first of its conversation for each. */
function threads(requests: readonly LoggedRequest[]): number[] {
  const places = placesOf(requests.map((request) => ({ request, digest: digestOf(request) })))
  return requests.map(({ id }) => requests.findIndex((one) => one.id === places.get(id)!.thread))
}

test('a conversation: each request goes on from the one whose turns it begins with', () => {
  const requests = [
    asked(['hello']),
    asked(['another']),
    asked(['hello', 'hi', 'and now']),
    asked(['another', 'yes', 'more']),
    asked(['hello', 'hi', 'and now', 'this', 'thanks']),
  ]
  expect(threads(requests)).toEqual([0, 1, 0, 1, 0])
  const known = requests.map((request) => ({ request, digest: digestOf(request) }))
  expect(placesOf(known).get(requests[4]!.id)!.before).toBe(requests[2]!.id)
})

test('a conversation: a retry belongs to it, the same question asked anew does not', () => {
  const failed = { status: 429 }
  expect(threads([asked(['x'], failed), asked(['x']), asked(['x'])])).toEqual([0, 0, 2])
  expect(threads([asked(['x'], { state: 'cut' }), asked(['x'])])).toEqual([0, 0])
})

test('a conversation: another program or protocol has its own', () => {
  const other = { client: 'other/1' }
  expect(threads([asked(['x']), asked(['x', 'y', 'z'], other)])).toEqual([0, 1])
  const messages = JSON.stringify({ messages: [{ role: 'user', content: 'x' }] })
  const over = (protocol: 'chat' | 'messages') => asked([], { protocol, requestBody: messages })
  expect(threads([over('chat'), over('messages')])).toEqual([0, 1])
})

test('a conversation: follows the id of the answer before it', () => {
  const first = asked(['x'], { responseBody: '{"id":"resp_1","output":[]}' })
  const second = asked(['y'], { body: { previous_response_id: 'resp_1' } })
  expect(threads([first, asked(['z']), second])).toEqual([0, 1, 0])
})

test('a conversation: sessions keep apart what says the same, and together what was rewritten', () => {
  const session = (id: string) => ({ headers: { session_id: id } })
  expect(
    threads([
      asked(['x'], session('1')),
      asked(['x'], session('2')),
      asked(['x', 'y', 'z'], session('2')),
      asked(['x', 'y', 'z'], session('1')),
      asked(['a summary', 'y', 'go on'], session('1')),
    ]),
  ).toEqual([0, 1, 1, 0, 0])
})

test('a conversation: a side job of the client is another one', () => {
  const tools = [{ type: 'function', name: 'sh' }]
  const session = { headers: { session_id: '1' } }
  const main = asked(['x'], { ...session, body: { tools } })
  expect(threads([main, asked(['a title for x', 'y', 'z'], session)])).toEqual([0, 1])
})
