import { createHash, randomBytes } from 'node:crypto'
import frame from './page.html?raw'
import bundle from './view/main.ts?bundled'

const { script, style } = bundle

export type Page = ReturnType<typeof createPage>

/**
 * The page at `/`, and the answer to every path outside the API: the log as it happens. One text,
 * nothing from elsewhere. It writes what clients sent with `textContent` only.
 */
export function createPage() {
  const token = randomBytes(16).toString('hex')
  const html = frame
    .replace('</style>', () => `${style}</style>`)
    .replace('</script>', () => `${script}</script>`)
  return {
    html,
    /** Who sends the token has read the page: no other site can. */
    htmlWithToken: html.replace('content=""', `content="${token}"`),
    policy,
    token,
  }
}

/** Allows what the page holds and its own server, and nothing else. */
const policy = [
  "default-src 'none'",
  `script-src ${hashOf(script)}`,
  `style-src ${hashOf(style)}`,
  "connect-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`
}
