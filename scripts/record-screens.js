/**
 * Draws docs/images/guided.svg and doctor.svg: the last screens of the guided setup and of `repoint doctor`,
 * recorded on a real terminal against `repoint serve`. Run it after a change of these screens.
 *
 *   npm run record
 */
import { spawn as spawnProcess } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { spawn } from '@lydell/node-pty'
import { drawScreen } from './record/draw.js'
import { Screen } from './record/screen.js'

const program = resolve('bin/repoint.js')
const columns = 88
const rows = 40
const key = 'sk-demo-8c1f5a7e3b9d2046'

const home = mkdtempSync(join(tmpdir(), 'repoint-record-'))
const server = await startServer()
try {
  // Programs that tell a version, the newest that was run, and answer the try after a setup.
  for (const name of ['codex', 'claude']) {
    const { rows } = JSON.parse(readFileSync(`src/clients/${name}/tested.json`, 'utf8'))
    const answer = `[ "$1" = --version ] && echo ${rows.at(-1).version} || echo pong`
    put(`bin/${name}`, `#!/bin/sh\n${answer}\n`, 0o755)
  }
  put('.codex/config.toml', '# My settings\nmodel = "gpt-5.4"  # the cheap one\n')
  mkdirSync('docs/images', { recursive: true })

  await record(
    'guided',
    [],
    [
      ['Gateway address', server.url],
      [`❯ ${server.url}`, '\r'],
      ['API key', `${key}\r`],
      ['Which clients', '\r'],
      ['Apply', 'y\r'],
    ],
  )
  // What somebody changes by hand, and a variable that wins.
  put(
    '.claude/settings.json',
    readFileSync(join(home, '.claude/settings.json'), 'utf8').replace('sonnet', 'opus'),
  )
  await record('doctor', ['doctor'], [], { ANTHROPIC_MODEL: 'old-model' })
} finally {
  server.child.kill()
  rmSync(home, { recursive: true })
}

function put(name, text, mode) {
  mkdirSync(dirname(join(home, name)), { recursive: true })
  writeFileSync(join(home, name), text)
  if (mode !== undefined) chmodSync(join(home, name), mode)
}

/** Draws the last screen of a command into docs/images. */
async function record(name, args, answers, env = {}) {
  const screen = new Screen(columns, rows)
  const words = ['repoint', ...args].join(' ')
  screen.write(`\x1b[1m$\x1b[0m ${words}\r\n`)
  await answer(args, screen, answers, env)
  if (screen.text().includes(key)) throw new Error('The key is on the screen.')
  writeFileSync(`docs/images/${name}.svg`, drawScreen(screen, words))
}

async function startServer() {
  const models = ['--models', 'test/fixtures/gateway/catalog.json']
  const args = [program, 'serve', '--json', '--port', '8787', ...models]
  const child = spawnProcess(process.execPath, args, {
    env: { PATH: process.env.PATH, HOME: home, REPOINT_API_KEY: key },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const line = await new Promise((settle, fail) => {
    child.stdout.once('data', (data) => settle(String(data)))
    child.once('exit', (status) => fail(new Error(`repoint serve ended with ${status}`)))
  })
  return { child, url: JSON.parse(line).url }
}

/** Runs the program on a terminal and types each text when the screen shows the one before it. */
function answer(args, screen, answers, env) {
  const terminal = spawn(process.execPath, [program, ...args], {
    cols: columns,
    rows,
    cwd: home,
    env: {
      PATH: `${join(home, 'bin')}:/usr/bin:/bin`,
      HOME: home,
      TERM: 'xterm-256color',
      LANG: 'C.UTF-8',
      ...env,
    },
  })
  const waiting = [...answers]
  terminal.onData((data) => {
    screen.write(data)
    const [question, typed] = waiting[0] ?? []
    if (question === undefined || !screen.text().includes(question)) return
    waiting.shift()
    terminal.write(typed)
  })
  return new Promise((settle) => terminal.onExit(({ exitCode }) => settle(exitCode)))
}
