import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { expect, test } from 'vitest'

/** The modules that docs/one-run.md names, with `{a,b}` written out. */
function named(): string[] {
  const page = readFileSync('docs/one-run.md', 'utf8')
  return [...page.matchAll(/`([\w/-]+\/)?(?:\{([\w,-]+)\}|([\w-]+))\.ts`/g)].flatMap(
    ([, folder = '', several, one]) =>
      (several ?? one)!.split(',').map((name) => join('src', folder, `${name}.ts`)),
  )
}

/** What is loaded with these modules at once. */
function loadedWith(starts: readonly string[]): Set<string> {
  const loaded = new Set<string>()
  const todo = [...starts]
  for (let file = todo.pop(); file !== undefined; file = todo.pop()) {
    if (loaded.has(file)) continue
    loaded.add(file)
    const imports = readFileSync(file, 'utf8').matchAll(
      /^(?:import|export) (?!type )[^'";]*?from '(\.[^']+\.ts)'/gms,
    )
    for (const [, path] of imports) todo.push(normalize(join(dirname(file), path!)))
  }
  return loaded
}

test('docs/one-run.md names modules that exist', () => {
  expect(named().filter((path) => !existsSync(path))).toEqual([])
})

test('docs/one-run.md names each module that a run passes', () => {
  const starts = ['src/cli.ts', 'src/commands/setup.ts', 'src/clients/codex/codex.ts']
  const run = loadedWith([...starts, 'src/platform/node.ts', 'src/gateway/http/connection.ts'])
  expect(run.size).toBeGreaterThan(50)
  expect([...run].filter((path) => !named().includes(path))).toEqual([])
})
