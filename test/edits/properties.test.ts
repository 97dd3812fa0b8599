import JSON5 from 'json5'
import { stringify as stringifyToml } from 'smol-toml'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { type Format, formatOf } from '../../src/edits/format.ts'
import type { Bytes, SettingChange } from '../../src/edits/types.ts'
import { UserError } from '../../src/errors.ts'
import { fc } from '../support/fast-check.ts'
import { json5Document, jsonDocument, tomlDocument } from './generate.ts'
import {
  bytesOf,
  decodeJson,
  decodeJson5,
  decodeToml,
  hasMixedEols,
  linesLost,
  show,
  textOf,
  withChanges,
  withoutEmptyTables,
} from './helpers.ts'
import { undoOurs } from './undo-ours.ts'

const json = formatOf('json')
const json5 = formatOf('json5')
const toml = formatOf('toml')

/** Documents for each property and format. CI runs 10,000: `npm run test:properties`. */
const numRuns = Number(process.env['REPOINT_PROPERTY_RUNS'] ?? 100)
vi.setConfig({ testTimeout: 300_000 })

// The json5 package warns about U+2028 in strings.
beforeAll(() => void vi.spyOn(console, 'warn').mockImplementation(() => {}))

const formats = {
  toml: { format: toml, documents: tomlDocument, decode: decodeToml, rewrite: rewriteToml },
  json: {
    format: json,
    documents: jsonDocument,
    decode: (bytes: Bytes) => decodeJson(bytes),
    rewrite: rewriteJson,
  },
  json5: { format: json5, documents: json5Document, decode: decodeJson5, rewrite: rewriteJson5 },
}

describe.each(['toml', 'json', 'json5'] as const)('%s, over generated documents', (name) => {
  const { format, documents, decode, rewrite } = formats[name]
  const meaning = (bytes: Bytes | null) => withoutEmptyTables(decode(bytes ?? bytesOf('')))

  /** Checks each document that is edited and not refused. */
  function forEachEdit<Extra>(
    extra: fc.Arbitrary<Extra>,
    predicate: (edited: Edited, extra: Extra) => void,
    mutate = (text: string, _extra: Extra) => text,
  ): void {
    let edited = 0
    const property = fc.property(documents, extra, (document, choice) => {
      const before = bytesOf(mutate(show(document.bytes) as string, choice))
      const written = editOrRefuse(format, before, document.changes)
      if (written === undefined) return
      edited++
      predicate({ before, written, changes: document.changes }, choice)
    })
    fc.assert(property, { numRuns })
    // If every document is refused, the property proves nothing.
    expect(edited).toBeGreaterThan(numRuns / 20)
  }

  function undo({ before, written, changes }: Edited, now: Bytes) {
    const paths = changes.map((change) => change.path)
    return undoOurs(format, { before, written, now }, paths, 'x')
  }

  test('an edit makes exactly the requested changes, is idempotent, and is undone to the byte', () => {
    forEachEdit(fc.constant(undefined), (edited) => {
      const { before, written, changes } = edited
      expect(meaning(written)).toEqual(withoutEmptyTables(withChanges(decode(before), changes)))
      expect(format.edit(written, changes, 'x')).toBe(written)
      expect(linesLost(name, before, written)).toEqual([])
      expect(undo(edited, written)).toEqual({ bytes: before, kept: [] })
    })
  })

  test('an undo keeps what others wrote since, to the byte', () => {
    const byOthers = fc.subarray(foreignEdits[name], { minLength: 1 })
    forEachEdit(byOthers, (edited, edits) => {
      const { before, written } = edited
      // With mixed line breaks, the kind of the removed line breaks is unknown.
      if (edits.includes(normalised) && [before, written].some(hasMixedEols)) return
      // If it had nothing else, it is unknown whether their text is above or below ours.
      if ([before, written].some((version) => (show(version) as string).trim() === '')) return
      const [now, expected] = [written, before].map((version) =>
        edits.reduce((result, edit) => edit(result), version),
      ) as [Bytes, Bytes]
      const undone = undo(edited, now)
      expect(undone.kept).toEqual([])
      // With mixed line breaks, the line break of a rewritten line is a guess.
      const isGuess = name !== 'toml' && hasMixedEols(before)
      if (isGuess) expect(decode(undone.bytes as Bytes)).toEqual(decode(expected))
      else expect(show(undone.bytes)).toBe(show(expected))
    })
  })

  test('an undo restores the earlier values in a rewritten file', () => {
    forEachEdit(fc.constant(undefined), (edited) => {
      const undone = undo(edited, rewrite(edited.written))
      expect(meaning(undone.bytes)).toEqual(meaning(rewrite(edited.before)))
      expect(undone.kept).toEqual([])
    })
  })

  test('a randomly broken file is refused, or edited and undone exactly', () => {
    forEachEdit(
      fc.array(mutation, { minLength: 1, maxLength: 3 }),
      (edited) => {
        const { before, written, changes } = edited
        expect(meaning(written)).toEqual(withoutEmptyTables(withChanges(decode(before), changes)))
        const now = bytesOf(`${name === 'toml' ? '#' : '//'} on top\n${textOf(written)}`)
        expect(meaning(undo(edited, now).bytes)).toEqual(meaning(before))
      },
      (text, mutations) => mutations.reduce(mutated, text),
    )
  })
})

interface Edited {
  readonly before: Bytes
  readonly written: Bytes
  readonly changes: readonly SettingChange[]
}

type Mutation = { readonly at: number; readonly cut: number; readonly add: string }

const marks = [
  '"',
  '{',
  '}',
  '[',
  ']',
  ',',
  '\n',
  '\r',
  '#',
  '//',
  '/*',
  '=',
  '.',
  '\0',
  '\\',
  "'''",
  'model',
]

const mutation: fc.Arbitrary<Mutation> = fc.record({
  at: fc.nat(10_000),
  cut: fc.nat(3),
  add: fc.oneof(fc.constantFrom(...marks, '\ufeff'), fc.string({ maxLength: 3 })),
})

function mutated(text: string, { at, cut, add }: Mutation): string {
  const place = at % (text.length + 1)
  return text.slice(0, place) + add + text.slice(place + cut)
}

/** Returns undefined for an expected refusal. Any other error fails the property. */
function editOrRefuse(
  format: Format,
  bytes: Bytes,
  changes: readonly SettingChange[],
): Bytes | undefined {
  try {
    return format.edit(bytes, changes, 'x')
  } catch (cause) {
    if (cause instanceof UserError && cause.code.startsWith('config-')) return undefined
    throw cause
  }
}

function rewriteToml(bytes: Bytes): Bytes {
  return bytesOf(stringifyToml(decodeToml(bytes)))
}

function rewriteJson(bytes: Bytes): Bytes {
  return bytesOf(JSON.stringify(decodeJson(bytes, false), null, 2))
}

/** Rewrites the file as a client does whose JSON5 has the names and strings of JSON. */
function rewriteJson5(bytes: Bytes): Bytes {
  return bytesOf(JSON5.stringify(decodeJson5(bytes), { quote: '"', space: 2 }))
}

/** Changes that others make to a file, the same in both versions. None of them affects our keys. */
const jsonEdits = [
  normalised,
  onText((text) => text.replaceAll(/(["'])foreign\1/g, '"by others"')),
  onText((text) => `// on top\n${text}`),
]
const foreignEdits: Record<keyof typeof formats, ((bytes: Bytes) => Bytes)[]> = {
  toml: [
    normalised,
    onText((text) => text.replaceAll('"foreign"', '"by others"')),
    onText((text) => `# on top\n${text}`),
    onText((text) => text.replace(/\n$/, '\n\n[projects."/home/x"]\ntrust_level = "trusted"\n')),
  ],
  json: jsonEdits,
  json5: jsonEdits,
}

/** The file as Codex rewrites it: without a byte order mark, with LF only. */
function normalised(bytes: Bytes): Bytes {
  return bytesOf(textOf(bytes).replaceAll('\r\n', '\n'))
}

function onText(change: (text: string) => string): (bytes: Bytes) => Bytes {
  return (bytes) => {
    const text = show(bytes) as string
    const bom = text.startsWith('\ufeff') ? '\ufeff' : ''
    return bytesOf(bom + change(text.slice(bom.length)))
  }
}
