import { expect, test } from 'vitest'
import { readableFiles, senderOf } from '../../../src/commands/prove/first-requests.ts'
import type { Session } from '../../../src/commands/screen/session.ts'
import { aMachine, byId, filesOf } from '../../client-modules/support.ts'
import { aHome } from '../../support/home.ts'
import { session } from '../setup/session.ts'

test('a request has the headers that the user added in the files, and hides the secret ones', async () => {
  const hidden: string[] = []
  const client = byId('codex')
  const config = `
model_provider = "gw"
[model_providers.gw]
name = "GW"
base_url = "https://gw.example/v1"
http_headers = { "X-Team" = "red-7", "X-Proxy-Token" = "s3cret-0123" }
`
  const files = filesOf(client, aMachine(), { '.codex/config.toml': config })
  const recorder = {
    ...session,
    hide: (secret: string) => hidden.push(secret),
  } as unknown as Session
  const probed = { model: 'gpt-5.6-sol', protocol: 'responses' } as const
  const { headers } = await senderOf(recorder, client, { files }, probed)
  expect(headers).toMatchObject({ 'x-team': 'red-7', 'x-proxy-token': 's3cret-0123' })
  expect(hidden).toEqual(['s3cret-0123'])
})

test('files that repoint cannot read count as absent', () => {
  const home = aHome({ '.codex/config.toml/a-folder': '' })
  const platform = { ...session.platform, machine: aMachine({ home: home.path }) }
  const files = readableFiles({ ...session, platform } as unknown as Session, byId('codex'))
  expect(files.map(({ path, bytes }) => [path, bytes])).toContainEqual([
    home.at('.codex/config.toml'),
    null,
  ])
})
