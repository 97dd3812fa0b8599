import { expect, test } from 'vitest'
import { mismatchesIn, planClients } from '../../../src/commands/off/plan.ts'
import { Session } from '../../../src/commands/screen/session.ts'
import { nodePlatform } from '../../../src/platform/node.ts'
import { foreignHome } from '../../support/foreign-homes.ts'
import { aHome } from '../../support/home.ts'
import { worldIn } from '../../support/world.ts'

test('files that do not say what off has planned are an error', async () => {
  const home = aHome(foreignHome('claude'))
  const session = new Session({ ...nodePlatform(), ...worldIn(home) }, { isJson: false })
  const plans = await planClients(session, [], ['claude'])
  expect(mismatchesIn(session, plans)).toMatchObject([{ code: 'internal' }])

  const [edit] = plans[0]!.edits
  home.put('.claude/settings.json', edit!.after!)
  expect(mismatchesIn(session, plans)).toEqual([])
})
