import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'

/** A file to put into a home: its text, its bytes, or a link to another path. */
export type Given = string | Uint8Array | { link: string }

/** A real home folder in the temporary folder, removed after the test. */
export class Home {
  readonly path: string

  constructor(given: Readonly<Record<string, Given>> = {}) {
    this.path = mkdtempSync(join(tmpdir(), 'repoint-test-'))
    for (const [name, content] of Object.entries(given)) this.put(name, content)
  }

  at(name: string): string {
    return join(this.path, name)
  }

  put(name: string, content: Given, mode?: number): void {
    mkdirSync(dirname(this.at(name)), { recursive: true })
    if (typeof content === 'object' && 'link' in content) symlinkSync(content.link, this.at(name))
    else writeFileSync(this.at(name), content)
    if (mode !== undefined) chmodSync(this.at(name), mode)
  }

  text(name: string): string {
    return readFileSync(this.at(name), 'utf8')
  }

  /** Changes a file as its user would, and returns its new text. Throws if that changes nothing. */
  replace(name: string, from: string | RegExp, to: string): string {
    const before = this.text(name)
    const after = before.replace(from, to)
    if (after === before) throw new Error(`${from} is not in ${name}`)
    this.put(name, after)
    return after
  }

  isFile(name: string): boolean {
    return lstatSync(this.at(name)).isFile()
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true })
  }

  /** All paths in the home, including repoint's state. */
  everything(): readonly string[] {
    return readdirSync(this.path, { recursive: true, encoding: 'utf8' }).sort()
  }

  /** All entries below `below` except repoint's state: path → kind, mode and contents. */
  snapshot(below = ''): Record<string, string> {
    const entries: Record<string, string> = {}
    for (const name of readdirSync(this.at(below), { recursive: true, encoding: 'utf8' }).sort()) {
      const path = join(below, name)
      if (path.startsWith(join('.local', 'state')) || path === '.local') continue
      const status = lstatSync(this.at(path))
      const mode = (status.mode & 0o7777).toString(8)
      entries[path] = status.isSymbolicLink()
        ? `link ${readlinkSync(this.at(path))}`
        : status.isDirectory()
          ? `folder ${mode}`
          : `file ${mode} ${readFileSync(this.at(path), 'base64')}`
    }
    return entries
  }
}

/**
 * A home that is removed when the test ends. In a concurrent test, pass its own `onTestFinished`: Vitest's
 * may belong to a test that runs at the same time.
 */
export function aHome(
  given: Readonly<Record<string, Given>> = {},
  whenFinished: (remove: () => void) => unknown = onTestFinished,
): Home {
  const home = new Home(given)
  whenFinished(() => home.remove())
  return home
}
