import { describe, expect, test } from 'vitest'
import { applyPlan } from '../../src/transaction/apply-plan.ts'
import { applyRollback, planRollback } from '../../src/transaction/plan-rollback.ts'
import type { World } from '../../src/transaction/record.ts'
import { aHome, type Home } from '../support/home.ts'
import { worldIn } from '../support/world.ts'
import { byId, type Disk, planOn } from './support.ts'

const config = '.codex/config.toml'
const settings = '.claude/settings.json'
const opencode = '.config/opencode/opencode.json'
const opencodeAuth = '.local/share/opencode/auth.json'

function setUp(id: string, given: Disk): { home: Home; world: World } {
  const home = aHome(given)
  const world = worldIn(home)
  const disk = Object.fromEntries(
    Object.entries(given).map(([name, content]) => [home.at(name), content]),
  )
  const { edits } = planOn(byId(id), disk, { machine: world.machine })
  applyPlan(world, {
    kind: 'setup' as const,
    command: id,
    address: 'https://gw.example',
    model: 'm',
    edits,
  })
  return { home, world }
}

function rollBack(world: World): void {
  applyRollback(world, planRollback(world)!)
}

function textsIn(home: Home): string {
  return Object.values(home.snapshot())
    .map((entry) => Buffer.from(entry.split(' ').at(-1)!, 'base64').toString())
    .join('\n')
}

describe('rollback undoes address and key together or not at all', () => {
  const cases: readonly (readonly [
    client: string,
    what: string,
    given: Disk,
    changed: string,
    from: string,
    to: string,
    files: readonly string[],
  ])[] = [
    [
      'codex',
      'the address was changed',
      { '.codex/auth.json': '{"OPENAI_API_KEY":"sk-users-own"}' },
      config,
      'https://gw.example/v1',
      'https://elsewhere.example/v1',
      ['.codex/auth.json', config],
    ],
    [
      'codex',
      'another provider was chosen',
      { [config]: 'model = "o3"\n' },
      config,
      'model_provider = "gateway"',
      'model_provider = "other"',
      ['.codex/auth.json', config],
    ],
    [
      'codex',
      'sending the key was switched off',
      {},
      config,
      'requires_openai_auth = true',
      'requires_openai_auth = false',
      ['.codex/auth.json', config],
    ],
    [
      'claude',
      'the address was changed',
      { [settings]: '{"env":{"ANTHROPIC_API_KEY":"sk-users-own"},"apiKeyHelper":"print-key"}' },
      settings,
      'https://gw.example',
      'https://elsewhere.example',
      [settings],
    ],
    [
      'opencode',
      'the address was changed',
      { [opencodeAuth]: '{"gateway":{"type":"api","key":"sk-users-own"}}' },
      opencode,
      'https://gw.example/v1',
      'https://elsewhere.example/v1',
      [opencodeAuth, opencode],
    ],
    [
      'opencode',
      'the package was changed',
      {},
      opencode,
      '@ai-sdk/openai-compatible',
      '@ai-sdk/anthropic',
      [opencodeAuth, opencode],
    ],
  ]
  test.each(cases)(
    '%s: a rollback changes nothing if %s',
    (id, _, given, changed, from, to, files) => {
      const { home, world } = setUp(id, given)
      const text = home.text(changed)
      expect(text).toContain(from)
      home.put(changed, text.replace(from, to))
      const before = files.map((name) => home.text(name))
      rollBack(world)
      expect(files.map((name) => home.text(name))).toEqual(before)
    },
  )

  test.each([
    ['codex', config, 'model = "gpt-5.6-sol"', 'model = "gpt-5.4"'],
    ['claude', settings, '"model": "sonnet"', '"model": "opus"'],
    ['opencode', opencode, '"model": "gateway/gpt-5.6-sol"', '"model": "gateway/other"'],
  ])('%s: a rollback also removes another model of the gateway', (id, name, from, to) => {
    const { home, world } = setUp(id, {})
    home.replace(name, from, to)
    rollBack(world)
    expect(textsIn(home)).not.toMatch(/gw\.example|sk-test|gateway\/other|gpt-5\.4|opus/)
  })

  test.each([
    ['opencode', opencode, '"model": "gateway/gpt-5.6-sol"', '"model": "anthropic/claude"'],
    ['pi', '.pi/agent/settings.json', '"defaultProvider": "gateway"', '"defaultProvider": "mine"'],
    ['cline', '.cline/data/settings/providers.json', '"openai-compatible",', '"anthropic",'],
  ])('%s: a rollback keeps a model of another provider', (id, name, from, to) => {
    const { home, world } = setUp(id, {})
    home.replace(name, from, to)
    rollBack(world)
    expect(home.text(name)).toContain(to.replace(',', ''))
    expect(textsIn(home)).not.toMatch(/gw\.example|sk-test/)
  })

  test.each([
    ['the name', 'name = "Gateway"', 'name = "Mine"'],
    ['the transport', 'supports_websockets = false', 'supports_websockets = true'],
  ])('codex: if only %s was changed since, a rollback undoes everything else', (_, from, to) => {
    const { home, world } = setUp('codex', { '.codex/auth.json': '{"OPENAI_API_KEY":"sk-own"}' })
    home.put(config, home.text(config).replace(from, to))
    rollBack(world)
    expect(home.text('.codex/auth.json')).toContain('sk-own')
    expect(home.text(config)).toContain(to)
    expect(home.text(config)).not.toContain('gw.example')
  })
})
