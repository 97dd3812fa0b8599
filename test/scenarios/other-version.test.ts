import { expect, test } from 'vitest'
import { applyPlan } from '../../src/transaction/apply.ts'
import { aPairPlan } from '../support/a-plan.ts'
import { runCli } from '../support/cli.ts'
import { aHome } from '../support/home.ts'
import { sourceIn, worldIn } from '../support/world.ts'

test('a run of another version, for a client that this one does not know, is listed and undone', async () => {
  const home = aHome()
  const before = home.snapshot()
  const plan = aPairPlan(sourceIn(home))
  const edits = plan.edits.map((edit) => ({ ...edit, client: 'newtool' }))
  applyPlan(worldIn(home), { ...plan, command: 'newtool', edits })

  const listed = await runCli(home, ['rollback', '--list'])
  expect(listed).toMatchObject({ status: 0, stdout: expect.stringContaining('newtool') })
  for (const command of ['status', 'doctor'])
    expect((await runCli(home, [command, '--json'])).stdout).not.toContain('"internal"')
  const undone = await runCli(home, ['rollback', '--yes', '--json'])
  expect(undone.stderr).toBe('')
  expect(undone.json).toMatchObject({ changed: true, files: [{}, {}] })
  expect(undone.status).toBe(0)
  expect(home.snapshot()).toEqual(before)
  expect(await runCli(home, ['rollback', '--yes'])).toMatchObject({ status: 0 })
})
