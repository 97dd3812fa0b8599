import type { Bytes, SettingChange } from '../../src/edits/types.ts'
import { fc } from '../support/fast-check.ts'

/** A document in its final bytes, and changes to make. */
export interface Generated {
  readonly bytes: Bytes
  readonly changes: readonly SettingChange[]
}

const oddText = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom('gpt-5.6-sol', 'a "b" \\ c', 'é😀', '', 'x\ny', '\u0001\u0002"'),
  },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 12 }) },
)

/** Line breaks, byte order mark, final line break. */
const form = fc.record({
  eol: fc.constantFrom('\n', '\r\n', 'mixed'),
  hasBom: fc.boolean(),
  hasFinalEol: fc.boolean(),
})

function inForm(
  text: string,
  choice: { eol: string; hasBom: boolean; hasFinalEol: boolean },
): Bytes {
  let count = 0
  const trimmed = choice.hasFinalEol ? text : text.replace(/\n$/, '')
  const broken = trimmed.replace(/\n/g, () =>
    choice.eol === 'mixed' ? (count++ % 3 === 1 ? '\r\n' : '\n') : choice.eol,
  )
  return new TextEncoder().encode((choice.hasBom ? '\ufeff' : '') + broken)
}

// Only our lines contain "model". The tests rely on that to recognize them.

const tomlScalar = fc.constantFrom(
  '"foreign"',
  "'lit \\ eral'",
  '"""\n[not.a.header]\nkey = 1\n"""',
  "'''\n# no comment\n'''",
  '12_345',
  '9007199254740993',
  '-0.0',
  '1e6',
  'inf',
  '1979-05-27T07:32:00Z',
  '1979-05-27 07:32:00.5',
  '1979-05-27',
  '07:32:00',
  'true',
  '[ 1, 2 ]',
  '[\n  "a", # first\n  "b",\n]',
  '{ x = 1, y.z = "two" }',
  '{}',
  '[{ a = 1 }, { a = 2 }]',
)
const tomlKey = fc.constantFrom(
  'a',
  'b-c',
  '"q k"',
  "'lit'",
  'd.e',
  'f."g.h".i',
  '__proto__',
  '""',
  'é'.normalize(),
)
const blankOrComment = fc.constantFrom('', '', '# a comment', '  # [commented.header]', '   ', '#')
const trail = fc.constantFrom('', '', ' ', ' # why', '\t#é')
const indent = fc.constantFrom('', '', '  ', '\t')

/** A line with a key. The number makes keys unique. Invalid documents are filtered out later. */
function keyLine(index: number): fc.Arbitrary<string> {
  return fc
    .tuple(indent, tomlKey, fc.constantFrom(' = ', '=', '  =  '), tomlScalar, trail)
    .map(([start, key, equals, value, end]) => `${start}k${index}.${key}${equals}${value}${end}`)
}

function keyLines(from: number, most: number): fc.Arbitrary<string[]> {
  return fc
    .array(fc.tuple(fc.array(blankOrComment, { maxLength: 2 }), fc.nat(1)), { maxLength: most })
    .chain((gaps) =>
      fc.tuple(...gaps.map(([gap], index) => keyLine(from + index).map((line) => [...gap, line]))),
    )
    .map((groups) => groups.flat())
}

const tomlHeader = fc.constantFrom('[tNN]', '[ tNN . "x y" ]', '[[lNN]]', '[tNN.sub]', '  [tNN]')

function tomlTables(most: number): fc.Arbitrary<string[]> {
  return fc
    .nat(most)
    .chain((count) =>
      fc.tuple(
        ...Array.from({ length: count }, (_, index) =>
          fc
            .tuple(
              fc.array(blankOrComment, { maxLength: 2 }),
              tomlHeader,
              trail,
              keyLines(100 * (index + 1), 3),
            )
            .map(([gap, header, end, lines]) => [
              ...gap,
              header.replace('NN', String(index)) + end,
              ...lines,
            ]),
        ),
      ),
    )
    .map((tables) => tables.flat())
}

const ourRoot = fc.subarray([
  'model = "old" # mine',
  '"model_provider" = \'openai\'',
  'model_context_window = 272_000',
])
const ourProviders = fc.constantFrom<{ root: string[]; tables: string[] }>(
  { root: [], tables: [] },
  { root: [], tables: [] },
  { root: ['model_providers = { x = { name = "X" } } # in model_providers'], tables: [] },
  { root: ['model_providers = { gateway = { name = "Old", env_key = "MODEL" } }'], tables: [] },
  { root: ['model_providers = {}'], tables: [] },
  { root: ['model_providers.x.name = "X"'], tables: [] },
  { root: ['model_providers."gateway".name = "Old"'], tables: [] },
  { root: [], tables: ['[model_providers]', 'x = { name = "model x" }'] },
  { root: [], tables: ['[model_providers]', 'gateway.name = "model g"'] },
  { root: [], tables: ['[model_providers.x]', 'name = "model x"', '# about model_providers'] },
  { root: [], tables: ['[ model_providers . "gateway" ] # comment', '  name = "model old"'] },
  {
    root: [],
    tables: ['[model_providers.gateway.model_headers]', 'a = "model"', '[model_providers]'],
  },
  {
    root: [],
    tables: ['[model_providers.gateway]', 'env_key = "MODEL" # model', 'name = "model"'],
  },
  { root: [], tables: ['[[model_providers]]', 'name = "model"'] },
  { root: ['model_providers = "model"'], tables: [] },
)

export const tomlDocument: fc.Arbitrary<Generated> = fc
  .record({
    head: fc.array(blankOrComment, { maxLength: 2 }),
    root: keyLines(1, 4),
    our: ourRoot,
    providers: ourProviders,
    tables: tomlTables(3),
    ourTablesFirst: fc.boolean(),
    foot: fc.array(blankOrComment, { maxLength: 2 }),
    form,
    changes: tomlChanges(),
  })
  .map((parts) => {
    const tables = [parts.providers.tables, parts.tables]
    const lines = [
      ...parts.head,
      ...parts.root.slice(0, 1),
      ...parts.our,
      ...parts.root.slice(1),
      ...parts.providers.root,
      ...(parts.ourTablesFirst ? tables : tables.toReversed()).flat(),
      ...parts.foot,
    ]
    const text = lines.map((line) => `${line}\n`).join('')
    return { bytes: inForm(text, parts.form), changes: parts.changes }
  })

function tomlChanges(): fc.Arbitrary<SettingChange[]> {
  return fc
    .record({ model: oddText, name: oddText, window: fc.maxSafeInteger(), removes: fc.boolean() })
    .chain(({ model, name, window, removes }) =>
      fc.subarray<SettingChange>(
        [
          { path: ['model'], value: model },
          { path: ['model_provider'], value: 'gateway' },
          { path: ['model_context_window'], value: removes ? undefined : window },
          { path: ['model_providers', 'gateway', 'name'], value: name },
          { path: ['model_providers', 'gateway', 'requires_openai_auth'], value: true },
          { path: ['model_providers', 'gateway', 'env_key'], value: undefined },
        ],
        { minLength: 1 },
      ),
    )
}

const jsonScalar = fc.constantFrom(
  '"foreign"',
  '"\\u0065\\n\\"//no comment"',
  '1',
  '1.50',
  '12345678901234567890123',
  '-0',
  '2e5',
  'true',
  'null',
  '[]',
  '[1,2]',
  '[\n  "a", "b"\n]',
  '{}',
  '{ "x": 1 }',
  '{\n "y": {"__proto__": 1}\n}',
)

const json5Scalar = fc.oneof(
  jsonScalar,
  fc.constantFrom(
    "'foreign'",
    "'it\"s // no comment'",
    "'a\\\nb\\x41\\0\\v\u2028'",
    '0xDECAF',
    '+1',
    '-.5e3',
    '5.',
    '-Infinity',
    'NaN',
    "{ x: 1, 'y': [2,], /* z */ }",
  ),
)

interface JsonStyle {
  /** The quotes around names, if names can have some. */
  readonly quote: '"' | "'" | ''
  readonly newline: string
  readonly unit: string
  readonly colon: string
  readonly commaFirst: boolean
  readonly comments: boolean
  readonly trailingComma: boolean
}

type Tree = readonly (readonly [key: string, value: string | Tree])[]

const jsonStyle = (quotes: readonly JsonStyle['quote'][]): fc.Arbitrary<JsonStyle> =>
  fc.record({
    quote: fc.constantFrom(...quotes),
    newline: fc.constantFrom('\n', '\n', '\n', ' ', ''),
    unit: fc.constantFrom('  ', '    ', '\t'),
    colon: fc.constantFrom(': ', ':', ' : '),
    commaFirst: fc.boolean(),
    comments: fc.boolean(),
    trailingComma: fc.boolean(),
  })

const foreignMembers = (scalar: fc.Arbitrary<string>): fc.Arbitrary<Tree> =>
  fc
    .array(fc.tuple(fc.constantFrom('a', 'b c', 'é', '', '__proto__', '\\u0061'), scalar), {
      maxLength: 4,
    })
    .map((members) => members.map(([key, value], index) => [`${key}${index}`, value] as const))

const envMembers = fc.subarray<readonly [string, string]>([
  ['KEEP', '"foreign"'],
  ['ANTHROPIC_BASE_URL', '"https://model.old"'],
  ['ANTHROPIC_API_KEY', '"model key"'],
])

export const jsonDocument = documentOf(jsonScalar, ['"'])
export const json5Document = documentOf(json5Scalar, ['', '', "'", '"'])

function documentOf(
  scalar: fc.Arbitrary<string>,
  quotes: readonly JsonStyle['quote'][],
): fc.Arbitrary<Generated> {
  return fc
    .record({
      style: jsonStyle(quotes),
      members: foreignMembers(scalar),
      envKey: fc.constantFrom('env', '\\u0065nv'),
      env: fc.oneof(
        { weight: 6, arbitrary: fc.option(envMembers, { nil: undefined }) },
        { weight: 1, arbitrary: fc.constantFrom('null', '"model"', '[]') },
      ),
      model: fc.option(fc.constantFrom('"opus"', '"model"', 'null'), { nil: undefined }),
      ourPlace: fc.nat(4),
      form,
      changes: jsonChanges(),
    })
    .map((parts) => {
      const our: (readonly [string, string | Tree])[] = []
      if (parts.env !== undefined) our.push([parts.envKey, parts.env])
      if (parts.model !== undefined) our.push(['model', parts.model])
      const members = [
        ...parts.members.slice(0, parts.ourPlace),
        ...our,
        ...parts.members.slice(parts.ourPlace),
      ]
      const text = `${writeObject(members, parts.style, '')}\n`
      return { bytes: inForm(text, parts.form), changes: parts.changes }
    })
}

function writeObject(tree: Tree, style: JsonStyle, indent: string): string {
  if (tree.length === 0)
    return style.comments && style.newline === '\n' ? `{ // none\n${indent}}` : '{}'
  const isLines = style.newline === '\n'
  const inner = isLines ? indent + style.unit : ''
  const members = tree.map(([key, value]) => {
    const text = typeof value === 'string' ? value : writeObject(value, style, inner)
    const quote = /^[a-z_\\é][\w\\]*$/i.test(key) ? style.quote : style.quote || '"'
    return `${quote}${key}${quote}${style.colon}${text}`
  })
  const last = style.trailingComma && !style.commaFirst ? ',' : ''
  if (!isLines)
    return `{${style.newline}${members.join(`,${style.newline}`)}${last}${style.newline}}`
  if (style.commaFirst) return `{ ${members.join(`\n${indent}, `)}\n${indent}}`
  const note = style.comments ? ' // why' : ''
  const lines = members.map(
    (member, index) => inner + member + (index < members.length - 1 ? ',' : last) + note,
  )
  return `{\n${lines.join('\n')}\n${indent}}`
}

function jsonChanges(): fc.Arbitrary<SettingChange[]> {
  return fc.record({ token: oddText, model: oddText, removes: fc.boolean() }).chain((value) =>
    fc.subarray<SettingChange>(
      [
        { path: ['env', 'ANTHROPIC_AUTH_TOKEN'], value: value.token, isSecret: true },
        { path: ['env', 'ANTHROPIC_BASE_URL'], value: 'https://gw.example' },
        { path: ['env', 'ANTHROPIC_API_KEY'], value: undefined },
        { path: ['model'], value: value.removes ? undefined : value.model },
        { path: ['provider', 'gateway'], value: { npm: 'model', options: { limit: 200_000 } } },
      ],
      { minLength: 1 },
    ),
  )
}
