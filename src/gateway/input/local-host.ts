/** Which hosts are this machine, or in its network. */
import { BlockList, isIP } from 'node:net'

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

/**
 * Whether a host is this machine: a loopback address, or a name that should resolve to one (RFC 6761,
 * 6.3). The real address of a name is known after connecting, so call this again with that address.
 */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/[[\]]/g, '').toLowerCase()
  const version = isIP(bare)
  if (version !== 0) return loopback.check(bare, version === 4 ? 'ipv4' : 'ipv6')
  return /^(?:.+\.)?localhost$/.test(bare)
}

const privateRanges = new BlockList()
for (const [subnet, bits] of [
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['169.254.0.0', 16],
  ['100.64.0.0', 10],
] as const)
  privateRanges.addSubnet(subnet, bits, 'ipv4')
privateRanges.addSubnet('fc00::', 7, 'ipv6')
privateRanges.addSubnet('fe80::', 10, 'ipv6')

/** Whether a host is only reachable from this machine or its network, judged by its name. */
export function isPrivate(host: string): boolean {
  if (isLoopback(host)) return true
  const bare = host.replace(/[[\]]/g, '').toLowerCase()
  const version = isIP(bare)
  if (version !== 0) return privateRanges.check(bare, version === 4 ? 'ipv4' : 'ipv6')
  return !bare.includes('.') || /\.(?:local|lan|internal|home\.arpa)$/.test(bare)
}
