import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Gateway } from '../../src/serve/index.ts'
import { startGateway } from '../../src/serve/index.ts'
import { ask } from '../serve/support/gateway.ts'

/** Debian's, unless said: playwright-core brings no browser of its own. */
const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium'

let browser: Browser
let gateway: Gateway
let page: Page
let foreignRequests: string[]
let complaints: string[]

beforeAll(async () => {
  browser = await chromium.launch({
    executablePath,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--no-first-run',
    ],
  })
})

afterAll(() => browser.close())

beforeEach(async () => {
  gateway = await startGateway({ key: 'sk-a-key-that-must-not-be-seen-0123' })
  foreignRequests = []
  complaints = []
  page = await browser.newPage({ viewport: { width: 1280, height: 720 } })
  page.on('request', (request) => {
    if (!request.url().startsWith(gateway.url)) foreignRequests.push(request.url())
  })
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(String(error)))
})

afterEach(async () => {
  await page.close()
  await gateway.close()
  expect(foreignRequests).toEqual([])
  expect(complaints).toEqual([])
})

const ping = { model: 'gpt-5.6', messages: [{ role: 'user', content: 'ping' }] }

async function openPage(): Promise<void> {
  await page.goto(gateway.url)
  await page.locator('#live[data-on="true"]').waitFor()
}

function rows() {
  return page.locator('#rows tr:visible')
}

test('the page: shows a request as it happens, newest first', async () => {
  await openPage()
  expect(await page.locator('#empty').isVisible()).toBe(true)
  await ask(gateway, '/v1/chat/completions', ping, { 'user-agent': 'first/1.0 (x)' })
  await rows().first().waitFor()
  await ask(gateway, '/v1/messages', { ...ping, max_tokens: 5, model: 'claude-opus-5-5' })
  // A line may show for a moment that its answer is still open.
  const answered = page.locator('#rows .status', { hasText: '200' })
  await expect.poll(() => answered.count(), { timeout: 10_000 }).toBe(2)
  const cells = await rows().first().locator('td').allTextContents()
  expect(cells.slice(1, 3)).toEqual(['messages', 'claude-opus-5-5'])
  expect(cells[4]).toBe('200')
  const older = await rows().nth(1).locator('td').allTextContents()
  expect(older.slice(1, 5)).toEqual(['chat', 'gpt-5.6 → gpt-5.6-sol', 'first/1.0', '200'])
  expect(older[5]).toMatch(/ms$/)
  expect(older[6]).toBe('2 → 1')
})

test('the page: works with the keyboard alone', async () => {
  for (const text of ['one', 'two', 'three'])
    await ask(gateway, '/v1/responses', { model: 'gpt-5.6', input: text })
  await openPage()
  await rows().nth(2).waitFor()
  await page.keyboard.press('j')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.locator('#panel pre').first().waitFor()
  expect(await page.locator('#panel').textContent()).toContain('You said: two')
  expect(await page.locator(':focus').textContent()).toBe('Close')
  await page.keyboard.press('Escape')
  expect(await page.locator('#panel').isVisible()).toBe(false)
  expect(await page.locator('tr:focus').count()).toBe(1)
  await page.keyboard.press('/')
  await page.keyboard.type('messages')
  expect(await rows().count()).toBe(0)
  expect(await page.locator('#count').textContent()).toBe('0 of 3 requests')
})

test('the page: Tab reaches the list after the tools', async () => {
  await ask(gateway, '/v1/responses', { model: 'gpt-5.6', input: 'one' })
  await openPage()
  await rows().first().waitFor()
  const seen: string[] = []
  for (let presses = 0; presses < 5; presses++) {
    await page.keyboard.press('Tab')
    seen.push(await page.evaluate('document.activeElement.id || document.activeElement.tagName'))
  }
  expect(seen).toEqual(['root', 'v1', 'filter', 'clear', 'TR'])
})

test('the page: draws what a client sent as text, never as a page', async () => {
  const attack =
    '<img src=x onerror="document.title=`taken`"><script>document.title="taken"</script>'
  await ask(gateway, '/v1/responses', { model: attack, input: attack }, { 'user-agent': attack })
  await openPage()
  await rows().first().click()
  await page.locator('#panel pre').first().waitFor()
  expect(await page.title()).toBe('repoint serve')
  expect(await page.locator('#panel img, #rows img').count()).toBe(0)
  expect(await page.locator('#panel').textContent()).toContain('onerror')
})

test('the page: no key appears anywhere in it', async () => {
  await ask(gateway, '/v1/responses', { model: 'gpt-5.6', input: `my key is ${gateway.key}` })
  await fetch(`${gateway.url}/v1/models`, {
    headers: { 'x-api-key': 'sk-someone-elses-key-98765' },
  })
  await openPage()
  await rows().nth(1).waitFor()
  for (const row of [0, 1]) {
    await rows().nth(row).click()
    await page.locator('#panel pre').first().waitFor()
    await page.locator('#panel summary').last().click()
    const html = await page.content()
    expect(html).not.toContain(gateway.key)
    expect(html).not.toContain('sk-someone-elses-key-98765')
    expect(html).toContain(row === 0 ? 'sk-…8765' : 'sk-…0123')
  }
})

test('the page: a filter and the clear button', async () => {
  await ask(gateway, '/v1/responses', { model: 'gpt-5.6', input: 'one' })
  await ask(gateway, '/v1/responses', { model: 'gpt-nope', input: 'one' })
  await openPage()
  await rows().nth(1).waitFor()
  await page.locator('#filter').fill('503 nope')
  expect(await rows().count()).toBe(1)
  await page.locator('#clear').click()
  await expect.poll(() => page.locator('#rows tr').count(), { timeout: 10_000 }).toBe(0)
  expect(gateway.requests()).toEqual([])
})

test('the page: shows a log that comes in several pages', async () => {
  for (let count = 0; count < 250; count++) await ask(gateway, '/v1/models')
  await openPage()
  await expect.poll(() => rows().count(), { timeout: 10_000 }).toBe(250)
  expect(await page.locator('#count').textContent()).toBe('250 requests')
})

test('the page: finds its way back after the gateway was gone', async () => {
  await openPage()
  const { port, key } = gateway
  await gateway.close()
  await page.locator('#live[data-on="false"]').waitFor()
  gateway = await startGateway({ port, key })
  await ask(gateway, '/v1/responses', { model: 'gpt-5.6', input: 'after' })
  await rows().first().waitFor({ timeout: 20_000 })
  // The browser says so on its console while nobody answers.
  complaints = complaints.filter((complaint) => !complaint.includes('ERR_'))
})

test.each(['light', 'dark'] as const)('the page: can be read in %s', async (colorScheme) => {
  await page.emulateMedia({ colorScheme })
  await ask(gateway, '/v1/responses', { model: 'gpt-5.6', input: 'one' })
  await openPage()
  await rows().first().waitFor()
  const contrasts = (await page.evaluate(contrastScript)) as { text: string; ratio: number }[]
  expect(contrasts.length).toBeGreaterThan(10)
  expect(contrasts.filter(({ ratio }) => ratio < 4.5)).toEqual([])
})

test('the page: a picture for the README', async () => {
  await makeTraffic()
  await page.emulateMedia({ colorScheme: 'light' })
  await openPage()
  await rows().nth(8).waitFor()
  await page.keyboard.press('j')
  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  await page.locator('#panel pre').first().waitFor()
  await page.screenshot({ path: 'docs/images/serve.png' })
  await page.emulateMedia({ colorScheme: 'dark' })
  const dark = await page.screenshot()
  expect(dark.length).toBeGreaterThan(10_000)
})

/** What an afternoon with three clients looks like. */
async function makeTraffic(): Promise<void> {
  const codex = { 'user-agent': 'codex_exec/0.169.0 (Debian 12.0.0; x86_64)' }
  const claude = { 'user-agent': 'claude-cli/2.1.329 (external, sdk-cli)' }
  const opencode = { 'user-agent': 'opencode/1.18.33 ai-sdk/provider-utils/3.0' }
  const tool = { type: 'function', name: 'exec_command', parameters: { type: 'object' } }
  const bash = { name: 'Bash', input_schema: { type: 'object' } }
  const call = '#call exec_command {"cmd":"git status --short"}'
  await ask(gateway, '/v1/models', undefined, opencode)
  await ask(gateway, '/v1/chat/completions', { ...ping, stream: true }, opencode)
  await ask(gateway, '/v1/responses', { model: 'gpt-5.6-sol', input: 'ping', stream: true }, codex)
  const asked = { model: 'gpt-5.6-sol', stream: true, tools: [tool], input: call }
  await ask(gateway, '/v1/responses', asked, codex)
  await ask(gateway, '/v1/responses', { model: 'gpt-5.7-sol', input: 'ping' }, codex)
  gateway.setFaults([{ error: 'rate-limited', delayMs: 120 }])
  await ask(
    gateway,
    '/v1/messages',
    { ...ping, model: 'claude-sonnet-5-5', max_tokens: 50 },
    claude,
  )
  gateway.setFaults([])
  await fetch(`${gateway.url}/v1/responses`, { method: 'POST', headers: codex, body: '{}' })
  const messages = [{ role: 'user', content: '#call Bash {"command":"npm test"}' }]
  const question = { model: 'claude-sonnet-5-5', max_tokens: 64_000, tools: [bash], messages }
  await ask(gateway, '/v1/messages', { ...question, stream: true }, claude)
  const result = [{ type: 'tool_result', tool_use_id: 'toolu_1', content: '120 passed, 0 failed' }]
  const use = [{ type: 'tool_use', id: 'toolu_1', name: 'Bash', input: { command: 'npm test' } }]
  const turns = [
    ...messages,
    { role: 'assistant', content: use },
    { role: 'user', content: result },
  ]
  await ask(gateway, '/v1/messages', { ...question, messages: turns }, claude)
  await ask(gateway, '/v1/messages', { ...question, stream: true, messages: turns }, claude)
}

/** The contrast of every visible text with what lies behind it, as WCAG 2 computes it. */
const contrastScript = `(() => {
  const rgb = (text) => (text.match(/[\\d.]+/g) ?? []).map(Number)
  const light = (colour) => {
    const [r, g, b] = colour.map((part) => part / 255).map((part) => part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
  }
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = rgb(getComputedStyle(at).backgroundColor)
      if (colour.length === 3 || colour[3] > 0) return colour.slice(0, 3)
    }
    return [255, 255, 255]
  }
  return [...document.querySelectorAll('*')]
    .filter((element) => element.offsetParent !== null && [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim()))
    .map((element) => {
      const [a, b] = [light(rgb(getComputedStyle(element).color).slice(0, 3)), light(behind(element))]
      return { text: element.textContent.slice(0, 40), ratio: (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) }
    })
})()`
