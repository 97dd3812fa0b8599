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
  const { at, totalMs = 0, firstByteMs = totalMs } = request
  return {
    startedDateTime: new Date(at).toISOString(),
    time: totalMs,
    request: {
      method: request.method,
      url: origin + request.path,
      httpVersion: 'HTTP/1.1',
      cookies: [],
      headers: pairs(request.headers),
      queryString: [...new URL(origin + request.path).searchParams].map(([name, value]) => ({
        name,
        value,
      })),
      headersSize: -1,
      bodySize: request.requestBytes,
      ...(request.requestBody === ''
        ? {}
        : {
            postData: {
              mimeType: request.headers['content-type'] ?? '',
              text: request.requestBody,
            },
          }),
    },
    response: {
      status: request.status ?? 0,
      statusText: '',
      httpVersion: 'HTTP/1.1',
      cookies: [],
      headers: pairs(request.responseHeaders),
      content: {
        size: request.responseBytes,
        mimeType: request.responseHeaders['content-type'] ?? '',
        text: request.responseBody,
      },
      redirectURL: '',
      headersSize: -1,
      bodySize: request.responseBytes,
    },
    cache: {},
    timings: { send: 0, wait: firstByteMs, receive: totalMs - firstByteMs },
    comment: request.reason ?? request.fault ?? '',
  }
}

function pairs(headers: Readonly<Record<string, string>>): object[] {
  return Object.entries(headers).map(([name, value]) => ({ name, value }))
}
