import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'

/** Runs a shell script in a separate network with only loopback and the devices that the script adds. */
const unshare = ['--map-root-user', '--net', '--mount', '--pid', '--fork', 'sh', '-ec']
const path = `${process.env['PATH']}:/usr/sbin:/sbin`

const canAdd = (device: string): boolean =>
  spawnSync('unshare', [...unshare, device], { env: { PATH: path } }).status === 0
/** Whether this is Linux with user namespaces and Debian's iproute2. */
const hasNetwork = canAdd('ip link add va type veth peer name vb')
/** Whether the kernel also has the network emulator, which small kernels omit. */
const hasDelay = hasNetwork && canAdd('ip link set lo up; tc qdisc add dev lo root netem delay 1ms')

const repoint = `${process.execPath} ${resolve('bin/repoint.js')}`
const key = 'sk-live-abcdefghijklmnop'

/** Runs `script` in a separate network. `hosts` are additional lines of /etc/hosts. */
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
const withGateway = (command: string): string =>
  `${repoint} serve --host 10.9.9.9 --port 8080 -- ${command}`

/** Adds a route to a neighbor that does not exist, so that packets are lost until this machine gets its address. */
const losePackets = `
  ip link add va type veth peer name vb
  ip link set va up
  ip link set vb up
  ip addr add 10.9.8.1/24 dev va
  ip route add 10.9.9.9/32 dev va
  ip neigh add 10.9.9.9 lladdr 02:00:00:00:00:01 dev va`

const bothFamilies = '10.9.9.9 gw.test\n2001:db8::1 gw.test'

describe.skipIf(!hasNetwork)(
  'routes: a name with an IPv4 address and an unreachable IPv6 address',
  () => {
    test.skipIf(!hasDelay)('is reached with a round-trip time of 300 ms', () => {
      const { json } = run(
        `ip addr add 10.9.9.9/32 dev lo
       tc qdisc add dev lo root netem delay 150ms
       ${withGateway(models('http://gw.test:8080', '--allow-http'))}`,
        bothFamilies,
      )
      expect(json).toMatchObject({ command: 'models', baseUrl: 'http://gw.test:8080' })
    })

    test('is reached even if the first packets are lost', () => {
      // Packets are lost until this machine gets the address.
      const { json, stderr } = run(
        `${losePackets}
       sysctl -qw net.ipv4.ip_nonlocal_bind=1
       echo "(sleep 2; ip addr add 10.9.9.9/32 dev lo) & exec ${models('http://gw.test:8080', '--allow-http')}" > ask
       ${withGateway('sh ask')}`,
        bothFamilies,
      )
      expect(stderr).toBe('')
      expect(json).toMatchObject({ command: 'models', baseUrl: 'http://gw.test:8080' })
    })
  },
)

describe.skipIf(!hasNetwork)('routes: repoint reports a closed route', () => {
  test.each([
    ['blackhole', '10.1.1.1 (EINVAL)'],
    ['prohibit', '10.1.1.1 (EACCES)'],
    ['unreachable', '10.1.1.1 (EHOSTUNREACH)'],
  ])('of the type %s', (kind, message) => {
    const { status, json } = run(`ip route add ${kind} 10.1.1.1/32; ${models('https://10.1.1.1')}`)
    expect(status).toBe(6)
    expect(json).toMatchObject({
      error: { code: 'refused', message: expect.stringContaining(message) },
    })
  })
})

describe.skipIf(!hasNetwork)('routes: a name of this machine', () => {
  const listen = `require('net').createServer((socket) => socket.pipe(require('fs').createWriteStream('seen'))).listen(8080, '10.9.9.9')`

  test('that resolves to another machine gets no key over plain http', () => {
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

  test('that resolves to this machine gets the request without a proxy', () => {
    const { json } = run(
      `export ALL_PROXY=http://127.0.0.1:1
       ${repoint} serve --port 8080 -- ${models('http://app.localhost:8080')}`,
      '127.0.0.1 app.localhost',
    )
    expect(json).toMatchObject({ command: 'models', baseUrl: 'http://app.localhost:8080' })
  })
})

describe.skipIf(!hasNetwork)('routes: a name server that does not answer', () => {
  const silent = `
    echo "nameserver 10.9.9.9" > resolv.conf
    mount --bind resolv.conf /etc/resolv.conf
    ${losePackets}`

  test('is reported as a DNS error, not as a firewall', () => {
    const { status, json } = run(`${silent}
      ${models('https://gw.example', '--timeout 1')}`)
    expect(status).toBe(6)
    expect(json.error).toMatchObject({
      code: 'dns',
      message: expect.stringContaining('gw.example was not found within'),
      hint: expect.not.stringContaining('packets'),
    })
  })

  test('does not delay Ctrl-C', () => {
    // A background process of a shell ignores SIGINT. So the process that sends it is in the background, not repoint.
    // It waits until repoint has surely started: the name server is asked for ten seconds.
    const { file } = run(`${silent}
      (sleep 5; date +%s%N > before; kill -INT $(cat pid)) &
      echo 'echo $$ > pid; exec ${models('https://gw.example')}' > ask
      sh ask 2> progress > result || echo $? > status
      date +%s%N > after`)
    expect(file('status')).toBe('130\n')
    expect((Number(file('after')) - Number(file('before'))) / 1e6).toBeLessThan(1_500)
    expect(file('result')).toContain('Cancelled')
  })
})
