import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { runCli } from '../support/cli.ts'
import { withGateway } from '../support/gateway.ts'
import { Home } from '../support/home.ts'
import { openCodex } from './support/codex-tui.ts'
import { installedClient, putInBin } from './support/install.ts'
import { inferences } from './support/prompt.ts'

/** Codex's terminal UI offers a newer model at its start, and Enter takes it: "Meet GPT-6 Sol". */

const key = 'sk-offers-5e4d3c2b1a098f76'
const config = '.codex/config.toml'

test.concurrent.for([
  ['gpt-5.6-sol', 'gpt-6-sol', 'Meet GPT-6 Sol'],
  ['gpt-5.6-terra', 'gpt-6-sol', 'Meet GPT-6 Sol'],
  ['gpt-5.6-luna', 'gpt-6-luna', 'Meet GPT-6 Luna'],
] as const)(
  '%s: Codex offers no model after a setup, and doctor --fix undoes an accepted offer',
  async ([model, newer, title], { onTestFinished }) => {
    const gateway = await withGateway({ key }, onTestFinished)
    // These tests run concurrently, and each cleans up only its own files.
    const home = new Home({ 'work/.git/HEAD': 'ref: refs/heads/main\n' })
    onTestFinished(() => home.remove())
    const env = { REPOINT_API_KEY: key, REPOINT_BASE_URL: gateway.url }
    home.put(config, `[projects."${home.at('work')}"]\ntrust_level = "trusted"\n`)
    await runCli(home, ['codex', '--model', model, '--yes'], { env })

    const before = inferences(gateway.requests()).length
    const tui = await openCodex(home.path, home.at('work'), { args: ['--no-daemon'] })
    await tui.ask('ping', () => inferences(gateway.requests()).length > before)
    await tui.quit()
    expect(inferences(gateway.requests()).at(-1)).toMatchObject({ modelAsked: model })

    // The home after a setup of an earlier repoint.
    home.put(config, home.text(config).replace(/\[notice\.model_migrations\]\n.*\n/, ''))
    const asked = await openCodex(home.path, home.at('work'), {
      args: ['--no-daemon'],
      shows: title,
    })
    await asked.until(() => {
      const isTaken = home.text(config).includes(`model = "${newer}"`)
      // Codex discards keys that are typed before the question is ready.
      if (!isTaken) asked.press('\r')
      return isTaken
    })
    await asked.quit()

    const doctor = ['doctor', 'codex', '--json']
    expect((await runCli(home, doctor, { env })).json).toMatchObject({
      checks: expect.arrayContaining([
        expect.objectContaining({
          id: 'codex-model-migrated',
          cure: expect.stringContaining('repoint doctor codex --fix'),
        }),
      ]),
    })
    const fixed = await runCli(home, [...doctor, '--fix'], { env })
    expect(fixed.status).toBe(0)
    expect(home.text(config)).toContain(`model = "${model}"`)
  },
)

test.concurrent.for([['run work'], ['serve']] as const)(
  '%s: Codex starts without the offer, and nothing is written',
  async ([words], { onTestFinished }) => {
    const gateway = await withGateway({ key }, onTestFinished)
    const home = new Home({ 'work/.git/HEAD': 'ref: refs/heads/main\n' })
    onTestFinished(() => home.remove())
    putInBin(home, 'codex', installedClient('codex'), true)
    const env = { REPOINT_API_KEY: key, REPOINT_BASE_URL: gateway.url }
    const trust = `[projects."${home.at('work')}"]\ntrust_level = "trusted"\n`
    home.put(config, trust)
    await runCli(home, ['codex', '--name', 'work', '--model', 'gpt-5.6-sol', '--yes'], { env })
    await runCli(home, ['rollback', '--yes'])
    expect(home.text(config)).toBe(trust)
    gateway.clearRequests()

    const program = [
      process.execPath,
      resolve('bin/repoint.js'),
      ...words.split(' '),
      '--',
      'codex',
    ] as const
    const tui = await openCodex(home.path, home.at('work'), {
      program,
      env: { PATH: `${home.at('bin')}:${process.env['PATH']}` },
    })
    let shown = ''
    await tui.ask('ping', (screen) => {
      shown = screen
      return screen.includes('pong')
    })
    await tui.quit()
    expect(shown).not.toContain('Meet GPT')
    expect(home.text(config)).not.toMatch(/^model|migrations/m)
  },
)
