import { expect, onTestFinished, test } from 'vitest'
import { runCli } from '../support/cli.ts'
import { withGateway } from '../support/gateway.ts'
import { aHome } from '../support/home.ts'
import { runOnTerminal } from '../support/terminal.ts'

const isRoot = process.getuid?.() === 0

test.runIf(isRoot)(
  'a setup warns that sudo changes the home of root, before it asks anything',
  async () => {
    const run = runOnTerminal(aHome(), ['codex'], { env: { SUDO_UID: '1000' }, columns: 200 })
    await run.shows('warning: repoint runs as root (sudo)')
    await run.shows('For your own clients, run it without sudo.')
    await run.shows('Gateway address')
    run.type('\x03')
    expect(await run.ended).toBe(130)
  },
)

test.runIf(isRoot)(
  'the JSON document has the warning about sudo, and no warning without sudo',
  async () => {
    const gateway = await withGateway({}, onTestFinished)
    const env = { REPOINT_BASE_URL: gateway.url, REPOINT_API_KEY: gateway.key }
    const warnings = async (more: Record<string, string>) => {
      const { json } = await runCli(aHome(), ['codex', '--yes', '--json'], {
        env: { ...env, ...more },
      })
      return (json as { warnings: { code: string }[] }).warnings.map(({ code }) => code)
    }
    expect(await warnings({ SUDO_UID: '1000' })).toContain('runs-as-root')
    expect(await warnings({})).not.toContain('runs-as-root')
  },
)
