import type { LoggedRequest } from '../../log/request-log.ts'

/** Headers that curl writes itself, or that belong to one connection. */
const leftOut =
  /^(host|connection|content-length|accept-encoding|transfer-encoding|expect|keep-alive|sec-fetch-.*)$/

/** A request as a command for a shell; the key is its variable `REPOINT_API_KEY`. */
export function curlOf(request: LoggedRequest, origin: string): string {
  const { method, path, headers, requestBody } = request
  const lines = [
    `curl ${quoted(origin + path)}`,
    ...(method === (requestBody === '' ? 'GET' : 'POST') ? [] : [`-X ${method}`]),
    ...Object.entries(headers)
      .filter(([name]) => !leftOut.test(name))
      .map(([name, value]) => `-H ${headerText(name, value)}`),
    ...(requestBody === '' ? [] : [`--data-raw ${quoted(requestBody)}`]),
  ]
  return lines.join(' \\\n  ')
}

function headerText(name: string, value: string): string {
  if (name === 'authorization') return '"Authorization: Bearer $REPOINT_API_KEY"'
  if (name === 'x-api-key') return '"x-api-key: $REPOINT_API_KEY"'
  return quoted(`${name}: ${value}`)
}

/** Nothing means anything between single quotes but the single quote. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
