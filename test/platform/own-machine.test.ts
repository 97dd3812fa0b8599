import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { expect, test } from 'vitest'
import { clientRows } from '../../src/clients/list.ts'
import { aHome } from '../support/home.ts'

/** The tests see nothing of the user's machine: see test/support/own-machine.ts. */

test('PATH has no client', () => {
  const found = clientRows.flatMap(({ id: command }) => {
    const { error } = spawnSync(command, ['--version'], { timeout: 5_000 })
    return error === undefined ? [command] : []
  })
  expect(found).toEqual([])
})

test('the home has no file of a client', () => {
  const names = readdirSync(homedir(), { recursive: true, encoding: 'utf8' })
  expect(names.filter((name) => /codex|claude|opencode|kilo|qwen/.test(name))).toEqual([])
})

test('only variables of the tests are set', () => {
  const names = Object.keys(process.env).filter((name) =>
    /PROXY|ANTHROPIC|OPENAI|CODEX|CLAUDE|XDG|^LC_|COLOR|API_KEY|_BASE_URL/i.test(name),
  )
  expect(names).toEqual([])
  expect([process.env['LANG'], process.env['TERM'], new Date(0).getHours()]).toEqual([
    'C.UTF-8',
    'xterm-256color',
    0,
  ])
})

test('new files are readable by others, whatever the umask of the user', () => {
  const home = aHome()
  home.put('file', '')
  expect(home.snapshot()['file']).toMatch('file 644')
})
