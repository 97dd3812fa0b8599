import { expect, test } from 'vitest'
import { awaitCatalog, SentProbes } from '../../../src/commands/probes/early-probes.ts'
import { UserError } from '../../../src/errors.ts'
import type { CatalogAnswer, GatewayAccess } from '../../../src/gateway/types.ts'

/** A catalog that arrives only after repoint has noticed that it is slow. */
function aSlowCatalog() {
  const answer: CatalogAnswer = { kind: 'received', catalog: { models: [{ id: 'glm-5' }] } }
  let arrive = () => {}
  const request = new Promise<CatalogAnswer>((resolve) => {
    arrive = () => resolve(answer)
  })
  return { answer, request, arrive }
}

const access = { timeoutMs: 15 } as GatewayAccess

test('sends early probes while a slow catalog loads', async () => {
  const { answer, request, arrive } = aSlowCatalog()
  expect(await awaitCatalog(request, access, async () => arrive())).toBe(answer)
})

test('ignores that an early probe cannot be decided without the catalog', async () => {
  const { answer, request, arrive } = aSlowCatalog()
  const undecided = () => {
    arrive()
    throw new UserError({ code: 'usage', message: 'no rule chooses a model' })
  }
  expect(await awaitCatalog(request, access, undecided)).toBe(answer)
})

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
