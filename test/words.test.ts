import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

/** docs/words.md says which nouns help, docs and code keep. */
const page = readFileSync('docs/words.md', 'utf8')
const [ofPeople = '', ofCode = ''] = page.split('## What the code adds')

function textsIn(folder: string, ending: string): string {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const paths = names.filter((name) => name.endsWith(ending) && name !== 'words.md')
  return paths.map((name) => readFileSync(join(folder, name), 'utf8')).join('\n')
}

function nounsIn(table: string): readonly string[] {
  return [...table.matchAll(/^\| (\w+) \|/gm)]
    .map(([, word]) => word!)
    .filter((one) => one !== 'Word')
}

const texts = ['README.md', 'man/repoint.1'].reduce(
  (text, page) => text + readFileSync(page, 'utf8'),
  textsIn('docs', '.md'),
)
const code = textsIn('src', '.ts')

test('about 40 nouns, none twice', () => {
  const all = [...nounsIn(ofPeople), ...nounsIn(ofCode)]
  expect(all.length).toBeGreaterThanOrEqual(40)
  expect(new Set(all).size).toBe(all.length)
})

test.each(nounsIn(ofPeople))('help and docs say %s', (noun) => {
  expect(texts).toMatch(new RegExp(`\\b${noun}s?\\b`, 'i'))
})

test.each(nounsIn(ofCode))('the code says %s', (noun) => {
  expect(code).toMatch(new RegExp(`\\b${noun}`, 'i'))
})

test('help and docs tell what is, and leave out what "is to be"', () => {
  const said = texts.split('\n').filter((line) => /\b(?:is|are|was|were) to be\b/.test(line))
  expect(said).toEqual([])
})

/** What people stumbled over. */
const stumbled = [
  ...['is not said', 'accept everything that would be asked', 'leave the network alone'],
  ...['with the choices that they have', 'believes now', 'obeys its files', 'No rule chooses'],
  ...['where it has its own', 'whatever was chosen before', 'orward again'],
]

test.each(stumbled)('no text of a command says "%s"', (words) => {
  const texts = code.split('\n').filter((line) => !/^\s*(?:\/\/|\/?\*)/.test(line))
  expect(texts.filter((line) => line.includes(words))).toEqual([])
})
