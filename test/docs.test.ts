import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'

// It starts the program for every help page.
test('docs: the help pages and the tables of the README are those of the program', {
  timeout: 120_000,
}, () => {
  const { status, stderr } = spawnSync(process.execPath, ['scripts/write-docs.js', '--check'], {
    encoding: 'utf8',
  })
  expect(stderr).toBe('')
  expect(status).toBe(0)
})

test('docs: every link to a file of the project leads somewhere', () => {
  const docs = readdirSync('docs').filter((name) => name.endsWith('.md'))
  const pages = [
    'README.md',
    'SECURITY.md',
    'CONTRIBUTING.md',
    ...docs.map((name) => `docs/${name}`),
  ]
  for (const page of pages) {
    const links = readFileSync(page, 'utf8').matchAll(/\]\((?!https?:)([^)#]*)#?([^)]*)\)/g)
    for (const [, link = '', heading = ''] of links) {
      const target = link === '' ? page : join(dirname(page), link)
      expect([page, link, existsSync(target)]).toEqual([page, link, true])
      if (heading !== '')
        expect([page, headingsOf(target)]).toEqual([page, expect.arrayContaining([heading])])
    }
  }
})

/** The headings of a page as GitHub names them in links. */
function headingsOf(page: string): readonly string[] {
  const headings = readFileSync(page, 'utf8').matchAll(/^#+ (.*)$/gm)
  return [...headings].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-'),
  )
}

test('docs: each generated table has a page', () => {
  const pages = ['README.md', 'docs/errors.md'].map((page) => readFileSync(page, 'utf8'))
  for (const name of ['clients', 'codes', 'exit'])
    expect([name, pages.some((page) => page.includes(`<!-- ${name}:start -->\n|`))]).toEqual([
      name,
      true,
    ])
})

test('CHANGELOG.md: the newest entry is that of the version in package.json', () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
  const [newest] = readFileSync('CHANGELOG.md', 'utf8').match(/(?<=^## \[).*?(?=\])/gm) ?? []
  expect(newest).toBe(version)
})

test('SECURITY.md: every promise names existing tests, by file and title', () => {
  const page = readFileSync('SECURITY.md', 'utf8')
  const promises = page.split('\n').filter((line) => /^\| (?!Promise|---)/.test(line))
  expect(promises.length).toBeGreaterThan(25)
  for (const line of promises) {
    const tests = citedTests(line)
    expect([line, tests.length]).not.toEqual([line, 0])
    for (const { path, titles } of tests) {
      expect([path, existsSync(path)]).toEqual([path, true])
      for (const title of titles) expect(readFileSync(path, 'utf8')).toContain(title)
    }
  }
})

/** The tests of a line, each as `test/FILE` or `test/FILE (TITLE, TITLE)`. A title may begin or end with `…`. */
function citedTests(line: string) {
  const cited = line.matchAll(/(test\/[\w./-]+)(?: \((`[^)]*`)\))?/g)
  return [...cited].map(([, path, titles = '']) => ({
    path: path!,
    titles: [...titles.matchAll(/`([^`]+)`/g)].map(([, title]) =>
      title!.replaceAll(/^… | …$/g, ''),
    ),
  }))
}

test('the READMEs in English and in Chinese have the same commands, tables, links and pictures', () => {
  const [english, chinese] = ['README.md', 'README.zh.md'].map((name) => {
    const text = readFileSync(name, 'utf8')
    const blocks = [...text.matchAll(/^```\w*\n(.*?)^```/gms)].map(([, block]) =>
      block!.replace(/ +# .*$/gm, ''),
    )
    // What stands first in a line of a table: a command, a client, a tool.
    const rows = text.split('\n').filter((line) => /^\| /.test(line))
    const names = rows.map((row) =>
      row.split('|')[1]!.trim().replace('（', ' (').replace('）', ')'),
    )
    const links = [...text.matchAll(/\]\(([^)]+)\)/g)].map(([, link]) => link!)
    return {
      blocks,
      rows: rows.length,
      commands: names.filter((name) => name.includes('`')),
      headings: text.match(/^#+ /gm),
      files: links.filter((link) => !/^#|^README/.test(link)).sort(),
    }
  })
  expect(chinese).toEqual(english)
})
