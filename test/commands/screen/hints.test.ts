import { describe, expect, test } from 'vitest'
import { completeHint, type TypedCommand } from '../../../src/commands/screen/hints.ts'

const flags = ['--base-url', '--model', '--key-env', '--yes', '--header', '--ca-file']

function typed(line: string, more: Partial<TypedCommand> = {}): TypedCommand {
  return { args: line.split(' '), flags, startsProgram: false, ...more }
}

const saved = {
  name: 'work',
  address: 'https://gw.example',
  key: 'sk-canary-hints-1',
  keyHeader: 'authorization',
} as const

describe('a hint is a whole command if its value is known', () => {
  test.each([
    [
      'Use https: {--base-url https://b}',
      'codex --yes',
      'repoint codex --yes --base-url https://b',
    ],
    ['{--model b}', 'codex --model a --yes', 'repoint codex --yes --model b'],
    ['{--model b}', 'codex --model=a --yes', 'repoint codex --yes --model b'],
    ['{--model b|c}', 'use work', 'repoint use work --model b, or --model c'],
    ['{--yes}', 'codex', 'repoint codex --yes'],
    [
      '{--base-url http://b} --allow-http',
      'codex',
      'repoint codex --base-url http://b --allow-http',
    ],
  ])('%s after "%s"', (hint, line, command) => {
    expect(completeHint(hint, typed(line))).toContain(command)
  })

  test('what a shell would change is quoted', () => {
    const args = ['codex', '--header', "x-team: $TEAM's"]
    expect(completeHint('{--model b}', typed('', { args }))).toBe(
      `repoint codex --header 'x-team: $TEAM'\\''s' --model b`,
    )
  })

  test('it replaces an address that was typed without a flag', () => {
    const check = typed('check gw.example --json', { address: 'gw.example' })
    expect(completeHint('{--base-url https://b}', check)).toBe(
      'repoint check --json --base-url https://b',
    )
  })
})

describe('a hint is only the flag if the user must fill in the rest', () => {
  test.each([
    ['Name another: {--model ID}', 'Name another: --model ID'],
    ["Add {--header 'x-team: VALUE'}", "Add --header 'x-team: VALUE'"],
  ])('%s', (hint, shown) => {
    expect(completeHint(hint, typed('codex'))).toBe(shown)
  })

  test('or another program follows', () => {
    const run = typed('run --base-url https://a', { startsProgram: true })
    expect(completeHint('{--model b}', run)).toBe('--model b')
  })
})

describe('a hint never names a flag that the command lacks', () => {
  const doctor = typed('doctor', { flags: ['--fix'] })

  test('it is a setup of the client', () => {
    expect(completeHint('{--model b|c}', doctor, { client: 'codex' })).toBe(
      'repoint codex --model b, or --model c',
    )
    expect(completeHint('{--model b}', doctor)).toBe('repoint CLIENT --model b')
  })

  test('it saves the gateway again', () => {
    const use = typed('use work')
    const shown = (hint: string) => completeHint(hint, use, { saved })
    expect(shown('{--base-url URL}')).toBe('repoint gateways add URL')
    expect(shown('{--ca-file PATH}')).toBe(
      'repoint gateways add https://gw.example --name work --ca-file PATH',
    )
    expect(shown('Copy a key, then {key}.')).toBe(
      'Copy a key, then save it: repoint gateways add https://gw.example --name work.',
    )
    expect(completeHint('Copy a key, then {key}.', use)).toBe(
      'Copy a key, then run the command again with it.',
    )
  })
})
