import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { type Format, formatOf } from '../../src/edits/format.ts'
import type { Bytes, SettingChange } from '../../src/edits/types.ts'
import { UserError } from '../../src/errors.ts'
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

const clients = {
  codex: { kind: 'toml', changes: codexChanges, decode: decodeToml },
  claude: { kind: 'json', changes: claudeChanges, decode: (bytes: Bytes) => decodeJson(bytes) },
  opencode: { kind: 'json', changes: opencodeChanges, decode: (bytes: Bytes) => decodeJson(bytes) },
  openclaw: { kind: 'json5', changes: openclawChanges, decode: decodeJson5 },
} as const

type Client = (typeof clients)[keyof typeof clients]

interface Tally {
  files: number
  exact: number
  linesKept: number
  undone: number
  readonly refused: string[]
  readonly wrong: string[]
}

/** The result for each file of a folder, as readable lines. */
export interface CorpusReport {
  /** Every file was either edited exactly or refused. */
  readonly isClean: boolean
  readonly lines: readonly string[]
}

/** Edits every .toml, .json, .jsonc and .json5 file below `folder` in memory; nothing is written. */
export function runCorpus(folder: string): CorpusReport {
  const tallies = new Map<string, Tally>()
  for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted()) {
    if (!/\.(toml|json[c5]?)$/.test(path)) continue
    const bytes = readFileSync(join(folder, path))
    const client = clientOf(path, bytes)
    const tally = tallies.get(client) ?? newTally()
    tallies.set(client, tally)
    tryFile(bytes, path, clients[client], tally)
  }
  const all = [...tallies.values()]
  return {
    isClean: all.length > 0 && all.every((tally) => tally.wrong.length === 0),
    lines:
      all.length === 0
        ? ['no .toml, .json, .jsonc or .json5 files']
        : [...tallies].flatMap(showTally),
  }
}

function newTally(): Tally {
  return { files: 0, exact: 0, linesKept: 0, undone: 0, refused: [], wrong: [] }
}

/** Guesses the client of a file. It only decides which keys are changed. */
function clientOf(path: string, bytes: Bytes): keyof typeof clients {
  if (path.endsWith('.toml')) return 'codex'
  if (path.endsWith('.json5') || /openclaw/i.test(path)) return 'openclaw'
  const isOpencode = path.endsWith('.jsonc') || /opencode/i.test(path)
  return isOpencode || (show(bytes) as string).includes('opencode.ai') ? 'opencode' : 'claude'
}

function tryFile(bytes: Bytes, path: string, client: Client, tally: Tally): void {
  tally.files++
  try {
    const results = formsOf(bytes).map((form) => checkFile(form, client))
    tally.exact += Number(results.every((result) => result.isExact))
    tally.linesKept += Number(results.every((result) => result.keepsLines))
    tally.undone += Number(results.every((result) => result.isUndone))
    const failures = results.filter((result) => Object.values(result).includes(false))
    if (failures.length > 0) tally.wrong.push(`${path}: ${JSON.stringify(failures[0])}`)
  } catch (cause) {
    const reason = stripVTControlCharacters((cause as Error).message).split('\n')[0]
    const isRefusal = cause instanceof UserError
    ;(isRefusal ? tally.refused : tally.wrong).push(`${path}: ${reason}`)
  }
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

function showTally([client, tally]: [string, Tally]): string[] {
  const { files, exact, linesKept, undone, refused, wrong } = tally
  return [
    `${client}: ${files} files, ${exact} exact, ${linesKept} with every untouched line kept, ${undone} undone to the byte, ${refused.length} refused, ${wrong.length} wrong`,
    ...refused.map((line) => `  refused  ${line}`),
    ...wrong.map((line) => `  WRONG    ${line}`),
  ]
}
