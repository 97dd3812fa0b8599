import { expect } from 'vitest'
import type { Gateway } from '../../src/serve/index.ts'
import { aHome, type Home } from './home.ts'
import { type JsonResult, runHere } from './in-process.ts'

/** The address of a gateway, and a key for it. */
type Target = Pick<Gateway, 'url' | 'key'>

/** Sets up clients as a script does: `setUp(home, 'codex --name work', gateway)`. Fails if the setup fails. */
export async function setUp(
  home: Home,
  line: string | readonly string[],
  target: Target,
  env: Record<string, string> = {},
): Promise<JsonResult> {
  const result = await trySetUp(home, line, target, env)
  expect([result.status, result.json['error']]).toEqual([0, undefined])
  return result
}

/** A new home in which only this setup has run. */
export async function aHomeWith(line: string, target: Target): Promise<Home> {
  const home = aHome()
  await setUp(home, line, target)
  return home
}

/** Like `setUp`, for a setup that may fail. Its output must not contain the key either way. */
export async function trySetUp(
  home: Home,
  line: string | readonly string[],
  { url, key }: Target,
  env: Record<string, string> = {},
): Promise<JsonResult> {
  const words = typeof line === 'string' ? line.split(' ') : line
  const result = await runHere(home, [...words, '--base-url', url, '--yes'], {
    REPOINT_API_KEY: key,
    ...env,
  })
  expect(result.text).not.toContain(key)
  return result
}

/** Sets up one client without sending a request, so that no gateway has to run. */
export function setUpOffline(home: Home, client: string, target: Target): Promise<JsonResult> {
  const model = client.startsWith('claude') ? [] : ['--model', 'gpt-5.6-sol']
  return setUp(home, [client, '--no-verify', ...model], target)
}
