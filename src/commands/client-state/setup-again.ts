import type { Client } from '../../clients/contract/client.ts'
import { baseUrlsOf, messagesBaseUrls } from '../../gateway/base-urls.ts'
import { isLoopback } from '../../gateway/input/local-host.ts'
import type { Gateway } from '../../gateway/types.ts'

/** The command that sets a client up at its gateway again. */
export function setupAgain({ id }: Client, gateway: Gateway, caFile: string | undefined): string {
  return `repoint ${id} ${addressFlags(gateway, caFile)}`
}

/** The flags with which a command reaches a gateway in the same way. */
export function addressFlags(gateway: Gateway, caFile: string | undefined): string {
  const { address } = gateway
  const { messages } = baseUrlsOf(gateway)
  const isMessagesDefault = messagesBaseUrls(address).includes(messages)
  return [
    `--base-url ${address}`,
    ...(isMessagesDefault ? [] : [`--messages-url ${messages}`]),
    ...(needsAllowHttp(address) ? ['--allow-http'] : []),
    ...(caFile === undefined ? [] : [`--ca-file ${asWord(caFile)}`]),
  ].join(' ')
}

/** Quotes a path if a shell would not read it as one word. */
function asWord(path: string): string {
  return /^[\w./:\\@+-]+$/.test(path) ? path : `"${path}"`
}

/** Whether the address is plain http to another machine, which a setup accepts only with `--allow-http`. */
function needsAllowHttp(address: string): boolean {
  const url = URL.canParse(address) ? new URL(address) : undefined
  return url?.protocol === 'http:' && !isLoopback(url.hostname)
}
