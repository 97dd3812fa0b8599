import { describe, expect, test } from 'vitest'
import { aGateway, ask, askJson, eventsOf } from './support/gateway.ts'

const beta = { 'anthropic-beta': 'dangerous-tool-use-2026-09-03,banana-2031-01-01' }
const question = {
  model: 'claude-sonnet-5-5',
  max_tokens: 400,
  tools: [{ name: 'Bash', input_schema: { type: 'object' } }],
  safeguards: [{ type: 'dangerous_tool_use', classifier_context: { v: 1 } }],
}
const asking = (content: string) => ({ ...question, messages: [{ role: 'user', content }] })
const call = '#call Bash {"command":"ls"}'
const verdicts = (tool_uses: object) => [
  { type: 'dangerous_tool_use', status: { type: 'available', tool_uses } },
]

describe('safeguards in messages', () => {
  test('safeguards: each tool call gets a verdict, streamed or not', async () => {
    const gateway = await aGateway()
    const whole = await askJson(gateway, '/v1/messages', asking(call), beta)
    const { id } = whole.content.at(-1)
    const verdict = { type: 'evaluated', outcome: 'not_flagged' }
    expect(whole.safeguard_results).toEqual(verdicts({ [id]: verdict }))

    const streamed = await eventsOf(
      ask(gateway, '/v1/messages', { ...asking(call), stream: true }, beta),
    )
    const block = streamed.find(({ type }) => type === 'content_block_start')
    const delta = streamed.find(({ type }) => type === 'message_delta')
    expect(delta.delta.safeguard_results).toEqual(verdicts({ [block.content_block.id]: verdict }))
  })

  test('safeguards: a reply without tool calls gets an empty result', async () => {
    const whole = await askJson(await aGateway(), '/v1/messages', asking('ping'), beta)
    expect(whole.safeguard_results).toEqual(verdicts({}))
  })

  test('safeguards: without the member there is no result', async () => {
    const { safeguards: _, ...plain } = asking(call)
    const whole = await askJson(await aGateway(), '/v1/messages', plain)
    expect(whole).not.toHaveProperty('safeguard_results')
  })

  test('safeguards: another type is rejected', async () => {
    const unknownType = { ...asking('ping'), safeguards: [{ type: 'banana' }] }
    expect((await ask(await aGateway(), '/v1/messages', unknownType)).status).toBe(400)
  })
})
