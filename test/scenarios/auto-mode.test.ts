import { describe, expect, test } from 'vitest'
import type { Forged } from '../gateway/forged.ts'
import { withGateway } from '../support/gateway.ts'
import { aHome, type Home } from '../support/home.ts'
import { runHere } from '../support/in-process.ts'
import { type AboutSafeguards, aSafeguardsFront } from '../support/safeguards-front.ts'

const key = 'sk-canary-auto-mode-0a1b2c3d4e5f'
const settingsFile = '.claude/settings.json'
const env = { REPOINT_API_KEY: key }

const gateway = await withGateway({ key })

const aFront = (does: AboutSafeguards) => aSafeguardsFront(gateway, does)

async function setUp(home: Home, { port }: Forged, command = 'claude') {
  const url = `http://127.0.0.1:${port}`
  const result = await runHere(home, [command, '--base-url', url, '--yes'], env)
  expect(result.text).not.toContain(key)
  expect(result.status, result.text).toBe(0)
  return result
}

const asking = { defaultMode: 'default', disableAutoMode: 'disable' }
const settingsOf = (home: Home) => JSON.parse(home.text(settingsFile))
const requests = ({ seen }: Forged) => seen.map(({ method }) => method)

describe("Claude Code's auto mode", () => {
  test.each(['claude', 'claude-gpt'])(
    '%s: a setup at a gateway with verdicts sends one POST',
    async (id) => {
      const [front, home] = [await aFront('answers'), aHome({})]
      await setUp(home, front, id)

      expect(requests(front)).toEqual(['GET', 'POST'])
      expect(front.seen[1]?.headers['anthropic-beta']).toContain('dangerous-tool-use-2026-09-03')
      expect(settingsOf(home)).not.toHaveProperty('permissions')
    },
  )

  test.each([
    ['drops', ['GET', 'POST']],
    ['rejects', ['GET', 'POST', 'POST']],
  ] as const)('a setup writes asking mode for a gateway that %s the field', async (does, asked) => {
    const [front, home] = [await aFront(does), aHome({})]
    const result = await setUp(home, front)

    expect(requests(front)).toEqual(asked)
    expect(settingsOf(home).permissions).toEqual(asking)
    expect(result.text.match(/defaultMode becomes/g)).toHaveLength(1)

    const written = home.text(settingsFile)
    await setUp(home, front)
    expect(home.text(settingsFile)).toBe(written)

    await runHere(home, ['rollback', '--yes'], env)
    expect(home.everything()).not.toContain(settingsFile)
  })

  test.each([
    { permissions: { defaultMode: 'plan' } },
    { permissions: { defaultMode: 'auto' } },
    { permissions: { disableAutoMode: 'disable' } },
    { disableAutoMode: 'disable' },
  ])('a setup keeps the choice of the user: %j', async (chosen) => {
    const home = aHome({ [settingsFile]: JSON.stringify(chosen) })
    await setUp(home, await aFront('drops'))
    expect(settingsOf(home)).toMatchObject(chosen)
    if (!('defaultMode' in (chosen.permissions ?? {})))
      expect(settingsOf(home)).not.toHaveProperty('permissions.defaultMode')
  })

  test('a setup at a gateway with verdicts removes asking mode', async () => {
    const home = aHome({ [settingsFile]: '{"permissions": {"allow": ["Bash(ls)"]}}' })
    await setUp(home, await aFront('drops'))
    expect(settingsOf(home).permissions.defaultMode).toBe('default')

    await setUp(home, await aFront('answers'))
    expect(settingsOf(home).permissions).toEqual({ allow: ['Bash(ls)'] })
  })

  test('a setup at the next gateway keeps asking mode that the user chose', async () => {
    const home = aHome({ [settingsFile]: '{"permissions": {"defaultMode": "default"}}' })
    await setUp(home, await aFront('drops'))
    await setUp(home, await aFront('answers'))
    expect(settingsOf(home).permissions).toEqual({ defaultMode: 'default' })
  })

  test('if experimental betas are off, a setup sends no check and writes asking mode', async () => {
    const betas = { CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS: '1' }
    const [front, home] = [
      await aFront('answers'),
      aHome({ [settingsFile]: JSON.stringify({ env: betas }) }),
    ]
    await setUp(home, front)
    expect(front.seen[1]?.body).not.toContain('safeguards')
    expect(settingsOf(home).permissions).toEqual(asking)
  })
})
