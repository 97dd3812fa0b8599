import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { runCorpus } from './corpus.ts'

const corpus = fileURLToPath(new URL('../fixtures/corpus', import.meta.url))

test('corpus: every realistic configuration is edited exactly, or refused with its reason', () => {
  expect(runCorpus(corpus)).toEqual({
    isClean: true,
    lines: [
      'claude: 19 files, 18 exact, 18 with every untouched line kept, 18 undone to the byte, 1 refused, 0 wrong',
      '  refused  claude/19-env-null.json: Cannot edit it: env is null, not an object (line 2, column 10)',
      'codex: 20 files, 20 exact, 20 with every untouched line kept, 20 undone to the byte, 0 refused, 0 wrong',
      'openclaw: 4 files, 3 exact, 3 with every untouched line kept, 3 undone to the byte, 1 refused, 0 wrong',
      '  refused  openclaw/09-agents-is-text.json5: Cannot edit it: agents is a string, not an object (line 2, column 11)',
      'opencode: 15 files, 14 exact, 14 with every untouched line kept, 14 undone to the byte, 1 refused, 0 wrong',
      '  refused  opencode/15-provider-is-a-list.json: Cannot edit it: provider is a list, not an object (line 2, column 15)',
    ],
  })
})

test('corpus: a broken file counts as refused, a folder without configurations as a failure', () => {
  const folder = mkdtempSync(join(tmpdir(), 'repoint-corpus-test-'))
  try {
    expect(runCorpus(folder).isClean).toBe(false)
    writeFileSync(join(folder, 'config.toml'), 'model = \n')
    expect(runCorpus(folder)).toEqual({
      isClean: true,
      lines: [
        'codex: 1 files, 0 exact, 0 with every untouched line kept, 0 undone to the byte, 1 refused, 0 wrong',
        '  refused  config.toml: Cannot read it: invalid value (line 1, column 9)',
      ],
    })
  } finally {
    rmSync(folder, { recursive: true })
  }
})

// REPOINT_CORPUS=FOLDER npx vitest run --project unit test/edits/corpus.test.ts
test.runIf(process.env['REPOINT_CORPUS'])('corpus: every file of the folder REPOINT_CORPUS', () => {
  const { isClean, lines } = runCorpus(process.env['REPOINT_CORPUS']!)
  expect(isClean, lines.join('\n')).toBe(true)
})
