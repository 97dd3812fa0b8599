import { expect, test } from 'vitest'
import { clientRows, loadClients } from '../../src/clients/list.ts'
import { runCli } from '../support/cli.ts'
import { withGateway } from '../support/gateway.ts'
import { aHome } from '../support/home.ts'
import { installedClient } from './support/install.ts'

/** `--try-client` with the real clients, which it finds in PATH as for a user. */

const key = 'sk-real-clients-6035b2d8e91c4f7a'

const gateway = await withGateway({ key })

/**
 * test/clients/hostile-catalog.test.ts tries these in the same way, and they start slowly. Kilo has the same
 * code as opencode.
 */
const elsewhere = ['cline', 'kilo', 'openclaw', 'opencode', 'pi']

const newest = (await loadClients(clientRows.filter(({ id }) => !elsewhere.includes(id)))).map(
  ({ id, program }) => ({
    command: id,
    program: program.command,
    version: undefined,
  }),
)

test.concurrent.for([
  ...newest,
  // This version does not have --bare.
  { command: 'claude', program: 'claude', version: '2.1.54' },
])(
  '$command answers ping right after its setup',
  async ({ command, program, version }, { onTestFinished }) => {
    const home = aHome({}, onTestFinished)
    const start = installedClient(program, version)
    const quoted = start.map((word) => `'${word}'`).join(' ')
    home.put(`bin/${program}`, `#!/bin/sh\nexec ${quoted} "$@"\n`, 0o755)
    const result = await runCli(home, [command, '--yes', '--json', '--try-client'], {
      env: {
        REPOINT_API_KEY: key,
        REPOINT_BASE_URL: gateway.url,
        PATH: `${home.at('bin')}:${process.env['PATH']}`,
      },
      timeoutMs: 150_000,
    })
    expect(result.json, result.stdout + result.stderr).toMatchObject({
      changed: true,
      tried: [{ client: command, said: expect.stringContaining('pong') }],
    })
  },
)
