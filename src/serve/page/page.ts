import { createHash } from 'node:crypto'
import html from './page.html?raw'

/** The Content-Security-Policy of the page: its own style and script, its own server, and nothing else. */
const policy = [
  "default-src 'none'",
  `script-src ${hashOf('script')}`,
  `style-src ${hashOf('style')}`,
  "connect-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** The page at `/` with the log. It is also the response to every path outside of the API. */
export const page = { html, policy }

function hashOf(tag: string): string {
  const [, text = ''] = new RegExp(`<${tag}>([^]*)</${tag}>`).exec(html) ?? []
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`
}
