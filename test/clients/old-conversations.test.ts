import { readdirSync } from 'node:fs'
import { afterEach, expect, onTestFinished, test } from 'vitest'
import type { Gateway } from '../../src/serve/index.ts'
import { runCli } from '../support/cli.ts'
import { withGateway } from '../support/gateway.ts'
import { aHome, type Home } from '../support/home.ts'
import { endServers, openCodex } from './support/codex-tui.ts'
import { installedClient, installedVersions } from './support/install.ts'
import { inferences } from './support/prompt.ts'
import { startWitness } from './support/witness.ts'

/**
 * A conversation of Codex's terminal UI continues with the provider with which it was recorded, whatever
 * provider a setup has chosen since. Codex must not send the gateway's key anywhere else.
 */

const vendorKey = 'sk-vendor-1f2e3d4c5b6a79880'
const gatewayKey = 'sk-gateway-8a7b6c5d4e3f2011'
const model = 'gpt-5.6-sol'

let home: Home
afterEach(() => endServers(home))

function aGateway(key: string): Promise<Gateway> {
  return withGateway({ key }, onTestFinished)
}

/** A home with a conversation that was recorded with Codex's own provider, which `vendor` replaces. */
async function aHomeWithConversation(vendor: Gateway) {
  home = aHome({ 'work/.git/HEAD': 'ref: refs/heads/main\n' })
  const witness = await startWitness(home, ['api.openai.com', 'chatgpt.com'])
  onTestFinished(() => witness.close())
  const config = [
    `model = "${model}"`,
    `[projects."${home.at('work')}"]`,
    'trust_level = "trusted"',
    '[notice.model_migrations]',
    `"${model}" = "gpt-6-sol"`,
    '',
  ].join('\n')
  home.put('.codex/config.toml', `openai_base_url = "${vendor.url}/v1"\n${config}`)
  home.put('.codex/auth.json', JSON.stringify({ OPENAI_API_KEY: vendorKey }))
  await ask([], witness.env, () => inferences(vendor.requests()).length > 0)
  home.put('.codex/config.toml', config)
  return witness
}

/** Types a prompt in the terminal UI, and waits for a request. */
async function ask(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  isSeen: () => boolean,
): Promise<void> {
  const tui = await openCodex(home.path, home.at('work'), { args: ['--no-daemon', ...args], env })
  await tui.ask('ping', isSeen)
  await tui.quit()
}

async function repoint(gateway: Gateway, ...args: string[]) {
  const env = { REPOINT_API_KEY: gatewayKey, REPOINT_BASE_URL: gateway.url }
  const { json } = await runCli(home, [...args, '--json'], { env })
  return json as {
    readonly warnings: readonly { readonly code: string; readonly message: string }[]
    readonly checks: readonly { readonly id: string; readonly result: string }[]
  }
}

test('an earlier conversation, resumed after a setup, sends the key only to the gateway', async () => {
  const [vendor, gateway] = [await aGateway(vendorKey), await aGateway(gatewayKey)]
  const witness = await aHomeWithConversation(vendor)
  const { warnings } = await repoint(gateway, 'codex', '--yes')
  expect(warnings.map(({ code }) => code)).toContain('codex-conversations-move')

  gateway.clearRequests()
  await ask(['resume', '--last'], witness.env, () => inferences(gateway.requests()).length > 0)
  expect(gateway.requests().every(({ keyMatches }) => keyMatches)).toBe(true)
  // Codex asks the vendor for its list of plugins, without any key (0.169.0, 2026-11-22).
  const withKey = witness.seen.filter(({ authorization }) => authorization !== undefined)
  expect(withKey).toEqual([])
  expect(witness.seen.map(({ host }) => host)).not.toContain('api.openai.com')
})

test('doctor finds and repairs a setup without the address for old conversations', async () => {
  const [vendor, gateway] = [await aGateway(vendorKey), await aGateway(gatewayKey)]
  const witness = await aHomeWithConversation(vendor)
  await repoint(gateway, 'codex', '--yes')
  const whole = home.text('.codex/config.toml')
  home.put('.codex/config.toml', whole.replace(/^openai_base_url.*\n/m, ''))

  // Without the address, the key is sent to another company.
  const leaked = () => witness.seen.some(({ authorization }) => authorization?.includes(gatewayKey))
  await ask(['resume', '--last'], witness.env, leaked)
  const { checks } = await repoint(gateway, 'doctor', 'codex', '--no-verify')
  const id = 'codex-old-conversations'
  expect(checks).toContainEqual(expect.objectContaining({ id, result: 'problem' }))

  await repoint(gateway, 'doctor', 'codex', '--fix', '--no-verify')
  expect(home.text('.codex/config.toml')).toContain(`openai_base_url = "${gateway.url}/v1"`)
})

const newest = installedVersions['codex']?.at(-1)

test.each([newest, '0.149.1'])(
  '%s: after a setup, a handwritten provider gets no request, and its conversation continues at the gateway',
  async (version) => {
    const [old, gateway] = [await aGateway(vendorKey), await aGateway(gatewayKey)]
    home = aHome({ 'work/.git/HEAD': 'ref: refs/heads/main\n' })
    home.put(
      '.codex/config.toml',
      `model = "${model}"
model_provider = "old"

[notice.model_migrations]
"${model}" = "gpt-6-sol"

[projects."${home.at('work')}"]
trust_level = "trusted"

[model_providers.old]
name = "Old"
base_url = "${old.url}/v1"
wire_api = "responses"
requires_openai_auth = true
`,
    )
    home.put('.codex/x.config.toml', 'model_provider = "old"\n')
    home.put('.codex/auth.json', JSON.stringify({ OPENAI_API_KEY: vendorKey }))
    const program = installedClient('codex', version)
    const daemonless = version === newest ? ['--no-daemon'] : []
    const say = async (args: readonly string[], isSeen: (screen: string) => boolean) => {
      const tui = await openCodex(home.path, home.at('work'), {
        args: [...daemonless, ...args],
        program,
      })
      await tui.ask('ping', isSeen)
      await tui.quit()
    }

    await say([], (screen) => inferences(old.requests()).length > 0 && screen.includes('pong'))
    const recorded = readdirSync(home.at('.codex/sessions'), { recursive: true, encoding: 'utf8' })
    const id = /([\da-f]{8}-[\da-f-]{27})\.jsonl$/.exec(recorded.join('\n'))![1]!
    const { warnings } = await repoint(gateway, 'codex', '--yes')
    expect(warnings.map(({ code }) => code)).toContain('codex-conversations-set-aside')

    old.clearRequests()
    const ways = [
      ['resume', id],
      ['-c', 'model_provider=old'],
      ['--profile', 'x', 'resume', id],
    ]
    for (const args of ways)
      await say(args, (screen) => /REPOINT_SET_ASIDE[\s\S]*codex fork ID/.test(screen))
    gateway.clearRequests()
    await say(['fork', id], () => inferences(gateway.requests()).length > 0)
    expect(old.requests()).toEqual([])
    expect(gateway.requests().every(({ keyMatches }) => keyMatches)).toBe(true)
  },
)
