import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { expect, test } from 'vitest'

/** Who may import whom, as the design draws it. Types of the platform may be imported anywhere. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  'cli.ts': ['commands', 'clients', 'compact.ts', 'errors.ts', 'notice.ts', 'text.ts'],
  commands: [
    'clients',
    'edits',
    'transaction',
    'gateway',
    'serve',
    'compact.ts',
    'errors.ts',
    'notice.ts',
    'text.ts',
  ],
  clients: ['edits', 'gateway', 'compact.ts', 'errors.ts', 'notice.ts', 'text.ts'],
  transaction: ['edits', 'compact.ts', 'errors.ts', 'notice.ts', 'text.ts'],
  gateway: ['clients', 'compact.ts', 'errors.ts', 'notice.ts', 'text.ts'],
  edits: ['compact.ts', 'errors.ts', 'notice.ts', 'text.ts'],
  serve: ['compact.ts', 'errors.ts', 'notice.ts', 'text.ts'],
  platform: ['compact.ts', 'errors.ts', 'notice.ts', 'text.ts'],
  'compact.ts': [],
  'errors.ts': ['compact.ts', 'text.ts'],
  'notice.ts': [],
  'text.ts': [],
}

const sources = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((path) =>
  path.endsWith('.ts'),
)

const imports = sources.flatMap((path) =>
  [...readFileSync(join('src', path), 'utf8').matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)].map(
    (match) => ({ from: path, to: normalize(join(dirname(path), match[1]!)) }),
  ),
)

function partOf(path: string): string {
  return path.split('/')[0]!
}

test('imports: every arrow between the parts is one of the design', () => {
  expect(imports.length).toBeGreaterThan(50)
  const wrong = imports.filter(({ from, to }) => {
    if (to.startsWith('..') || to === 'platform/platform.ts') return false
    return partOf(from) !== partOf(to) && !allowed[partOf(from)]?.includes(partOf(to))
  })
  expect(wrong).toEqual([])
})

test('imports: only bin builds the real platform', () => {
  expect(imports.filter(({ to }) => to === 'platform/node.ts')).toEqual([])
})

test('imports: each part of the design exists', () => {
  expect([...new Set(sources.map(partOf))].sort()).toEqual(Object.keys(allowed).sort())
})
