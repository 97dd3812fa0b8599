import { expect, test } from 'vitest'
import { applyPlan } from '../../src/transaction/apply-plan.ts'
import { aPairPlan, aPlan, canaryKey, keysEdit } from '../support/a-plan.ts'
import { aHome } from '../support/home.ts'
import { runInProcess } from '../support/in-process.ts'
import { sourceIn, worldIn } from '../support/world.ts'

test('rollback lists and undoes a run of another version, for a client that this version does not know', async () => {
  const home = aHome({ '.newtool/config.toml': '# mine\n' })
  const before = home.snapshot()
  const edit = keysEdit(sourceIn(home), '.newtool/config.toml', [{ path: ['url'], value: 'x' }])
  applyPlan(worldIn(home), aPlan([{ ...edit, client: 'newtool' }]))

  const listed = await runInProcess(home, ['rollback', '--list'])
  expect(listed).toMatchObject({ status: 0, stdout: expect.stringContaining('newtool') })
  for (const command of ['status', 'doctor'])
    expect((await runInProcess(home, [command, '--json'])).stdout).not.toContain('"internal"')
  const undone = await runInProcess(home, ['rollback', '--yes', '--json'])
  expect(undone.stderr).toBe('')
  expect(undone.json).toMatchObject({ changed: true, files: [{}] })
  expect(undone.status).toBe(0)
  expect(home.snapshot()).toEqual(before)
  expect(await runInProcess(home, ['rollback', '--yes'])).toMatchObject({ status: 0 })
})

test('rollback of such a run does not change the files of a client that this version knows', async () => {
  const home = aHome()
  const plan = aPairPlan(sourceIn(home))
  const edits = plan.edits.map((edit) => ({ ...edit, client: 'newtool' }))
  applyPlan(worldIn(home), { ...plan, command: 'newtool', edits })
  const before = home.snapshot()
  const refused = await runInProcess(home, ['rollback', '--yes', '--json'])
  expect(refused.status).toBe(8)
  expect(refused.json).toMatchObject({
    error: {
      code: 'config-conflict',
      message: expect.stringMatching(/newtool.*\.codex/),
      filesChanged: false,
    },
  })
  expect(refused.stdout).not.toContain(canaryKey)
  expect(home.snapshot()).toEqual(before)
})
