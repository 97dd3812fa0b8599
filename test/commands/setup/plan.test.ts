import { expect, test } from 'vitest'
import { asPlanned } from '../../../src/clients/files/parse-file.ts'
import { mismatchIn } from '../../../src/commands/setup/plan.ts'
import type { GatewayAccess } from '../../../src/gateway/types.ts'
import { baseUrl, byId, key, planOn } from '../../client-modules/support.ts'

const claude = byId('claude')
const headers = [{ name: 'x-team', value: 'a' }]
const { files, edits, target } = planOn(claude, {}, { target: { headers } })
const access: GatewayAccess = {
  ...{ address: baseUrl, baseUrls: target.baseUrls, key, keyHeader: 'authorization' },
  ...{ headers, timeoutMs: 1, env: {} },
}

test.each<[string, Partial<GatewayAccess>, boolean]>([
  ['as planned', {}, false],
  ['without a header that the gateway does not need', { headers: [] }, false],
  ['with another key', { key: 'sk-canary-of-another-gateway' }, true],
  ['with the key in another header', { keyHeader: 'x-api-key' }, true],
  ['with another address', { baseUrls: { ...target.baseUrls, messages: 'https://x' } }, true],
  ['without a header', { headers: [...headers, { name: 'x-user', value: 'b' }] }, true],
  ['without a part of the query', { query: [{ name: 'version', value: '1' }] }, true],
])('the files of a setup, read %s', (_, changes, isMismatch) => {
  const mismatch = mismatchIn(claude, asPlanned(files, edits), { ...access, ...changes })
  expect(mismatch !== undefined).toBe(isMismatch)
})

test('a client that would send its key elsewhere too does not read its files as planned', () => {
  const planned = asPlanned(files, edits)
  const state = claude.read(planned)
  const endpoint = { ...state.endpoint, alsoSendsTo: 'https://old.example' }
  const read = () => ({ ...state, endpoint })
  expect(mismatchIn({ ...claude, read }, planned, access)).toBeDefined()
})
