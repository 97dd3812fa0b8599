import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'

const path = `${process.env['PATH']}:/usr/sbin`

/** A free port of loopback. In theory another process could take it before the daemon does. */
export async function freePort(): Promise<number> {
  const server = net.createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as net.AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** Starts Debian's nginx with these `server` blocks in a temporary folder, until the test ends. */
export async function startNginx(
  servers: string,
  files: Readonly<Record<string, string>>,
  port: number,
): Promise<void> {
  const folder = aFolder({ 'site/index.html': '<!doctype html><title>Welcome</title>', ...files })
  writeFileSync(
    join(folder, 'nginx.conf'),
    `daemon off;
pid nginx.pid;
error_log error.log;
worker_processes 1;
${process.getuid?.() === 0 ? 'user root;' : ''}
events { worker_connections 64; }
http {
  access_log off;
  default_type text/plain;
  types { text/html html; }
  client_body_temp_path tmp/body;
  proxy_temp_path tmp/proxy;
  fastcgi_temp_path tmp/fastcgi;
  uwsgi_temp_path tmp/uwsgi;
  scgi_temp_path tmp/scgi;
  limit_req_zone $server_port zone=slow:1m rate=1r/m;
  root ${folder}/site;
  ${servers}
}
`,
  )
  await startDaemon('nginx', ['-p', folder, '-c', join(folder, 'nginx.conf')], port)
}

/**
 * Starts Debian's tinyproxy with these additional lines, until the test ends. Only tinyproxy resolves gw.test to
 * this machine, because repoint uses no proxy for loopback addresses.
 */
export async function startTinyproxy(lines: string): Promise<number> {
  const port = await freePort()
  const folder = aFolder({
    hosts: '127.0.0.1 localhost gw.test\n',
    'tinyproxy.conf': `Port ${port}\nListen 127.0.0.1\nTimeout 20\nMaxClients 20\nLogLevel Critical\n${lines}\n`,
  })
  const script = `cd ${folder}; mount --bind hosts /etc/hosts; exec tinyproxy -d -c tinyproxy.conf`
  await startDaemon('unshare', ['--map-root-user', '--mount', 'sh', '-ec', script], port)
  return port
}

function aFolder(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'repoint-network-'))
  mkdirSync(join(folder, 'tmp'))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

async function startDaemon(command: string, args: readonly string[], port: number): Promise<void> {
  const child = spawn(command, args, { env: { PATH: path }, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text))
  let end: string | undefined
  child.on('error', (error) => (end = error.message))
  child.on('exit', (status) => (end = `it ended with status ${status}`))
  onTestFinished(
    () =>
      new Promise<void>((resolve) => {
        if (end !== undefined) return resolve()
        child.on('exit', () => resolve())
        // SIGTERM lets nginx stop its workers. tinyproxy would wait for open connections.
        child.kill(command === 'nginx' ? 'SIGTERM' : 'SIGKILL')
      }),
  )
  for (let tries = 0; tries < 200; tries++) {
    if (end !== undefined) throw new Error(`${command} did not start: ${end}\n${output}`)
    if (await answers(port)) return
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
  throw new Error(`${command} does not listen on ${port}\n${output}`)
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1')
    socket.on('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.on('error', () => resolve(false))
  })
}
