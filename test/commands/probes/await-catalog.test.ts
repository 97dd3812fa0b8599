import { expect, test } from 'vitest'
import { awaitCatalog } from '../../../src/commands/probes/await-catalog.ts'
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

test('sends no early probe before a fifteenth of the time limit has passed', async () => {
  const { answer, request, arrive } = aSlowCatalog()
  setTimeout(arrive, 50)
  const probe = () => expect.unreachable()
  expect(await awaitCatalog(request, { ...access, timeoutMs: 600_000 }, probe)).toBe(answer)
})

test('ignores that an early probe cannot be decided without the catalog', async () => {
  const { answer, request, arrive } = aSlowCatalog()
  const undecided = () => {
    arrive()
    throw new UserError({ code: 'usage', message: 'no rule chooses a model' })
  }
  expect(await awaitCatalog(request, access, undecided)).toBe(answer)
})
