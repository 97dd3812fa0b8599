import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

test('README.md: its help pages and its exit table are those of the program', () => {
  const { status, stderr } = spawnSync(process.execPath, ['scripts/readme.js', '--check'], {
    encoding: 'utf8',
  })
  expect(stderr).toBe('')
  expect(status).toBe(0)
})

test('README.md: every command has its help page once', () => {
  const pages = [...readFileSync('README.md', 'utf8').matchAll(/<code>repoint (\S+)<\/code>/g)]
  const names = pages.map(([, name]) => name)
  expect(names).toContain('completion')
  expect(names).not.toContain('repoint')
  expect(new Set(names).size).toBe(names.length)
})
