import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as { name: string }

/** A fenced block of a page. */
export interface DocBlock {
  /** The word after the fence. May be empty. */
  readonly language: string
  readonly text: string
  /** The line of its fence. */
  readonly line: number
}

export function blocksOf(page: string): readonly DocBlock[] {
  return blocksIn(readFileSync(page, 'utf8'))
}

export function blocksIn(text: string): readonly DocBlock[] {
  return [...text.matchAll(/^```(\w*)\n(.*?)^```/gms)].map((match) => ({
    language: match[1]!,
    text: match[2]!,
    line: text.slice(0, match.index).split('\n').length,
  }))
}

/** Whether an example needs the official SDKs, which test/sdk has. */
export function needsSdk({ text }: DocBlock): boolean {
  return /from '(openai|@anthropic-ai\/sdk)'/.test(text)
}

/**
 * Writes an example to a module file, which a test can import. Returns its path.
 *
 * @param places the paths of imported packages, by name. The package's gateway is always this checkout.
 */
export function moduleOf(
  { text }: DocBlock,
  places: Readonly<Record<string, string>> = {},
): string {
  const known = { [`${manifest.name}/gateway`]: resolve('src/serve/index.ts'), ...places }
  const path = join(mkdtempSync(join(tmpdir(), 'repoint-')), 'example.mjs')
  const placed = Object.entries(known).reduce(
    (code, [name, place]) => code.replaceAll(`from '${name}'`, `from '${place}'`),
    text.replaceAll("from 'vitest'", `from '${resolve('node_modules/vitest/dist/index.js')}'`),
  )
  writeFileSync(path, placed)
  return path
}
