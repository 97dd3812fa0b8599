import type { LoggedRequest } from '../../log/request-log.ts'

/** Requests as an HTTP Archive 1.2, which browsers' tools and many others open. */
export function harOf(requests: readonly LoggedRequest[], origin: string): object {
  return {
    log: {
      version: '1.2',
      creator: { name: 'repoint serve', version: '1' },
      entries: requests.map((request) => entry(request, origin)),
    },
  }
}

function entry(request: LoggedRequest, origin: string): object {
  const { requestBody, totalMs = 0, firstByteMs = totalMs } = request
  const url = origin + request.path
  const mimeType = request.headers['content-type'] ?? ''
  return {
    startedDateTime: new Date(request.at).toISOString(),
    time: totalMs,
    request: {
      ...message(request.headers, request.requestBytes),
      method: request.method,
      url,
      queryString: pairs(new URL(url).searchParams),
      ...(requestBody === '' ? {} : { postData: { mimeType, text: requestBody } }),
    },
    response: {
      ...message(request.responseHeaders, request.responseBytes),
      status: request.status ?? 0,
      statusText: '',
      content: {
        size: request.responseBytes,
        mimeType: request.responseHeaders['content-type'] ?? '',
        text: request.responseBody,
      },
      redirectURL: '',
    },
    cache: {},
    timings: { send: 0, wait: firstByteMs, receive: totalMs - firstByteMs },
    comment: request.reason ?? request.fault ?? '',
  }
}

/** What a request and its response have in common; -1: not known. */
function message(headers: LoggedRequest['headers'], bodySize: number): object {
  const list = pairs(Object.entries(headers))
  return { httpVersion: 'HTTP/1.1', cookies: [], headers: list, headersSize: -1, bodySize }
}

function pairs(entries: Iterable<readonly [string, string]>): object[] {
  return [...entries].map(([name, value]) => ({ name, value }))
}
