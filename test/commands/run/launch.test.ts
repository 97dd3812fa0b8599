import { expect, test } from 'vitest'
import type { Client } from '../../../src/clients/contract/client.ts'
import { type LaunchRequest, pointProgram } from '../../../src/commands/run/launch.ts'
import type { Session } from '../../../src/commands/screen/session.ts'
import { byId } from '../../client-modules/support.ts'

test('run refuses a client that cannot use a gateway for one process, before it asks anything', async () => {
  const client: Client = { ...byId('codex'), launchSettings: 'impossible' }
  const request = { process: { args: [], env: {} } } as unknown as LaunchRequest
  await expect(pointProgram({} as Session, [client], request)).rejects.toMatchObject({
    code: 'usage',
    message: 'Codex cannot use a gateway for one process only',
    hint: 'Set it up instead: repoint codex',
  })
})
