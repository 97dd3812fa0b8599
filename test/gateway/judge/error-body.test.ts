import { expect, test } from 'vitest'
import { type ErrorBody, readErrorBody } from '../../../src/gateway/judge/error-body.ts'

const html = 'text/html; charset=utf-8'

const read = (body: string | object, type = ''): ErrorBody =>
  readErrorBody({
    headers: type === '' ? {} : { 'content-type': type },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })

test.each<[string, string, ErrorBody['kind']]>([
  ['', '', 'empty'],
  [' \n\ufeff', '', 'empty'],
  ['\ufeff{"error":"x"}', '', 'json'],
  ['nothing to see', '', 'text'],
  ['nothing to see', html, 'page'],
  ['nothing to see', 'application/xhtml+xml', 'page'],
  ['  {"error":"x"}', html, 'json'],
  ['[{"error":"x"}]', html, 'json'],
  ['"error"', html, 'page'],
  ['{"error":', html, 'page'],
  ['x {"error":"x"}', html, 'page'],
  ['<!doctype html>', '', 'page'],
  ['<HTML lang="en">', '', 'page'],
  ['<?xml version="1.0"?>\n <html>', '', 'page'],
  ['<!-- a -->\n <!-- b -->  <h1>', '', 'page'],
  ['text <html>', '', 'text'],
  ['<htmlx>', '', 'text'],
  [`<!--${' '.repeat(3_000)}--><html>`, '', 'text'],
])('error body: %j as %j is %s', (body, type, kind) => {
  expect(read(body, type).kind).toBe(kind)
})

test.each([
  ['<title lang="en">Bad &amp; good&nbsp;&#8230;</title>', 'Bad & good  '],
  ['<h1 class="x">Not <b class="y">here</b></h1>', 'Not  here '],
  [`${' '.repeat(30_000)}<title>far</title>`, 'far'],
  [`<p>${' '.repeat(30_000)}<title>far</title>`, ''],
])('error body: the message of a page is its title', (body, words) => {
  expect(read(body, html).words).toBe(words)
})

test.each<[object, boolean]>([
  [{ error: 'x' }, true],
  [{ errors: [{ message: 'x' }] }, true],
  [{ detail: { loc: 1 } }, true],
  [{ error: null, data: [] }, false],
  [{ success: false, data: 1 }, true],
  [{ success: true, data: 1 }, false],
  [{ object: 'error', data: 1 }, true],
  [{ object: 'list', data: 1 }, false],
  [{ message: 'x' }, true],
  [{ message: 'x', data: 1 }, false],
  [{ id: 1 }, false],
  [[], false],
])('error body: %j is an error of an API: %s', (body, expected) => {
  expect(read(body).isApiError).toBe(expected)
})

test.each<[object, number | undefined]>([
  [{ error: { code: 400 } }, 400],
  [{ error: { code: '599' } }, 599],
  [{ error: { code: 399 } }, undefined],
  [{ error: { code: 600 } }, undefined],
  [{ error: { code: 429.5 } }, undefined],
  [{ error: { message: 'x', status_code: 503 } }, 503],
  [{ error: { message: 'x', statusCode: '502' } }, 502],
  [{ error: { message: 'x', statusCode: null } }, undefined],
  [{ error: { code: '' } }, undefined],
])('error body: the status in %j is %s', (body, status) => {
  expect(read(body).status).toBe(status)
})

test('error body: unpacks an error that another gateway passed on as an object, a list or a text', () => {
  const inner = { message: 'the cause', type: 'Quota', code: '' }
  const wrapped = [
    { error: inner },
    { errors: [inner] },
    { error: { message: JSON.stringify(inner) } },
    { detail: { error: { message: inner } } },
  ]
  for (const body of wrapped) {
    expect(read(body)).toMatchObject({ words: 'the cause', codes: [{ name: 'quota' }] })
  }
  expect(read({ error: { message: '{broken' } }).words).toBe('{broken')
  expect(read({ error: null, message: 'x' }).words).toBe('x')
  expect(read({ error: { message: 'ends with {' } }).words).toBe('ends with {')
})

test('error body: reads five layers and no more', () => {
  const nested = (depth: number): object =>
    depth === 0 ? { code: 'deep' } : { error: nested(depth - 1) }
  expect(read(nested(4)).codes.map(({ name }) => name)).toEqual(['deep'])
  expect(read(nested(5)).codes.map(({ name }) => name)).toEqual([])
})

test('error body: knows the parameter, and Google’s reasons', () => {
  expect(read({ error: { param: 'None' }, param: 'model' }).param).toBe('model')
  expect(read({ error: { param: 7 } }).param).toBe('')
  expect(
    read({ error: { details: [{ reason: 'API_KEY_INVALID' }, null, 1] } }).codes.map(
      ({ name }) => name,
    ),
  ).toEqual(['api_key_invalid'])
  expect(read({ error: { details: 'x' } }).codes.map(({ name }) => name)).toEqual([])
})

test('error body: cuts messages after 2,000 characters', () => {
  expect(read('x'.repeat(5_000)).words).toHaveLength(2_000)
  expect(read({ error: 'x'.repeat(5_000) }).words).toHaveLength(2_000)
})

test('error body: JSON that is no object has no message', () => {
  expect(read('7')).toMatchObject({ kind: 'json', isApiError: false, codes: [], words: '' })
})
