import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { expect, onTestFinished, test } from 'vitest'
import { unifiedDiff } from '../../src/commands/demo.ts'
import { bytesOf, show } from '../edits/helpers.ts'
import { fc } from '../support/fast-check.ts'

const key = 'sk-secret-123456'

const diff = (before: string | null, after: string | null) =>
  unifiedDiff(
    'f',
    before === null ? null : bytesOf(before),
    after === null ? null : bytesOf(after),
    { key },
  )

test('unified diff: is empty for equal files', () => {
  expect(diff('a\n', 'a\n')).toEqual([])
  expect(diff(null, null)).toEqual([])
})

test('unified diff: has three lines of context, and separate hunks for distant changes', () => {
  const old = Array.from({ length: 20 }, (_, line) => `line ${line + 1}\n`)
  const fresh = old.with(1, 'two\n').with(4, 'five\n').with(18, 'nineteen\n')
  expect(diff(old.join(''), fresh.join(''))).toEqual([
    '--- f',
    '+++ f',
    '@@ -1,8 +1,8 @@',
    ' line 1',
    '-line 2',
    '+two',
    ' line 3',
    ' line 4',
    '-line 5',
    '+five',
    ' line 6',
    ' line 7',
    ' line 8',
    '@@ -16,5 +16,5 @@',
    ' line 16',
    ' line 17',
    ' line 18',
    '-line 19',
    '+nineteen',
    ' line 20',
  ])
})

test('unified diff: shows a created or deleted file, and a missing final line break', () => {
  expect(diff(null, 'a\nb')).toEqual([
    '--- /dev/null',
    '+++ f',
    '@@ -0,0 +1,2 @@',
    '+a',
    '+b',
    '\\ No newline at end of file',
  ])
  expect(diff('a\n', null)).toEqual(['--- f', '+++ /dev/null', '@@ -1,1 +0,0 @@', '-a'])
})

test('unified diff: shows a line that differs only in its line break or its secret', () => {
  expect(diff('a\r\n', 'a\n').slice(3)).toEqual(['-a', '+a'])
  expect(diff(`x: ${key}\n`, 'x: "sk-other-123456789"\n').slice(3)).toEqual([
    '-x: ....3456',
    '+x: "...."',
  ])
  expect(diff('"a_token": "0123"\n', '"a_token": "4567"\n').slice(3)).toEqual([
    '-"a_token": "...."',
    '+"a_token": "...."',
  ])
})

test('unified diff: patch(1) changes one file into the other with it', async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'repoint-diff-'))
  try {
    const probe = await execa('patch', ['--version'], { reject: false })
    if (probe.failed) return context.skip()
    const text = fc.array(fc.constantFrom('a\n', 'b\n', '\n', '  c\n'), {
      minLength: 1,
      maxLength: 20,
    })
    for (const [before, after] of fc.sample(fc.tuple(text, text), 10)) {
      const [old, fresh] = [before.join(''), after.join('').replace(/\n$/, '')]
      writeFileSync(join(folder, 'f'), old)
      const input = `${diff(old, fresh).join('\n')}\n`
      const { stdout } = await execa('patch', ['-s', '-o', '-', 'f'], {
        cwd: folder,
        input,
        stripFinalNewline: false,
      })
      expect(stdout).toBe(show(bytesOf(fresh)))
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('demo: an installed client answers one word in the temporary home, and reads nothing of the user', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'repoint-demo-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const script =
    'case "$*" in *ping*) echo "$HOME" > "$0.asked"; echo pong ;; *) echo 0.171.0 ;; esac'
  writeFileSync(join(folder, 'codex'), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  writeFileSync(join(folder, 'pgrep'), '#!/bin/sh\nexit 0\n', { mode: 0o755 })
  const { stdout } = await execa(process.execPath, ['bin/repoint.js', 'demo'], {
    env: { PATH: `${folder}:${process.env['PATH']}`, TMPDIR: folder, HOME: folder },
    extendEnv: false,
  })
  expect(stdout).toContain('Codex answers: pong')
  // No client that runs reads these files, and every hint is for the command of its heading.
  expect(stdout).not.toMatch(/Close every|CLIENT --/)
  expect(readFileSync(join(folder, 'codex.asked'), 'utf8')).toContain('repoint-demo-')
})
