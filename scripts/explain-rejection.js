/**
 * Explains how repoint judges a rejection: the rows that match it, the text that they match, and the outcome.
 *
 *   node scripts/explain-rejection.js chat 401 'Incorrect API key provided'
 *   node scripts/explain-rejection.js messages 400 '{"error": {"code": "model_not_found"}}'
 *
 * The request asked for the model gpt-5.6-sol. The base URL and the key are right.
 */
import { importSource } from './import-source.js'

const [protocol, statusText, words] = process.argv.slice(2)
if (!['chat', 'responses', 'messages'].includes(protocol) || !(statusText >= 400) || !words) {
  console.error("Usage: node scripts/explain-rejection.js PROTOCOL STATUS 'WORDS OR BODY'")
  process.exit(2)
}

const { causesOf, matchingRows, readErrorBody, diagnose } = await importSource(`
  export { causesOf, matchingRows } from './src/gateway/judge/causes/find-causes.ts'
  export { readErrorBody } from './src/gateway/judge/error-body.ts'
  export { diagnose } from './src/gateway/judge/diagnose.ts'
`)

const model = 'gpt-5.6-sol'
const address = 'https://gateway.example'
const status = Number(statusText)
const response = {
  url: `${address}/v1`,
  status,
  headers: {},
  body: /^[{<]/.test(words) ? words : JSON.stringify({ error: { message: words } }),
}
const error = readErrorBody(response)

for (const { cause, codes = [], words: pattern, source } of matchingRows(error, status, model)) {
  const code = error.codes.find(({ name }) => codes.includes(name))?.name
  const match = code ?? pattern?.exec(error.words)?.[0] ?? 'a code, read as words'
  console.log(`row      ${cause}: "${match}" (${source ?? 'a code that many failures share'})`)
}
console.log(`causes   ${causesOf(error, status, model).join(', ') || 'none: the status decides'}`)

const request = { route: protocol, address, model, secrets: [], apiAnswered: 'catalog' }
const outcome = diagnose(response, request)
console.log(`outcome  ${outcome.code}: ${outcome.message}`)
console.log(`hint     ${outcome.hint}`)
