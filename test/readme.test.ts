import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'

test('README.md: its help pages and its exit table are those of the program', () => {
  const { status, stderr } = spawnSync(process.execPath, ['scripts/readme.js', '--check'], {
    encoding: 'utf8',
  })
  expect(stderr).toBe('')
  expect(status).toBe(0)
})
