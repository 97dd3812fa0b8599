import rows from './hosts.json' with { type: 'json' }

/** A host that is known by name: where to look first, and never what is true. The gateway decides. */
export interface KnownHost {
  readonly name: string
  /** A `*` stands for any part of it. */
  readonly host: string
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

/** What is known of the host of an address. */
export function knownHost(baseUrl: string): KnownHost | undefined {
  const { hostname } = new URL(baseUrl)
  return knownHosts.find(({ host }) => fits(host, hostname))
}

function fits(pattern: string, hostname: string): boolean {
  const parts = pattern.split('*').map((part) => part.replaceAll('.', '\\.'))
  return new RegExp(`^${parts.join('[\\w.-]+')}$`).test(hostname)
}

/** Whose web page a host is; its API has another host. */
export function ownerOfPage(hostname: string): KnownHost | undefined {
  return knownHosts.find(({ host, pages }) => pages.includes(hostname) && !host.includes('*'))
}
