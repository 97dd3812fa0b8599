import { writeFileSync } from 'node:fs'
import { afterEach, expect, test } from 'vitest'
import { type Gateway, type GatewayOptions, startGateway } from '../../src/serve/index.ts'
import { digestOf } from '../../src/serve/page/read/digest.ts'
import { placesOf } from '../../src/serve/page/read/threads.ts'
import { scenarioText } from '../../src/serve/settings/scenario-text.ts'
import { runCli } from '../support/cli.ts'
import { aHome } from '../support/home.ts'
import { inferences, prompt, type Runner } from './support/prompt.ts'

/** What the page makes of real clients: one conversation of a tool loop, and a scenario that plays it again. */

const key = 'sk-real-clients-4f7a1c9e2b8d6035'
const open: Gateway[] = []

afterEach(async () => {
  await Promise.all(open.splice(0).map((gateway) => gateway.close()))
})

/** Only a shell puts these two together: the prompt itself does not hold the word. */
const command = 'printf "%s-%s" river stone'

/** Sets a client up in a home of its own, and lets it run a command that the gateway asks for. */
async function loop(name: string, runner: Runner, tool: string, options: GatewayOptions = {}) {
  const gateway = await startGateway({ key, ...options })
  open.push(gateway)
  const home = aHome({ 'work/.keep': '' })
  const env = { REPOINT_API_KEY: key, REPOINT_BASE_URL: gateway.url }
  expect(await runCli(home, [name, '--yes', '--json'], { env })).toMatchObject({ status: 0 })
  gateway.clearRequests()

  const input = name === 'codex' ? { cmd: command } : { command, description: 'Says it' }
  const args = { codex: ['-s', 'workspace-write'], claude: ['--allowed-tools', 'Bash'] }[name] ?? []
  const asked = `#call ${tool} ${JSON.stringify(input)}`
  const said = await prompt(runner, { home: home.path, cwd: home.at('work'), prompt: asked, args })
  expect(said.text).toContain('river-stone')
  return { gateway, home, said: said.text }
}

test.each([
  ['codex', 'codex', 'exec_command'],
  ['claude', 'claude 2.1.197', 'Bash'],
  ['claude', 'claude 2.1.330', 'Bash'],
  ['opencode', 'opencode', 'bash'],
] as const)(
  '%s: %s is one conversation, and its scenario plays it again',
  async (name, runner, tool) => {
    const { gateway, home, said } = await loop(name, runner, tool)
    const known = gateway.requests().map((request) => ({ request, digest: digestOf(request) }))
    const places = placesOf(known)
    const last = inferences(gateway.requests()).at(-1)!
    const { thread } = places.get(last.id)!
    const turns = known.filter(({ request }) => places.get(request.id)!.thread === thread)
    expect(turns.map(({ digest }) => digest.asks)).toEqual([
      expect.stringContaining(`#call ${tool} {`),
      expect.stringMatching(/^[\w.]+ → .*river-stone/),
    ])
    expect(turns[0]!.digest.says).toMatch(/^[\w.]+\(.*printf/)

    const scenarioFile = home.at('scenario.yaml')
    writeFileSync(scenarioFile, scenarioText(gateway.requests())!)
    const again = await loop(name, runner, tool, { scenarioFile })
    expect(again.said).toBe(said)
  },
)
