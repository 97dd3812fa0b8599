/** Edits realistic configurations in memory, as setups do, and undoes the edits. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { type Format, formatOf } from '../../src/edits/format.ts'
import type { Bytes, SettingChange } from '../../src/edits/types.ts'
import { UserError, valueOrError } from '../../src/errors.ts'
import { claudeChanges, codexChanges, openclawChanges, opencodeChanges } from './fixture-changes.ts'
import {
  bytesOf,
  decodeJson,
  decodeJson5,
  decodeToml,
  linesLost,
  show,
  withChanges,
  withoutEmptyTables,
} from './helpers.ts'
import { undoOurs } from './undo-ours.ts'

/** Other files: REPOINT_CORPUS=FOLDER npx vitest run --project unit test/edits/corpus.test.ts */
const othersFolder = process.env['REPOINT_CORPUS']
const folder = othersFolder ?? fileURLToPath(new URL('../fixtures/corpus', import.meta.url))
const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.(toml|json[c5]?)$/.test(name))
  .toSorted()

const refused: Readonly<Record<string, string>> = {
  'claude/19-env-null.json': 'env is null, not an object (line 2, column 10)',
  'openclaw/09-agents-is-text.json5': 'agents is a string, not an object (line 2, column 11)',
  'opencode/15-provider-is-a-list.json': 'provider is a list, not an object (line 2, column 15)',
}

test.each(names)('corpus: %s is edited and undone exactly, or refused with its reason', (name) => {
  const forms = formsOf(readFileSync(join(folder, name)))
  const client = clients[clientOf(name, forms[0]!)]
  const checked = valueOrError(() => forms.map((form) => checkFile(form, client)))
  const reason = refused[name]
  if (checked instanceof UserError && othersFolder) return
  if (reason !== undefined) expect(checked).toMatchObject({ message: `Cannot edit it: ${reason}` })
  else
    expect(checked).toEqual(forms.map(() => ({ isExact: true, keepsLines: true, isUndone: true })))
})

const clients = {
  codex: { kind: 'toml', changes: codexChanges, decode: decodeToml },
  claude: { kind: 'json', changes: claudeChanges, decode: (bytes: Bytes) => decodeJson(bytes) },
  opencode: { kind: 'json', changes: opencodeChanges, decode: (bytes: Bytes) => decodeJson(bytes) },
  openclaw: { kind: 'json5', changes: openclawChanges, decode: decodeJson5 },
} as const

type Client = (typeof clients)[keyof typeof clients]

/** Guesses the client of a file. It only decides which keys are changed. */
function clientOf(path: string, bytes: Bytes): keyof typeof clients {
  if (path.endsWith('.toml')) return 'codex'
  if (path.endsWith('.json5') || /openclaw/i.test(path)) return 'openclaw'
  const isOpencode = path.endsWith('.jsonc') || /opencode/i.test(path)
  return isOpencode || (show(bytes) as string).includes('opencode.ai') ? 'opencode' : 'claude'
}

/** The file as it is, with CRLF, with a byte order mark, and without its final line break. */
function formsOf(bytes: Bytes): Bytes[] {
  const text = (show(bytes) as string).replace(/^\ufeff/, '')
  const variants = [text.replace(/\r?\n/g, '\r\n'), `\ufeff${text}`, text.replace(/\r?\n$/, '')]
  return [bytes, ...variants.map(bytesOf)]
}

interface Checked {
  readonly isExact: boolean
  readonly keepsLines: boolean
  readonly isUndone: boolean
}

function checkFile(bytes: Bytes, { kind, changes, decode }: Client): Checked {
  const format = formatOf(kind)
  const written = format.edit(bytes, changes, 'it')
  const paths = changes.map((change) => change.path)
  const wanted = withoutEmptyTables(withChanges(decode(bytes), changes))
  const lost = linesLost(kind, bytes, written)
  const undo = (now: Bytes) => undoOurs(format, { before: bytes, written, now }, paths, 'it').bytes
  return {
    isExact: isSame(withoutEmptyTables(decode(written)), wanted),
    keepsLines: lost.every((line) => isOurs(line, format, bytes, changes)),
    // Add a line on top, so that the undo cannot simply restore the old file.
    isUndone:
      show(undo(written)) === show(bytes) &&
      show(undo(withLineOnTop(kind, written))) === show(withLineOnTop(kind, bytes)),
  }
}

function withLineOnTop(kind: Client['kind'], version: Bytes): Bytes {
  const [, bom = '', text = ''] = /^(\ufeff?)([\s\S]*)$/.exec(show(version) as string) ?? []
  return bytesOf(`${bom}${kind === 'toml' ? '#' : '//'} above\n${text}`)
}

/** Whether a line has one of the keys that were set or removed, or belongs to a removed table. */
function isOurs(
  line: string,
  format: Format,
  bytes: Bytes,
  changes: readonly SettingChange[],
): boolean {
  const document = format.read(bytes, 'it')
  const keys = changes.flatMap(({ path }) => [
    ...path.slice(-2),
    ...Object.keys(Object(document.get(path)) as object),
  ])
  return keys.some((key) => line.includes(String(key)))
}

function isSame(a: unknown, b: unknown): boolean {
  const text = (value: unknown) =>
    JSON.stringify(value, (_, part) =>
      typeof part === 'object' && part !== null && !Array.isArray(part)
        ? Object.fromEntries(Object.entries(part).toSorted(([x], [y]) => (x < y ? -1 : 1)))
        : part,
    )
  return text(a) === text(b)
}
