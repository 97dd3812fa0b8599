import rows from './hosts.json' with { type: 'json' }

/** A known host. It tells repoint only where to look first: the gateway's answers decide. */
interface KnownHost {
  readonly name: string
  /** `*` matches any part of the host. */
  readonly host: string
  /** Below this path is a separate product with its own key or bill. Absent: the usual product. */
  readonly product?: string
  /** The paths of the chat and messages base URLs. */
  readonly chat?: string
  readonly messages?: string
  /** The paths follow the account in the address. Absent: they follow the host. */
  readonly isBelow?: boolean
  /** Hosts of its web pages, which users mistake for the API's host. */
  readonly pages: readonly string[]
  /** The web page where users create keys. */
  readonly keys?: string
  /** Headers that it requires in addition to the key. */
  readonly headers?: readonly string[]
  readonly source: string
  readonly date: string
}

/** All known hosts, each with its source and date. */
export const knownHosts: readonly KnownHost[] = rows

/** The product that the path of an address names, or else the usual product of its host. */
export function knownHost(address: string): KnownHost | undefined {
  const { pathname } = new URL(address)
  const rows = productsAt(address)
  const isBelow = ({ product }: KnownHost) =>
    product !== undefined && `${pathname.replace(/\/$/, '')}/`.startsWith(`${product}/`)
  return rows.find(isBelow) ?? rows.find(({ product }) => product === undefined)
}

/** All products of an address's host. If two patterns match, the longer one counts. */
export function productsAt(address: string): readonly KnownHost[] {
  const { hostname } = new URL(address)
  const rows = knownHosts.filter(({ host }) => matchesHost(host, hostname))
  const longest = Math.max(...rows.map(({ host }) => host.length))
  return rows.filter(({ host }) => host.length === longest)
}

function matchesHost(pattern: string, hostname: string): boolean {
  if (!pattern.includes('*')) return pattern === hostname
  const parts = pattern.split('*').map((part) => part.replaceAll('.', '\\.'))
  return new RegExp(`^${parts.join('[\\w.-]+')}$`).test(hostname)
}

/** The product whose web page is at this host. Its API has another host. */
export function ownerOfPage(hostname: string): KnownHost | undefined {
  return knownHosts.find(({ host, pages }) => pages.includes(hostname) && !host.includes('*'))
}
