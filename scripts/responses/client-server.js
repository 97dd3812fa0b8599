/**
 * Clients that can run as a server, which answers many prompts. Each start of opencode takes 7 s of processor
 * time and one of OpenClaw 23 s (2026-11-26). A server sends the same requests as a process for one prompt.
 */
import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { endGroup } from './process.js'

/**
 * @typedef {object} Server
 * @property {(port: number) => string[]} words that start it
 * @property {(home: string) => void} [prepare] changes its settings
 * @property {(prompt: string, url: string, signal: AbortSignal) => Promise<Result>} ask
 *
 * @typedef {object} Result as of a process: its exit status and what it prints
 * @property {number} status
 * @property {string} stdout
 * @property {string} stderr
 */

/** opencode and Kilo: a new session for each prompt. */
const sessions = {
  words: (port) => ['serve', '--port', String(port)],
  async ask(prompt, url, signal) {
    const { id } = await post(`${url}/session`, {}, signal)
    try {
      const parts = [{ type: 'text', text: prompt }]
      const { info, ...others } = await post(`${url}/session/${id}/message`, { parts }, signal)
      const error = info === undefined ? others : info.error
      const texts = (others.parts ?? []).filter(({ type }) => type === 'text')
      return valueOrError(texts.map(({ text }) => text).join('\n'), error)
    } finally {
      await post(`${url}/session/${id}/abort`, {}).catch(() => {})
    }
  },
}

/** OpenClaw: its chat endpoint starts the same agent as `openclaw agent` (docs/gateway/openai-http-api.md). */
const chatEndpoint = {
  words: (port) => ['gateway', 'run', '--bind', 'loopback', '--port', String(port)],
  prepare(home) {
    const file = join(home, '.openclaw/openclaw.json')
    const gateway = {
      mode: 'local',
      auth: { mode: 'none' },
      http: { endpoints: { chatCompletions: { enabled: true } } },
    }
    writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), gateway }))
  },
  async ask(prompt, url, signal) {
    const messages = [{ role: 'user', content: prompt }]
    const body = { model: 'openclaw', messages }
    const { choices, error } = await post(`${url}/v1/chat/completions`, body, signal)
    return valueOrError(choices?.[0].message.content ?? '', error)
  },
}

/** @type {Record<string, Server>} */
const servers = { opencode: sessions, kilo: sessions, openclaw: chatEndpoint }

export function hasServer(client) {
  return client in servers
}

/**
 * @param program how to start the client
 * @returns `ask`, which sends a prompt as a process would, and `close`
 */
export async function startServer(client, [program, ...args], { home, cwd, env }) {
  const { words, prepare, ask } = servers[client]
  prepare?.(home)
  const port = await freePort()
  const options = { cwd, env, stdio: 'ignore', detached: true }
  const child = spawn(program, [...args, ...words(port)], options)
  let isRunning = true
  child.on('close', () => (isRunning = false))
  const url = `http://127.0.0.1:${port}`
  while (!(await listens(port))) {
    if (!isRunning) throw new Error(`${client} does not run as a server`)
    await pause(500)
  }

  return {
    async ask(prompt, { isEnough, timeoutMs }) {
      const stopped = new AbortController()
      let ended = 'itself'
      const stop = (why) => {
        ended = why
        stopped.abort()
      }
      const timer = setTimeout(() => stop('time'), timeoutMs)
      const watch = setInterval(() => isEnough() && stop('requests'), 200)
      try {
        return { ended, ...(await ask(prompt, url, stopped.signal)) }
      } catch (error) {
        return { ended, status: null, stdout: '', stderr: String(error) }
      } finally {
        clearTimeout(timer)
        clearInterval(watch)
      }
    },
    close: () => endGroup(child.pid),
  }
}

function valueOrError(stdout, error) {
  return error === undefined
    ? { status: 0, stdout, stderr: '' }
    : { status: 1, stdout, stderr: JSON.stringify(error) }
}

async function post(url, body, signal) {
  const headers = { 'content-type': 'application/json' }
  const init = { method: 'POST', headers, body: JSON.stringify(body), signal }
  const response = await fetch(url, init)
  return response.json()
}

/** A request would not do: opencode passes those for its pages on, and waits offline. */
function listens(port) {
  return new Promise((found) => {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => found(false))
    socket.on('connect', () => {
      socket.destroy()
      found(true)
    })
  })
}

function freePort() {
  return new Promise((found) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => found(port))
    })
  })
}
