import { expect, test } from 'vitest'
import { errorCodes } from '../src/error-codes.ts'
import { renderError, UserError } from '../src/errors.ts'
import { printable } from '../src/text.ts'

const plain = {
  json: false,
  redact: (text: string) => text,
  filesState: 'unchanged',
  undoCommand: 'repoint rollback',
  command: 'codex',
} as const

test('an error names the problem, the state of the files and the next step', () => {
  const error = new UserError({
    code: 'config-invalid',
    message: 'Cannot read ~/.codex/config.toml: "model" is set twice (line 14, column 1)',
    hint: 'Delete one of the two lines, then run `repoint codex` again.',
  })
  expect(renderError(error, plain)).toEqual({
    exitStatus: 8,
    text: `error: Cannot read ~/.codex/config.toml: "model" is set twice (line 14, column 1). Nothing changed.
hint:  Delete one of the two lines, then run \`repoint codex\` again.
`,
  })
})

test('a changed copy of an error keeps everything else', () => {
  const members = {
    code: 'usage',
    message: 'Wrong address',
    hint: 'Pass another: --base-url URL',
    hintAtPrompt: 'Type another.',
    filesState: 'pending',
    cause: new Error('why'),
  } as const
  expect(new UserError(members).with({ message: 'Other' })).toMatchObject({
    ...members,
    message: 'Other',
  })
  expect(new UserError(members).with({ hint: 'Ask.' })).toMatchObject({
    ...members,
    hint: 'Ask.',
    hintAtPrompt: 'Ask.',
  })
})

test('the JSON form is one document with the documented keys', () => {
  const error = new UserError({ code: 'locked', message: 'Another run is at work' })
  const { text } = renderError(error, { ...plain, json: true })
  expect(JSON.parse(text)).toEqual({
    command: 'codex',
    changed: false,
    error: { code: 'locked', message: 'Another run is at work', filesChanged: false },
  })
})

test.each([
  ['changed', true, true],
  ['pending', 'pending', false],
  ['unknown', 'unknown', true],
] as const)('an error reports files that are %s', (filesState, filesChanged, changed) => {
  const error = new UserError({ code: 'disk-full', message: 'No space', filesState })
  expect(JSON.parse(renderError(error, { ...plain, json: true }).text)).toMatchObject({
    changed,
    error: { filesChanged },
  })
  expect(renderError(error, plain).text).not.toContain('Nothing changed')
})

test('an error without a state of the files reports the state that the command left', () => {
  const after = { ...plain, filesState: 'changed' } as const
  const changed = 'The files were changed. Undo: repoint rollback'
  expect(renderError(new UserError({ code: 'cancelled', message: 'Cancelled' }), after).text).toBe(
    `error: Cancelled. ${changed}\n`,
  )
  expect(renderError(new TypeError('boom'), after).text).toContain(changed)
  const pending = new UserError({ code: 'disk-full', message: 'No space', filesState: 'pending' })
  expect(renderError(pending, after).text).toContain('not finished')
  const forward = { ...after, undoCommand: 'repoint rollback --redo' }
  expect(renderError(new TypeError('boom'), forward).text).toContain('repoint rollback --redo')
})

test('an error that is not a UserError is a bug: status 1, with the redacted stack', () => {
  const { text, exitStatus: status } = renderError(new TypeError('boom sk-secret'), {
    ...plain,
    redact: (text) => text.replaceAll('sk-secret', '....'),
  })
  expect(status).toBe(1)
  expect(text).toContain('bug in repoint')
  expect(text).toContain('TypeError: boom ....')
  expect(text).toContain('errors.test.ts')
  expect(text).not.toContain('sk-secret')
})

test('text from outside cannot move the cursor, change colours or reorder text', () => {
  expect(printable('a\x1b[31mb\x1b]0;title\x07c\rd\u202ee\u0000f\x9b1mg\nh')).toBe('abcdefg\nh')
})

test('every code has one of the documented statuses', () => {
  expect(
    [...new Set(Object.values(errorCodes).map(({ exitStatus }) => exitStatus))].sort(
      (a, b) => a - b,
    ),
  ).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 130])
})
