import { expect, test } from 'vitest'
import { withGateway } from '../support/gateway.ts'
import { aHome } from '../support/home.ts'
import { runInProcess } from '../support/in-process.ts'

const canary = 'sk-canary-7d1c0b9a8f7e6d5c4b3a2910'
const config = '.config/opencode/opencode.json'
const given = `{
  // who may be asked
  "enabled_providers": [
    "anthropic", // at work
    "google" // at home
  ],
  "disabled_providers": [
    "gateway", // until it is paid
    "mistral"
  ]
}
`

const gateway = await withGateway({ key: canary })

async function afterSetup() {
  const home = aHome({ [config]: given })
  const env = { REPOINT_API_KEY: canary }
  const { status } = await runInProcess(home, ['opencode', '--base-url', gateway.url, '--yes'], {
    env,
  })
  expect(status).toBe(0)
  return home
}

test("a setup that changes opencode's lists keeps their comments, and rollback restores every byte", async () => {
  const home = await afterSetup()
  expect(home.text(config)).toContain(`  // who may be asked
  "enabled_providers": [
    "anthropic", // at work
    "google", // at home
    "gateway"
  ],
  "disabled_providers": [
    // until it is paid
    "mistral"
  ],
`)
  await runInProcess(home, ['rollback', '--yes'])
  expect(home.text(config)).toBe(given)
})

test('rollback removes our id from a list to which the user has added since', async () => {
  const home = await afterSetup()
  home.put(config, home.text(config).replace('"gateway"\n', '"gateway",\n    "groq" // mine\n'))
  const { json } = await runInProcess(home, ['rollback', '--yes', '--json'])
  expect(json).toMatchObject({ files: [{ kept: [] }, { kept: [] }] })
  expect(home.text(config)).toBe(
    given.replace('"google" // at home\n', '"google", // at home\n    "groq" // mine\n'),
  )
})
