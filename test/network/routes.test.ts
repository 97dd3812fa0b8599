import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'

/** A network of its own for a shell script: nothing in it but loopback and what the script adds. */
const unshare = ['--map-root-user', '--net', '--mount', '--pid', '--fork', 'sh', '-ec']
const path = `${process.env['PATH']}:/usr/sbin:/sbin`

const canAdd = (device: string): boolean =>
  spawnSync('unshare', [...unshare, device], { env: { PATH: path } }).status === 0
/** Needs Linux with user namespaces, and Debian's iproute2. */
const hasNetwork = canAdd('ip link add va type veth peer name vb')
/** Needs the kernel's network emulator too, which small kernels leave out. */
const hasDelay = hasNetwork && canAdd('ip link set lo up; tc qdisc add dev lo root netem delay 1ms')

const repoint = `${process.execPath} ${resolve('bin/repoint.js')}`
const key = 'sk-live-abcdefghijklmnop'

/** Runs `script` in such a network, with a gateway at 10.9.9.9:8080 for whom `serve` is true. */
function run(script: string, hosts = '') {
  const folder = mkdtempSync(join(tmpdir(), 'repoint-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'hosts'), `127.0.0.1 localhost\n${hosts}\n`)
  const prepared = `
    ip link set lo up
    mount --bind hosts /etc/hosts
    ${script}`
  const { status, stdout, stderr } = spawnSync('unshare', [...unshare, prepared], {
    cwd: folder,
    encoding: 'utf8',
    timeout: 15_000,
    env: { PATH: path, HOME: folder, REPOINT_API_KEY: key },
  })
  const json = /^\{.*\}$/ms.exec(stdout)?.[0]
  return {
    status,
    stderr,
    json: json === undefined ? undefined : JSON.parse(json),
    file: (name: string): string => readFileSync(join(folder, name), 'utf8'),
  }
}

const models = (baseUrl: string, args = ''): string =>
  `${repoint} models --json --base-url ${baseUrl} ${args}`
const besideGateway = (command: string): string =>
  `${repoint} serve --host 10.9.9.9 --port 8080 -- ${command}`

/** Frames to a neighbour that is not there vanish, until the address is given to this machine. */
const losePackets = `
  ip link add va type veth peer name vb
  ip link set va up
  ip link set vb up
  ip addr add 10.9.8.1/24 dev va
  ip route add 10.9.9.9/32 dev va
  ip neigh add 10.9.9.9 lladdr 02:00:00:00:00:01 dev va`

const bothFamilies = '10.9.9.9 gw.test\n2001:db8::1 gw.test'

describe.skipIf(!hasNetwork)(
  'routes: a name with an IPv4 and an IPv6 address, no way to the latter',
  () => {
    test.skipIf(!hasDelay)('is reached at 300 ms of round trip', () => {
      const { json } = run(
        `ip addr add 10.9.9.9/32 dev lo
       tc qdisc add dev lo root netem delay 150ms
       ${besideGateway(models('http://gw.test:8080', '--allow-http'))}`,
        bothFamilies,
      )
      expect(json).toMatchObject({ command: 'models', baseUrl: 'http://gw.test:8080' })
    })

    test('is reached although the first packets are lost', () => {
      // Frames to a neighbour that is not there vanish, until the address is here.
      const { json, stderr } = run(
        `${losePackets}
       sysctl -qw net.ipv4.ip_nonlocal_bind=1
       echo "(sleep 2; ip addr add 10.9.9.9/32 dev lo) & exec ${models('http://gw.test:8080', '--allow-http')}" > ask
       ${besideGateway('sh ask')}`,
        bothFamilies,
      )
      expect(stderr).toBe('')
      expect(json).toMatchObject({ command: 'models', baseUrl: 'http://gw.test:8080' })
    })
  },
)

describe.skipIf(!hasNetwork)('routes: that are closed', () => {
  test.each([
    ['blackhole', '10.1.1.1 (EINVAL)'],
    ['prohibit', '10.1.1.1 (EACCES)'],
    ['unreachable', '10.1.1.1 (EHOSTUNREACH)'],
  ])('%s', (kind, message) => {
    const { status, json } = run(`ip route add ${kind} 10.1.1.1/32; ${models('https://10.1.1.1')}`)
    expect(status).toBe(6)
    expect(json).toMatchObject({
      error: { code: 'refused', message: expect.stringContaining(message) },
    })
  })
})

describe.skipIf(!hasNetwork)('routes: a name of this machine', () => {
  const listen = `require('net').createServer((socket) => socket.pipe(require('fs').createWriteStream('seen'))).listen(8080, '10.9.9.9')`

  test('that leads elsewhere gets no key over plain http', () => {
    const { status, json, file } = run(
      `ip addr add 10.9.9.9/32 dev lo
       touch seen
       ${process.execPath} -e "${listen}" &
       sleep 0.5
       ${models('http://app.localhost:8080')}`,
      '10.9.9.9 app.localhost',
    )
    expect(status).toBe(2)
    expect(json.error.code).toBe('usage')
    expect(json.error.message).toContain('app.localhost is another machine (10.9.9.9)')
    expect(file('seen')).toBe('')
  })

  test('that leads here is asked, and through no proxy', () => {
    const { json } = run(
      `export ALL_PROXY=http://127.0.0.1:1
       ${repoint} serve --port 8080 -- ${models('http://app.localhost:8080')}`,
      '127.0.0.1 app.localhost',
    )
    expect(json).toMatchObject({ command: 'models', baseUrl: 'http://app.localhost:8080' })
  })
})

describe.skipIf(!hasNetwork)('routes: a name server that is silent', () => {
  const silent = `
    echo "nameserver 10.9.9.9" > resolv.conf
    mount --bind resolv.conf /etc/resolv.conf
    ${losePackets}`

  test('is told as one, and not as a firewall', () => {
    const { status, json } = run(`${silent}
      ${models('https://gw.example', '--timeout 1')}`)
    expect(status).toBe(6)
    expect(json.error).toMatchObject({
      code: 'dns',
      message: expect.stringContaining('gw.example was not found within'),
      hint: expect.not.stringContaining('packets'),
    })
  })

  test('does not hold who presses Ctrl-C', () => {
    // What a shell starts behind "&" does not hear Ctrl-C: here the one who presses it stands there.
    const { file } = run(`${silent}
      (sleep 2; date +%s%N > before; kill -INT $(cat pid)) &
      echo 'echo $$ > pid; exec ${models('https://gw.example')}' > ask
      sh ask 2> said > told || echo $? > status
      date +%s%N > after`)
    expect(file('status')).toBe('130\n')
    expect((Number(file('after')) - Number(file('before'))) / 1e6).toBeLessThan(1_500)
    expect(file('told')).toContain('Cancelled')
  })
})
