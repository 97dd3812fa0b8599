import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'

test('docs: the help pages and the tables of the README are those of the program', () => {
  const { status, stderr } = spawnSync(process.execPath, ['scripts/docs.js', '--check'], {
    encoding: 'utf8',
  })
  expect(stderr).toBe('')
  expect(status).toBe(0)
})

test('docs: every link to a file of the project leads somewhere', () => {
  const pages = ['README.md', 'SECURITY.md', 'CONTRIBUTING.md', 'docs/one-run.md']
  for (const page of pages) {
    const links = readFileSync(page, 'utf8').matchAll(/\]\((?!https?:)([^)#]+)\)/g)
    for (const [, link] of links)
      expect([page, link, existsSync(join(dirname(page), link!))]).toEqual([page, link, true])
  }
})

test('SECURITY.md: every promise names a test that there is', () => {
  const page = readFileSync('SECURITY.md', 'utf8')
  const promises = page.split('\n').filter((line) => /^\| (?!Promise|---)/.test(line))
  expect(promises.length).toBeGreaterThan(25)
  for (const line of promises) {
    const paths = line.match(/test\/[\w./-]+/g) ?? []
    expect([line, paths.length > 0 && paths.every((path) => existsSync(path))]).toEqual([
      line,
      true,
    ])
  }
})
