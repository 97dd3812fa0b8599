import http from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { startGateway } from '../../src/serve/index.ts'
import { aServer } from '../gateway/forged.ts'
import { runCli } from '../support/cli.ts'
import { aHome } from '../support/home.ts'
import { installedClient } from './support/install.ts'

/**
 * A gateway that accepts only certain clients. It reads the whole user agent, in which repoint's probe names
 * itself, so that only the installed client can check the setup.
 */

const key = 'sk-asked-1b7f3d9c5e2a8046'
const note = 'canary-note-of-the-user'

const refusal = JSON.stringify({
  error: { message: 'This plan is currently only available for Coding Agents such as Codex.' },
})

test.each([
  {
    client: 'codex',
    file: '.codex/config.toml',
    before: '# mine\nmodel = "o3"\n',
    instructions: '.codex/AGENTS.md',
  },
  {
    client: 'claude',
    file: '.claude/settings.json',
    before: '{ "theme": "dark" }\n',
    instructions: '.claude/CLAUDE.md',
  },
])(
  '$client checks the setup in a temporary home, before anything is written',
  async ({ client, file, before, instructions }) => {
    const gateway = await startGateway({ families: 'rewritten', key })
    onTestFinished(() => gateway.close())
    const home = aHome({ [file]: before, [instructions]: note, 'project/README.md': note })
    const start = installedClient(client)
    const quoted = start.map((word) => `'${word}'`).join(' ')
    home.put(`bin/${client}`, `#!/bin/sh\nexec ${quoted} "$@"\n`, 0o755)

    const admitted: { readonly body: string; readonly fileThen: string }[] = []
    const front = await aServer((request, response) => {
      const { method, url: path, headers, body } = request
      const isInference = method === 'POST' && !path.includes('count_tokens')
      if (isInference && /repoint/.test(headers['user-agent'] ?? '')) {
        response.writeHead(403, { 'content-type': 'application/json' }).end(refusal)
        return
      }
      if (isInference) admitted.push({ body, fileThen: home.text(file) })
      const { host, port } = new URL(gateway.url)
      const onward = http.request(
        { port, method, path, headers: { ...headers, host } },
        (answer) => {
          response.writeHead(answer.statusCode!, answer.headers)
          answer.pipe(response)
        },
      )
      onward.end(body)
    })

    const result = await runCli(home, [client, '--yes', '--json'], {
      env: {
        REPOINT_API_KEY: key,
        REPOINT_BASE_URL: `http://127.0.0.1:${front.port}`,
        PATH: `${home.at('bin')}:${process.env['PATH']}`,
      },
      cwd: home.at('project'),
      timeoutMs: 150_000,
    })
    expect(result.json, result.stdout + result.stderr).toMatchObject({
      changed: true,
      warnings: expect.arrayContaining([expect.objectContaining({ code: 'proven-by-client' })]),
    })
    expect(admitted.length).toBeGreaterThan(0)
    for (const { body, fileThen } of admitted) {
      expect(fileThen).toBe(before)
      expect(body).toContain('.try-')
      expect(body).not.toContain(note)
      expect(body).not.toContain(key)
    }
    expect(home.text(file)).toContain(`http://127.0.0.1:${front.port}`)
    expect(home.everything().filter((path) => path.includes('.try-'))).toEqual([])
  },
)
