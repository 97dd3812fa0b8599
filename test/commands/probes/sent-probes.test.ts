import { expect, test } from 'vitest'
import { SentProbes } from '../../../src/commands/probes/sent-probes.ts'
import { UserError } from '../../../src/errors.ts'

test('sends equal probes once', () => {
  const sent: string[] = []
  const probes = new SentProbes(async ({ model }) => {
    sent.push(model)
    throw new UserError({ code: 'model-unknown', message: model })
  })

  for (const model of ['a', 'b', 'a']) probes.send({ protocol: 'chat', model }).catch(() => {})
  expect(sent).toEqual(['a', 'b'])
  expect(probes.has({ protocol: 'chat', model: 'a' })).toBe(true)
  expect(probes.has({ protocol: 'responses', model: 'a' })).toBe(false)
})
