import { Command } from '@commander-js/extra-typings'
import { describe, expect, test } from 'vitest'
import { type RunWords, readWords, command as run } from '../../../src/commands/run.ts'
import type { Session } from '../../../src/commands/screen/session.ts'

function wordsOf(line: string): RunWords {
  const read: RunWords[] = []
  const command = run({} as Session, () => {})
  command.action(() => {
    read.push(readWords(command))
  })
  new Command()
    .enablePositionalOptions()
    .addCommand(command)
    .parse(['run', ...line.split(' ').filter(Boolean)], { from: 'user' })
  return read[0]!
}

describe('the words of `repoint run`', () => {
  test.each([
    ['work -- codex exec', 'work', 'codex exec'],
    ['work codex exec --model m', 'work', 'codex exec --model m'],
    ['work --model gpt-5.4 -- codex', 'work', 'codex'],
    ['--no-verify work --model gpt-5.4 codex', 'work', 'codex'],
    ['work', 'work', ''],
    ['-- codex exec', undefined, 'codex exec'],
    ['--base-url https://gw.example -- codex exec', undefined, 'codex exec'],
    ['--base-url https://gw.example', undefined, ''],
    ['', undefined, ''],
  ])('%s', (line, name, program) => {
    expect(wordsOf(line)).toEqual({ name, program: program.split(' ').filter(Boolean) })
  })
})
