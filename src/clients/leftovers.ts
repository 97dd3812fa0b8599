import type { Obstacle, Scene } from './client.ts'
import { isLoopbackUrl, isOwnAddress, shownUrl } from './texts.ts'

/**
 * What stands in the place of a key while another tool's proxy holds the real one. Seen in what
 * those tools leave behind: farion1231/cc-switch#3191, SaladDay/cc-switch-cli#161,
 * kaitranntt/ccs#618 (2026-11-21).
 */
const placeholders: Readonly<Record<string, string>> = {
  proxy_managed: 'cc-switch',
  'proxy-placeholder': 'cc-switch',
  'ccs-internal-managed': 'ccs',
}

/** Ports of this machine at which other tools put a proxy between a client and its service. */
const proxies: Readonly<Record<string, string>> = {
  '15721': 'cc-switch',
  '3456': 'claude-code-router',
  '8317': 'CLIProxyAPI',
}

/** The tool whose placeholder a key is. */
export function placeholderOf(key: string | undefined): string | undefined {
  const name = key?.toLowerCase()
  return name !== undefined && Object.hasOwn(placeholders, name) ? placeholders[name] : undefined
}

/** What another tool has left in a client's settings: present state only, a setup replaces it. */
export function leftoverObstacles(
  left: {
    /** The first part of the codes, and the word of the command line. */
    readonly family: string
    readonly label: string
    readonly url: string | undefined
    readonly urlPlace: string
    readonly key: string | undefined
    readonly keyPlace: string
  },
  scene: Scene,
): readonly Obstacle[] {
  const { family, label, url } = left
  const found: Obstacle[] = []
  const holder = placeholderOf(left.key)
  if (holder !== undefined) {
    found.push({
      code: `${family}-placeholder-key`,
      message: `in the place of the key stands what ${holder} leaves there: only ${holder}'s own proxy takes it`,
      place: left.keyPlace,
      cure: `Start ${holder}, or run \`repoint ${family}\` with your key.`,
      weight: 'blocks',
    })
  }
  if (url === undefined || !isLoopbackUrl(url) || isOwnAddress(url, scene)) return found
  const tool = proxies[new URL(url).port]
  if (tool !== undefined) {
    found.push({
      code: `${family}-local-proxy`,
      message: `${label} asks ${shownUrl(url)} on this machine, where ${tool} listens: it works only while that runs`,
      place: left.urlPlace,
      cure: `Start ${tool}, or run \`repoint ${family}\`.`,
      weight: 'may-block',
    })
  }
  return found
}
