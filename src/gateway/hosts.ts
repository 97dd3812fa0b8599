import rows from './hosts.json' with { type: 'json' }

/** A host that is known by name: where to look first, and never what is true. The gateway decides. */
export interface KnownHost {
  readonly name: string
  /** A `*` stands for any part of it. */
  readonly host: string
  /** The path below which this is a separate product with its own key or bill. Absent: the usual one. */
  readonly product?: string
  /** Behind the host: the roots of chat and of messages. Absent: it has none. */
  readonly chat?: string
  readonly messages?: string
  /** Hosts of its web pages, which people take for the API's. */
  readonly pages: readonly string[]
  /** The web page where keys are made. */
  readonly keys?: string
  /** Headers that it wants beside the key. */
  readonly headers?: readonly string[]
  readonly source: string
  readonly date: string
}

/** Every one, with where it was read and when. */
export const knownHosts: readonly KnownHost[] = rows

/** What is known of an address: of the product that its path names, else of the host. */
export function knownHost(baseUrl: string): KnownHost | undefined {
  const { pathname } = new URL(baseUrl)
  const rows = productsAt(baseUrl)
  const isBelow = ({ product }: KnownHost) =>
    product !== undefined && `${pathname.replace(/\/$/, '')}/`.startsWith(`${product}/`)
  return rows.find(isBelow) ?? rows.find(({ product }) => product === undefined)
}

/** All products of an address's host. Of two patterns that fit, the longer one is meant. */
export function productsAt(baseUrl: string): readonly KnownHost[] {
  const { hostname } = new URL(baseUrl)
  const rows = knownHosts.filter(({ host }) => fits(host, hostname))
  const longest = Math.max(...rows.map(({ host }) => host.length))
  return rows.filter(({ host }) => host.length === longest)
}

function fits(pattern: string, hostname: string): boolean {
  const parts = pattern.split('*').map((part) => part.replaceAll('.', '\\.'))
  return new RegExp(`^${parts.join('[\\w.-]+')}$`).test(hostname)
}

/** Whose web page a host is; its API has another host. */
export function ownerOfPage(hostname: string): KnownHost | undefined {
  return knownHosts.find(({ host, pages }) => pages.includes(hostname) && !host.includes('*'))
}
