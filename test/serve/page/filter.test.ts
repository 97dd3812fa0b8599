import { expect, test } from 'vitest'
import { digestOf } from '../../../src/serve/page/read/digest.ts'
import { readFilter } from '../../../src/serve/page/read/filter.ts'
import { aRequest } from '../support/a-request.ts'

const answer = { output: [{ type: 'function_call', call_id: 'c', name: 'exec', arguments: '{}' }] }
const request = aRequest({
  status: 429,
  client: 'codex_exec/0.169.0',
  requestBody: '{"input":"Fix the Build, please","tools":[{"name":"exec"},{"name":"view"}]}',
  responseBody: JSON.stringify(answer),
})
const known = { request, digest: digestOf(request) }

test.each([
  ['', true],
  ['build', true],
  ['BUILD fix', true],
  ['build nothing', false],
  ['"fix the build"', true],
  ['"the fix"', false],
  ['"fix the', true],
  ['-nothing', true],
  ['-build', false],
  ['429', true],
  ['status:4', true],
  ['status:42', true],
  ['status:29', false],
  ['model:sol', true],
  ['model:opus', false],
  ['tool:exec', true],
  ['tool:view', false],
  ['client:codex', true],
  ['protocol:resp -protocol:chat', true],
  ['path:/v1', true],
  ['is:error', true],
  ['is:open', false],
  ['-is:error', false],
  ['other:word', false],
])('the filter %j: %s', (text, isShown) => {
  expect(readFilter(text)(known)).toBe(isShown)
})

test('the filter: finds what a stream says in pieces', () => {
  const pieces = ['Hel', 'lo wo', 'rld'].map(
    (content) => `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`,
  )
  const streamed = aRequest({ protocol: 'chat', stream: true, responseBody: pieces.join('') })
  expect(readFilter('"hello world"')({ request: streamed, digest: digestOf(streamed) })).toBe(true)
})

test('the filter: a request whose body has not come is found by its line', () => {
  expect(readFilter('/v1/resp')({ request, digest: undefined })).toBe(true)
  expect(readFilter('build')({ request, digest: undefined })).toBe(false)
})
