import { rmSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { foreignKey } from '../support/foreign-homes.ts'
import { aHome } from '../support/home.ts'
import { runHere, runInProcess } from '../support/in-process.ts'
import { triesAll } from '../support/sample.ts'
import { setUpOffline } from '../support/setup.ts'
import { textsIn } from '../support/texts.ts'
import { filesAfterOff, filesOf, type ToolHome, toolHomes } from '../support/tool-homes.ts'

const gateway = { url: 'https://gw.example', key: 'sk-canary-of-a-setup-0123456789abcdef' }

const cases = toolHomes.map((one) => [`${one.tool} (${one.made}), ${one.client}`, one] as const)

/** How messages name the tool. */
const shownAs = ({ tool, isUncertain }: ToolHome) =>
  `${isUncertain ? 'may come from' : 'comes from'} ${tool}`

test.each(cases)('%s: off removes what the tool wrote, and no other byte', async (_, toolHome) => {
  const { client } = toolHome
  const home = aHome(filesOf(toolHome))
  const before = home.snapshot()
  const off = await runHere(home, ['off', client, '--yes'])
  expect(off).toMatchObject({ status: 0, json: { changed: true } })
  expect(off.text).toContain(shownAs(toolHome))
  expect(off.text).not.toContain(foreignKey)
  expect(textsIn(home)).toEqual(filesAfterOff(toolHome))

  expect((await runHere(home, ['rollback', '--yes'])).status).toBe(0)
  expect(home.snapshot()).toEqual(before)
})

/** The first of each kind. */
const sample = cases.filter(
  ([, { isUncertain, hasProxy }], index) =>
    index ===
    cases.findIndex(([, one]) => one.isUncertain === isUncertain && one.hasProxy === hasProxy),
)

describe.each(triesAll ? cases : sample)('%s', (_name, toolHome) => {
  const { tool, client, isUncertain, hasProxy } = toolHome
  const shown = shownAs(toolHome)

  test('status and doctor name the tool', async () => {
    const home = aHome(filesOf(toolHome))
    const { stdout } = await runInProcess(home, ['status', client])
    expect(stdout).toContain(hasProxy ? `the local proxy of ${tool}` : shown)
    expect(stdout).not.toContain(foreignKey)

    const table = (await runInProcess(home, ['status'])).stdout
    const { json } = await runHere(home, ['status', client])
    const [document] = json['clients'] as { readonly otherTool?: string }[]
    if (isUncertain) expect(table).not.toContain(`(${tool})`)
    else expect(table).toContain(`(${tool})`)
    expect(document?.otherTool).toBe(isUncertain ? undefined : tool)

    const { stdout: doctor } = await runInProcess(home, ['doctor', client, '--no-verify'])
    expect(doctor).toContain(hasProxy ? `the local proxy of ${tool}` : shown)
  })

  test('a setup replaces the gateway, and names the tool', async () => {
    const home = aHome(filesOf(toolHome))
    const before = home.snapshot()
    const { json, text } = await setUpOffline(home, client, gateway)
    expect(json['warnings']).toContainEqual(
      expect.objectContaining({ code: 'other-tool', message: expect.stringContaining(shown) }),
    )
    expect(text).not.toContain(foreignKey)

    const status = await runHere(home, ['status', client])
    const [document] = status.json['clients'] as { readonly otherTool?: string }[]
    expect(document).toMatchObject({ baseUrl: 'https://gw.example' })
    expect(document?.otherTool).toBeUndefined()
    expect(status.text).not.toContain(shown)

    expect((await runHere(home, ['rollback', '--yes'])).status).toBe(0)
    expect(home.snapshot()).toEqual(before)
  })
})

test('a tool that has overwritten a setup is named', async () => {
  const home = aHome()
  await setUpOffline(home, 'claude', gateway)
  home.replace('.claude/settings.json', 'https://gw.example', 'http://127.0.0.1:10100')
  const { stdout } = await runInProcess(home, ['status', 'claude'])
  expect(stdout).toContain('the local proxy of opencodex')
})

test('a setup that changes nothing names no tool whose settings it replaces', async () => {
  const home = aHome()
  await setUpOffline(home, 'claude', gateway)
  // Without its records, the setup could be the one of a tool with a folder in the home.
  rmSync(home.at('.local/state/repoint'), { recursive: true })
  home.put('.ccs/config.json', '{}')
  const { json } = await setUpOffline(home, 'claude', gateway)
  expect(json).toMatchObject({ changed: false, warnings: [] })
})
