import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { expect, test } from 'vitest'
import { clientRows, environmentRows } from '../src/clients/list.ts'

const page = readFileSync('docs/architecture.md', 'utf8')

interface Part {
  readonly name: string
  /** About how many lines of code it has. */
  readonly lines: number
  /** The parts that it may import. Every part may import `sharedFiles` too. */
  readonly mayImport: readonly string[]
}

/** The table of docs/architecture.md. */
const parts: readonly Part[] = [
  ...page.matchAll(/^\| `([\w.]+)` \| ([\d,]+) \| .* \|(.*)\|$/gm),
].map(([, name, lines, imported]) => ({
  name: name!,
  lines: Number(lines!.replace(',', '')),
  mayImport: [...imported!.matchAll(/`([\w.]+)`/g)].map(([, other]) => other!),
}))

const sharedFiles = [
  'errors.ts',
  'error-codes.ts',
  'outcome-codes.ts',
  'finding.ts',
  'text.ts',
  'compact.ts',
  'protocols.ts',
  'schema.ts',
]

interface Import {
  readonly from: string
  readonly to: string
}

const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => path.replaceAll('\\', '/'))
const texts = new Map(sources.map((path) => [path, readFileSync(join('src', path), 'utf8')]))
const imports: readonly Import[] = sources.flatMap((path) =>
  [...texts.get(path)!.matchAll(/(?:from|import\(|import)\s*'(\.[^']+)'/g)].map((match) => ({
    from: path,
    to: normalize(join(dirname(path), match[1]!)).replaceAll('\\', '/'),
  })),
)

/** The file or folder directly below src. */
function partOf(path: string): string {
  return path.split('/')[0]!
}

/** Groups of which each member reaches every other one. */
function cyclesIn(edges: readonly Import[]): string[][] {
  const next = groupByFrom(edges)
  const reach = (start: string) => {
    const seen = new Set<string>()
    const todo = [start]
    while (todo.length > 0)
      for (const { to } of next.get(todo.pop()!) ?? [])
        if (!seen.has(to)) {
          seen.add(to)
          todo.push(to)
        }
    return seen
  }
  const reached = new Map([...next.keys()].map((path) => [path, reach(path)]))
  const inCycle = [...reached.keys()].filter((path) => reached.get(path)!.has(path))
  const groups = inCycle.map((a) =>
    inCycle.filter((b) => reached.get(a)!.has(b) && reached.get(b)!.has(a)).sort(),
  )
  return [...new Map(groups.map((group) => [group.join(), group])).values()]
}

function groupByFrom(edges: readonly Import[]): Map<string, Import[]> {
  const groups = new Map<string, Import[]>()
  for (const edge of edges) groups.set(edge.from, [...(groups.get(edge.from) ?? []), edge])
  return groups
}

/** The files that Node loads before the first line of this one runs: without types and `import()`. */
function loadedWith(path: string): string[] {
  const loaded = new Set([path])
  for (const from of loaded)
    for (const match of (texts.get(from) ?? '').matchAll(staticImport))
      loaded.add(normalize(join(dirname(from), match[1]!)).replaceAll('\\', '/'))
  return [...loaded]
}

const staticImport =
  /^(?:import|export) (?!type\b)(?!\{(?:\s*type \w+,?)+\s*\})[^;]*?from '(\.[^']+)'/gm

test('every arrow between the parts is one of the design', () => {
  expect(imports.length).toBeGreaterThan(50)
  const wrong = imports.filter(({ from, to }) => {
    const isKnown = partOf(from) === partOf(to) || sharedFiles.includes(to)
    if (isKnown || to.startsWith('..')) return false
    return !parts.find(({ name }) => name === partOf(from))?.mayImport.includes(partOf(to))
  })
  expect(wrong).toEqual([])
})

test('the page has a row for each part, with its size and what it imports', () => {
  const folders = sources.filter((path) => path.includes('/')).map(partOf)
  const names = parts.map(({ name }) => name)
  expect([...new Set(folders)].filter((folder) => !names.includes(folder))).toEqual([])

  for (const { name, lines, mayImport } of parts) {
    const counts = sources
      .filter((path) => partOf(path) === name)
      .map((path) => texts.get(path)!.split('\n').length)
    const count = counts.reduce((sum, each) => sum + each, 0)
    const difference = Math.abs(count - lines) / lines
    expect(difference, `docs/architecture.md: ${name} has ${count} lines`).toBeLessThan(0.4)

    const isImported = (other: string) =>
      imports.some(({ from, to }) => partOf(from) === name && partOf(to) === other)
    expect([name, mayImport.filter((other) => !isImported(other))]).toEqual([name, []])
  }
})

test('no files import each other in a cycle, types included', () => {
  expect(cyclesIn(imports)).toEqual([])
})

test('no folders import each other in a cycle', () => {
  const folders = imports
    .map(({ from, to }) => ({ from: dirname(from), to: dirname(to) }))
    // A folder and what lies in it are one part.
    .filter(({ from, to }) => !`${from}/`.startsWith(`${to}/`) && !`${to}/`.startsWith(`${from}/`))
    .filter(({ from, to }) => from !== '.' && to !== '.')
  expect(cyclesIn(folders)).toEqual([])
})

test('no client imports another client', () => {
  const isClient = (folder: string) => texts.has(`clients/${folder}/${folder}.ts`)
  const folderOf = (path: string) => path.split('/')[1]!
  const wrong = imports.filter(
    ({ from, to }) =>
      partOf(from) === 'clients' &&
      partOf(to) === 'clients' &&
      isClient(folderOf(from)) &&
      isClient(folderOf(to)) &&
      folderOf(from) !== folderOf(to),
  )
  expect(wrong).toEqual([])
})

test('the command line starts without the clients and the gateway', () => {
  const loaded = loadedWith('cli.ts')
  expect(loaded).toContain('clients/list.ts')
  const rows = /^clients\/\w+\/flags\.ts$/
  const shared =
    /^(clients\/(list|names|options\/flags|contract\/options)|gateway\/(types|input\/key))\.ts$/
  const others = loaded.filter((path) => !rows.test(path) && !shared.test(path))
  expect(others.filter((path) => ['clients', 'gateway'].includes(partOf(path)))).toEqual([])
})

test('a client is loaded without what sends requests', () => {
  const senders = ['gateway/send.ts', 'gateway/judge/inference.ts']
  for (const sender of senders) expect(sources).toContain(sender)
  for (const path of ['clients/interpolation-guard.ts', 'clients/codex/codex.ts'])
    expect(loadedWith(path).filter((loaded) => senders.includes(loaded))).toEqual([])
})

test('only bin builds the real platform', () => {
  const outside = imports.filter(
    ({ from, to }) => to === 'platform/node.ts' && partOf(from) !== 'platform',
  )
  expect(outside).toEqual([])
})

test('outside of its folder and its row no code names a client', () => {
  const ids = [...clientRows, ...environmentRows].map(({ id }) => id)
  expect(ids.length).toBeGreaterThan(3)
  const naming = sources
    .filter((path) => !['clients', 'serve'].includes(partOf(path)))
    .filter((path) => {
      const code = texts.get(path)!.replace(/^\s*(\/\/|\*|\/\*).*$/gm, '')
      return ids.some((id) => code.includes(`'${id}'`))
    })
  expect(naming).toEqual([])
})

test('the pages name files that are there', () => {
  const pages = page + readFileSync('docs/changing.md', 'utf8')
  const named = [...pages.matchAll(/`((?:src|test|scripts)\/[^`\s]+)`/g)]
    .map(([, path]) => path!)
    .filter((path) => !path.includes('NAME'))
  expect(named.length).toBeGreaterThan(10)
  expect(named.filter((path) => !existsSync(path))).toEqual([])
})

test('the scripts import files that are there', () => {
  const scripts = readdirSync('scripts', { recursive: true, encoding: 'utf8' })
  const named = scripts
    .filter((path) => path.endsWith('.js'))
    .map((path) => readFileSync(join('scripts', path), 'utf8'))
    .flatMap((text) => [...text.matchAll(/from '\.\/(src\/[^']+)'/g)].map(([, path]) => path!))
  expect(named.length).toBeGreaterThan(3)
  expect(named.filter((path) => !existsSync(path))).toEqual([])
})
