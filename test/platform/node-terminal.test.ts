import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { buildSync } from 'esbuild'
import { beforeAll, describe, expect, test } from 'vitest'
import { Home } from '../support/home.ts'

let program: string

beforeAll(() => {
  const home = new Home()
  program = home.at('program.cjs')
  buildSync({
    stdin: {
      contents: `import { nodeTerminal } from './src/platform/node-terminal.ts'
        const terminal = nodeTerminal()
        for (let line = 0; line < 3; line++) terminal.out('out ' + line + '\\n')
        terminal.err('err\\n')
        if (terminal.outFailure) terminal.err('lost: ' + terminal.outFailure + '\\n')`,
      resolveDir: process.cwd(),
      loader: 'ts',
    },
    outfile: program,
    bundle: true,
    platform: 'node',
    logLevel: 'error',
  })
  return () => home.remove()
})

/** Runs the program in a shell. @param redirections as a person types them @param before a command that the shell runs first */
function run(redirections: string, before = 'true') {
  const command = `${before}; "${process.execPath}" "${program}" ${redirections}`
  const result = spawnSync('bash', ['-c', `set -o pipefail; ${command}`], { encoding: 'utf8' })
  return { status: result.status, stdout: result.stdout, stderr: result.stderr }
}

const out = 'out 0\nout 1\nout 2\n'

describe.runIf(existsSync('/dev/full'))('output', () => {
  test('to a full device: the program goes on, and reports why output is lost', () => {
    expect(run('> /dev/full')).toEqual({ status: 0, stdout: '', stderr: 'err\nlost: ENOSPC\n' })
  })

  test('is not stopped by a full standard error', () => {
    expect(run('2> /dev/full')).toEqual({ status: 0, stdout: out, stderr: '' })
  })

  test('may be closed', () => {
    expect(run('> /dev/full 2> /dev/full')).toEqual({ status: 0, stdout: '', stderr: '' })
  })

  test.each([
    ['2>&-', { status: 0, stdout: out, stderr: '' }],
    ['>&-', { status: 0, stdout: '', stderr: 'err\n' }],
  ])('is not stopped by %s', (redirections, expected) => {
    expect(run(redirections)).toEqual(expected)
  })

  test('to a reader that has closed the pipe: the program goes on', () => {
    expect(run('>&4', 'exec 4> >(true); wait $!')).toMatchObject({
      status: 0,
      stderr: 'err\nlost: EPIPE\n',
    })
  })
})
