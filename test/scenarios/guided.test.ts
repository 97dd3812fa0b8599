import { afterAll, beforeAll, expect, test } from 'vitest'
import { builtInCatalog, type Gateway, startGateway } from '../../src/serve/index.ts'
import { aHome, type Home } from '../support/home.ts'
import { runHere } from '../support/in-process.ts'
import { keys, runOnTerminal } from '../support/terminal.ts'

const canary = 'sk-canary-7788990011aabbccddeeff22'

let gateway: Gateway
/** One without a model of Claude Code's own. */
let gptAlone: Gateway
beforeAll(async () => {
  gateway = await startGateway({ families: 'rewritten', port: 0, key: canary })
  const models = builtInCatalog.filter(({ id }) => !id.startsWith('claude'))
  gptAlone = await startGateway({ families: 'rewritten', port: 0, key: canary, models })
})
afterAll(async () => {
  await gateway.close()
  await gptAlone.close()
})

test('--yes on a terminal asks for nothing that the environment says', async () => {
  const home = aHome()
  const run = runOnTerminal(home, ['codex', '--yes'], {
    env: { REPOINT_BASE_URL: gateway.url, REPOINT_API_KEY: canary },
  })
  expect(await run.ended).toBe(0)
  expect(run.screen()).not.toContain('Gateway address')
  expect(home.text('.codex/config.toml')).toContain(gateway.url)
})

/** Selects Codex and Claude Code, on a gateway that has no model for the slots of the latter. */
async function askedForAModel(home: Home) {
  const run = runOnTerminal(home, [], {
    env: { REPOINT_BASE_URL: gptAlone.url, REPOINT_API_KEY: canary },
  })
  await run.shows(`❯ ${gptAlone.url}`)
  run.type(keys.enter)
  await run.shows(/Claude Code +not installed, asks for its model/)
  run.type(`${keys.space}${keys.down}${keys.space}${keys.enter}`)
  await run.shows('no model for the slot sonnet. Which model should Claude Code use?')
  return run
}

test('a gateway without models for a client: it is left out, and the others are set up', async () => {
  const home = aHome()
  const run = await askedForAModel(home)
  await run.shows('none: leave Claude Code out')
  run.type(keys.enter)
  await run.shows('Apply?')
  run.type(keys.enter)
  expect(await run.ended).toBe(0)
  expect(home.text('.codex/config.toml')).toContain(gptAlone.url)
  expect(home.snapshot()).not.toHaveProperty('.claude')
})

test('or a model is chosen, for all its slots', async () => {
  const home = aHome()
  const run = await askedForAModel(home)
  run.type('gpt-5.4-mini')
  await run.shows('gpt-5.4-mini')
  run.type(keys.enter)
  await run.shows('Apply?')
  run.type(keys.enter)
  expect(await run.ended).toBe(0)
  const { env } = JSON.parse(home.text('.claude/settings.json'))
  for (const slot of ['OPUS', 'SONNET', 'HAIKU', 'FABLE'])
    expect(env[`ANTHROPIC_DEFAULT_${slot}_MODEL`]).toBe('gpt-5.4-mini')
})

test('a script gets the error', async () => {
  const home = aHome()
  const args = ['claude', '--base-url', gptAlone.url, '--yes']
  const result = await runHere(home, args, { REPOINT_API_KEY: canary })
  expect(result).toMatchObject({ status: 5, json: { error: { code: 'model-unknown' } } })
  expect(home.snapshot()).toEqual({})
})
