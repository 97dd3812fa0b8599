/**
 * Records `repoint codex` on a real terminal against `repoint serve`, and draws its last screen:
 * docs/images/codex.svg.
 */
import { spawn as spawnProcess } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
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
  mkdirSync(join(home, '.codex'))
  writeFileSync(
    join(home, '.codex/config.toml'),
    '# My settings\nmodel = "gpt-5.4"  # the cheap one\napproval_policy = "on-request"\n',
  )
  const screen = new Screen(columns, rows)
  screen.write('\x1b[1m$\x1b[0m npx repoint codex\r\n')
  const status = await answer(['codex'], screen, [
    ['Base URL', `${server.url}/v1`],
    ['API key', key],
    ['Apply this?', 'y'],
  ])
  if (status !== 0) throw new Error(`repoint codex ended with ${status}:\n${screen.text()}`)
  if (screen.text().includes(key)) throw new Error('The key is on the screen.')
  mkdirSync('docs/images', { recursive: true })
  writeFileSync('docs/images/codex.svg', drawScreen(screen, 'repoint codex'))
} finally {
  server.child.kill()
  rmSync(home, { recursive: true })
}

async function startServer() {
  const child = spawnProcess(process.execPath, [program, 'serve', '--json', '--port', '8787'], {
    env: { PATH: process.env.PATH, HOME: home, REPOINT_API_KEY: key },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const line = await new Promise((settle, fail) => {
    child.stdout.once('data', (data) => settle(String(data)))
    child.once('exit', (status) => fail(new Error(`repoint serve ended with ${status}`)))
  })
  return { child, url: JSON.parse(line).url }
}

/** Runs the program on a terminal and types each answer when its question is shown. */
function answer(args, screen, answers) {
  const terminal = spawn(process.execPath, [program, ...args], {
    cols: columns,
    rows,
    cwd: home,
    env: { PATH: process.env.PATH, HOME: home, TERM: 'xterm-256color', LANG: 'C.UTF-8' },
  })
  const waiting = [...answers]
  terminal.onData((data) => {
    screen.write(data)
    const [question, typed] = waiting[0] ?? []
    if (question === undefined || !screen.text().includes(question)) return
    waiting.shift()
    terminal.write(`${typed}\r`)
  })
  return new Promise((settle) => terminal.onExit(({ exitCode }) => settle(exitCode)))
}
