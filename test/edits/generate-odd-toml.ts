import { fc } from '../support/fast-check.ts'
import { tomlDocument } from './generate.ts'
import { textOf } from './helpers.ts'

/** Pieces of text that look like table headers, and that often fit together. */
const piece = fc.constantFrom(
  '[a]',
  '[a.b]',
  '[[l]]',
  '[ "a b" . c ]',
  "['[x]']",
  '["q\\"]"]',
  '["\\u0061"]',
  '  [t] # [no]',
  'k = ',
  '"k=[" = ',
  "'''\n[no]\n",
  "'''",
  '"""\n[no]\n',
  '"""',
  '""""',
  '"\\\\"',
  '"\\""',
  '\\"""',
  "'\\'",
  '[\n["no"]\n]',
  '[ # ]\n[1],\n]',
  '{ x = [\n[2]] }',
  '{ x = "}" }',
  '1',
  '# "',
  "# it's [no]",
  ',',
  '\n',
  '\n',
  '\r\n',
  ' ',
)
const pieces = fc.array(piece, { maxLength: 30 }).map((all) => all.join(''))

/** Valid statements that look similar. NN is a different number in each. */
const statement = fc.constantFrom(
  '[tNN]',
  "[ 'a]b' . tNN ] # ]",
  '[["q\\"]".tNN]]',
  '# "',
  'kNN = "\\""',
  'kNN = "\\\\"',
  "kNN = '\\'",
  'kNN = ""',
  'kNN = """a""""',
  "kNN = '''a'''''",
  'kNN = """\n\\"""\n[no]\n"""',
  'kNN = """\n\\\\"""',
  "kNN = '''\n[no]\n\\''' # '",
  'kNN = [\n["no"]\n]',
  'kNN = [ # ]\n[1],\n]',
  'kNN = { x = [\n[2]], y = "}" }',
  '"k[NN=" = 1',
)
const statements = fc
  .array(fc.tuple(statement, fc.constantFrom('\n', '\r\n')), { maxLength: 12 })
  .map((all) => all.map(([line, eol], index) => line.replace('NN', String(index)) + eol).join(''))

const mutation = fc.record({ at: fc.nat(10_000), cut: fc.nat(3), add: piece })
const mutated = fc
  .tuple(tomlDocument, fc.array(mutation, { maxLength: 3 }))
  .map(([{ bytes }, mutations]) =>
    mutations.reduce((text, { at, cut, add }) => {
      const place = at % (text.length + 1)
      return text.slice(0, place) + add + text.slice(place + cut)
    }, textOf(bytes)),
  )

/** Text that is TOML or almost TOML, in which headers are hard to find. */
export const oddToml = fc.oneof(pieces, statements, mutated)

/** Many tables below one root, too many to be parsed separately. */
const projects = (name: string) =>
  Array.from(
    { length: 190 },
    (_, n) => `[projects."/home/me/${name}/${n}"]\ntrust_level = "trusted"\n`,
  ).join('\n')

/** A large text with odd texts around it, and sometimes inside it. */
export const largeToml = fc
  .tuple(oddToml, oddToml, fc.constantFrom('behind', 'amidst', 'none'))
  .map(([head, other, where]) => {
    if (where === 'none') return `${head}\n${projects('a')}`
    return `${head}\n${projects('a')}\n${other}${where === 'amidst' ? `\n${projects('b')}` : ''}`
  })
