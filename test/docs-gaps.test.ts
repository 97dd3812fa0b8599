import { copyFileSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type CatalogEntry, startGateway } from '../src/serve/index.ts'
import { blocksIn } from './support/doc-blocks.ts'
import { type Demands, startFront } from './support/front.ts'
import { fixtureCatalog } from './support/gateway.ts'
import { aHome } from './support/home.ts'
import { internetTo } from './support/internet.ts'
import { askInProcess } from './support/terminal.ts'

/** The screens of docs/gaps.md are those of the program, at gateways with these gaps. */

const key = 'sk-canary-gaps-1d7e3a9c5b2f8046'
const page = 'docs/gaps.md'

/** A gateway as a section describes it. */
interface Gap {
  readonly url: string
  readonly env?: Readonly<Record<string, string>>
  /** The file that the page calls gw.pem. */
  readonly certificate?: string
}

/** By the heading of the section. */
const gaps: Readonly<Record<string, () => Promise<Gap>>> = {
  'Only chat completions': () =>
    aFront(models(['deepseek-v4-flash', 'qwen3.5-plus'], 'openai'), {
      missing: ['/responses', '/messages'],
    }),
  'Only Claude models': () =>
    aGateway(models(['claude-opus-4-8', 'claude-sonnet-5-5', 'claude-haiku-4-5'], 'anthropic')),
  'No list of models': () => aFront(fixtureCatalog, { hasList: false }),
  'A certificate of its own': async () => {
    const { port } = await aGateway(fixtureCatalog)
    const { origin, env, args, close } = await internetTo(port, 'gw.example')
    onTestFinished(close)
    return { url: origin, env, certificate: args[1]! }
  },
  'A company proxy': async () => {
    const proxy = createServer().on('connect', (_, socket) =>
      socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n'),
    )
    await new Promise<void>((settle) => proxy.listen(0, '127.0.0.1', settle))
    onTestFinished(() => void proxy.close())
    const { port } = proxy.address() as AddressInfo
    return { url: 'https://gw.example', env: { HTTPS_PROXY: `http://127.0.0.1:${port}` } }
  },
}

function models(ids: readonly string[], endpointType: string): CatalogEntry[] {
  return ids.map((id) => ({ id, ownedBy: 'someone', endpointTypes: [endpointType] }))
}

async function aGateway(catalog: CatalogEntry[]) {
  const gateway = await startGateway({ families: 'rewritten', key, models: catalog })
  onTestFinished(() => gateway.close())
  return gateway
}

async function aFront(catalog: CatalogEntry[], demands: Omit<Demands, 'key'> = {}): Promise<Gap> {
  const front = await startFront(await aGateway(catalog), { key, ...demands })
  onTestFinished(() => front.close())
  return { url: front.url }
}

const sections = readFileSync(page, 'utf8')
  .split(/^## /m)
  .slice(1)
  .map((text) => ({ heading: text.split('\n')[0]!, blocks: blocksIn(text) }))

test('docs/gaps.md: each section has a gateway, and a screen', () => {
  expect(sections.map(({ heading }) => heading)).toEqual(Object.keys(gaps))
  for (const { blocks } of sections)
    expect(blocks.map(({ text }) => text)).toContainEqual(expect.stringMatching(/^\$ repoint/))
})

describe.each(sections)('docs/gaps.md, $heading', ({ heading, blocks }) => {
  test('the screens are those of the program', async () => {
    const { url, env = {}, certificate } = await gaps[heading]!()
    const home = aHome()
    if (certificate !== undefined) copyFileSync(certificate, home.at('gw.pem'))
    const versions = { codex: '0.169.0', claude: '2.1.330', opencode: '1.18.34' }
    for (const [name, version] of Object.entries(versions))
      home.put(`bin/${name}`, `#!/bin/sh\necho ${version}\n`, 0o755)

    for (const { text } of blocks.filter(({ text }) => text.startsWith('$ repoint'))) {
      const [typed, ...screen] = text.split('\n')
      const words = typed!.replace('https://gw.example', url).split(' ').slice(2)
      const run = askInProcess(home, words, {
        columns: 80,
        env: { REPOINT_API_KEY: key, PATH: home.at('bin'), ...env },
      })
      await run.ended
      expect(run.raw()).not.toContain(key)
      const { host } = new URL(url)
      const proxy = new URL(env['HTTPS_PROXY'] ?? url).host
      const shown = lastLines(run.screen())
        .replaceAll(url, 'https://gw.example')
        .replaceAll(host, 'gw.example')
        .replaceAll(proxy, 'proxy.example:8080')
      expect(wordsOf(shown)).toBe(wordsOf(screen.join('\n')))
    }
  })
})

/** The lines that remain on the terminal: those of the progress are replaced. */
function lastLines(screen: string): string {
  const lines = screen.split('\n').map((line) => line.split('\r').filter(Boolean).at(-1) ?? '')
  return lines.filter((line) => !/^[\u2800-\u28ff]/.test(line)).join('\n')
}

/** Addresses of another length break the lines elsewhere. */
function wordsOf(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}
