import { expect, test } from 'vitest'
import { familyRows } from '../../src/clients/list.ts'
import { doctor } from '../../src/commands/doctor.ts'
import { Session } from '../../src/commands/screen/session.ts'
import { status } from '../../src/commands/status.ts'
import { UserError } from '../../src/errors.ts'
import { applyPlan } from '../../src/transaction/apply-plan.ts'
import { aPairPlan, canaryKey } from '../support/a-plan.ts'
import { captured } from '../support/captured.ts'
import { aHome } from '../support/home.ts'
import { platformIn } from '../support/in-process.ts'
import { sourceIn, worldIn } from '../support/world.ts'

/** A session in a home in which Codex is set up, and whose state folder only root can read. */
function unreadable(isJson: boolean) {
  const home = aHome()
  applyPlan(worldIn(home), aPairPlan(sourceIn(home)))
  const { files, processes, ...platform } = platformIn(home)
  const state = home.at('.local/state/repoint')
  const refuse = (path: string) => {
    if (path.startsWith(state)) throw Object.assign(new Error('EACCES'), { code: 'EACCES' })
  }
  const { output, terminal } = captured(platform.terminal)
  const session = new Session(
    {
      ...platform,
      interrupt: new AbortController().signal,
      files: {
        ...files,
        readdir: (path) => {
          refuse(path)
          return files.readdir(path)
        },
        read: (path, maxBytes) => {
          refuse(path)
          return files.read(path, maxBytes)
        },
      },
      processes: { ...processes, which: () => undefined },
      terminal,
    },
    { isJson },
  )
  return { session, output }
}

const looking = { verify: false, timeout: 1 }

test('status shows what it can, and reports that the records cannot be read', async () => {
  const { session, output } = unreadable(true)
  expect(await status(session, [], {})).toBe(0)
  expect(JSON.parse(output.out)).toMatchObject({
    clients: expect.arrayContaining([
      expect.objectContaining({
        id: 'codex',
        baseUrl: 'https://gateway.example',
        files: [
          expect.objectContaining({ state: 'unknown' }),
          expect.objectContaining({ state: 'unknown' }),
        ],
      }),
      expect.objectContaining({
        id: 'claude',
        files: [expect.objectContaining({ state: 'absent' })],
      }),
    ]),
    warnings: [{ code: 'records-unreadable', message: expect.stringContaining('state/repoint') }],
  })

  const people = unreadable(false)
  await status(people.session, [], { all: true })
  expect(people.output.out).toContain('gateway.example\n  ✔ Codex')
  expect(people.output.out).toContain('auth.json  unknown whether repoint wrote it')
  expect(people.output.err).toContain('Cannot tell what repoint wrote')
  expect(people.output.out).not.toContain(canaryKey)
})

test('doctor continues without the records, and reports a problem', async () => {
  const { session, output } = unreadable(true)
  expect(await doctor(session, [], looking)).toBe(8)
  expect(JSON.parse(output.out).checks).toMatchObject([
    { about: 'machine', id: 'not-permitted', result: 'problem' },
    { about: 'codex', id: 'installed' },
    { about: 'codex', id: 'private', result: 'ok' },
    ...familyRows.slice(1).map(({ id }) => ({ about: id, id: 'installed' })),
  ])
})

test('doctor --fix makes no change that it could not undo', async () => {
  const { session } = unreadable(true)
  await expect(doctor(session, [], { ...looking, fix: true })).rejects.toThrow(UserError)
})
